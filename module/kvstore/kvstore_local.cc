// The store of one process. MXNet: src/kvstore/kvstore_local.h.

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "executor/run/invoke.h"
#include "module/kvstore/device_step.h"
#include "module/kvstore/kvstore_with_values.h"
#include "module/kvstore/sum_arrays.h"
#include "module/kwargs/kwargs.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/array/on_cpu.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

// The store of one process, "local" or "device": sums over its devices in the order in which they
// are given. Sums of CPU arrays are complete when a call returns; sums on GPUs may be queued
// (KVStore::Step).
class KVStoreLocal : public KVStoreWithValues {
 public:
  explicit KVStoreLocal(absl::string_view type) : KVStoreWithValues(type) {}

  absl::Status Init(const std::string& key, const NDArray& value) override;
  absl::Status Set(const std::string& key, const NDArray& value) override;
  absl::Status Push(const std::string& key, absl::Span<const NDArray> values) override;
  absl::Status InitAll(absl::Span<const KVItem> items) override;
  absl::StatusOr<KVStepInfo> Step(absl::Span<const KVItem> items, bool active) override;
  absl::StatusOr<GradientReady> BeginGradients(absl::Span<const KVItem> items) override;
  absl::Status SetGradientCompression(const Kwargs& params) override;
  absl::StatusOr<std::vector<std::pair<std::string, NDArray>>> GetState() const override;
  absl::Status SetState(const std::vector<std::pair<std::string, NDArray>>& state) override;

 protected:
  void Forget(const std::vector<std::string>& keys) override;

 private:
  // Buffers for pushes of one key, on the context of its value.
  struct Work {
    NDArray sum;                  // of the values of a Push; allocated on first use
    std::vector<NDArray> copies;  // of values on other devices, if the sum is on a GPU
    // Whether the stored value is the last sum of several devices, instead of a parameter.
    bool holds_sum = false;
    std::vector<uint32_t> words;  // with compression
  };

  // Whether a new value shares the weight's own array. With type "device" the value shares an array
  // on a GPU, because it is summed and updated there.
  bool Takes(const NDArray& weight) const;
  // Whether the item is summed, and its value updated, on the item's GPUs.
  bool IsOnGpus(const KVItem& item) const;
  static absl::Status SumOnGpu(absl::Span<const NDArray> values, Work* work);
  absl::Status Sum(const std::string& key, absl::Span<const NDArray> values, Work* work);
  absl::Status SumCompressed(const std::string& key, absl::Span<const NDArray> values, Work* work);

  DeviceStep device_step_{/*world=*/nullptr};
  std::map<std::string, Work> work_;
  std::map<std::string, std::vector<NDArray>> residuals_;  // by key and device
};

absl::Status KVStoreLocal::Init(const std::string& key, const NDArray& value) {
  COOPER_RETURN_IF_ERROR(CheckNew(key));
  COOPER_ASSIGN_OR_RETURN(values_[key], value.CopyTo(Context::Cpu()));
  return absl::OkStatus();
}

absl::Status KVStoreLocal::InitAll(absl::Span<const KVItem> items) {
  for (const KVItem& item : items) {
    if (contains(item.key)) continue;
    if (Takes(item.weights[0])) {
      values_[item.key] = item.weights[0];
    } else {
      COOPER_RETURN_IF_ERROR(Init(item.key, item.weights[0]));
    }
    COOPER_RETURN_IF_ERROR(Pull(item.key, item.weights));
  }
  return absl::OkStatus();
}

absl::Status KVStoreLocal::Set(const std::string& key, const NDArray& value) {
  COOPER_RETURN_IF_ERROR(KVStoreWithValues::Set(key, value));
  work_[key].holds_sum = false;
  return absl::OkStatus();
}

absl::Status KVStoreLocal::Sum(const std::string& key, absl::Span<const NDArray> values,
                               Work* work) {
  for (const NDArray& value : values) traffic_.uncompressed_bytes += value.size_bytes();
  if (compression_.has_value()) {
    return AddContext(SumCompressed(key, values, work), "kvstore: key '", key, "'");
  }
  for (const NDArray& value : values) traffic_.bytes += value.size_bytes();
  return work->sum.context().is_cpu() ? SumArrays(values, work->sum) : SumOnGpu(values, work);
}

bool KVStoreLocal::Takes(const NDArray& weight) const {
  if (TakesArray(weight)) return true;
  return type() == "device" && updater_ != nullptr && !compression_.has_value() &&
         !weight.context().is_cpu() && IsFloating(weight.dtype());
}

bool KVStoreLocal::IsOnGpus(const KVItem& item) const {
  if (type() != "device" || compression_.has_value() || item.grads.size() < 2) return false;
  const std::vector<Context> contexts = DistinctGpus(item.grads);
  if (contexts.empty()) return false;
  if (updater_ != nullptr) return values_.at(item.key).context() == contexts[0];
  return DistinctGpus(item.outs) == contexts;
}

absl::StatusOr<KVStepInfo> KVStoreLocal::Step(absl::Span<const KVItem> items, bool active) {
  COOPER_RETURN_IF_ERROR(InitAll(items));
  std::vector<KVItem> on_gpus;
  std::vector<NDArray> values;
  for (const KVItem& item : items) {
    if (!IsOnGpus(item)) {
      COOPER_RETURN_IF_ERROR(PushPull(item.key, item.grads, item.outs));
      continue;
    }
    COOPER_ASSIGN_OR_RETURN(const NDArray* value, Find(item.key, item.grads));
    for (const NDArray& grad : item.grads) {
      traffic_.bytes += grad.size_bytes();
      traffic_.uncompressed_bytes += grad.size_bytes();
    }
    values.push_back(updater_ == nullptr ? NDArray() : *value);
    on_gpus.push_back(item);
  }
  if (!on_gpus.empty()) {
    COOPER_RETURN_IF_ERROR(device_step_.Run(on_gpus, values, updater_.get(), buckets_));
  }
  stop_ = std::max(stop_, requested_stop_);
  return KVStepInfo{.active_workers = active ? 1 : 0, .others = {}};
}

// Sums begin early only if they have destinations of their own, and if all items are on the same
// GPUs: two sets of sums at a time would have to start in the same order on each GPU.
absl::StatusOr<KVStore::GradientReady> KVStoreLocal::BeginGradients(
    absl::Span<const KVItem> items) {
  COOPER_RETURN_IF_ERROR(device_step_.Forget());
  if (!buckets_.overlap || updater_ == nullptr || items.empty()) return GradientReady();
  for (const KVItem& item : items) {
    const bool alike = contains(item.key) && IsOnGpus(item) &&
                       DistinctGpus(item.grads) == DistinctGpus(items[0].grads);
    if (!alike) return GradientReady();
  }
  return device_step_.Begin(items, updater_.get(), buckets_);
}

absl::Status KVStoreLocal::SumOnGpu(absl::Span<const NDArray> values, Work* work) {
  const NDArray& sum = work->sum;
  work->copies.resize(values.size());
  std::vector<const NDArray*> terms;
  terms.reserve(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    terms.push_back(&values[i]);
    if (SharesMemory(values[i].context(), sum.context())) continue;
    NDArray& copy = work->copies[i];
    if (copy.is_null()) {
      COOPER_ASSIGN_OR_RETURN(copy, NDArray::Empty(sum.shape(), sum.dtype(), sum.context()));
    }
    COOPER_RETURN_IF_ERROR(copy.CopyFrom(values[i]));
    terms.back() = &copy;
  }
  return Invoke("_grad_sum", {}, terms, {&sum});
}

absl::Status KVStoreLocal::SumCompressed(const std::string& key, absl::Span<const NDArray> values,
                                         Work* work) {
  COOPER_ASSIGN_OR_RETURN(const absl::Span<float> sum, work->sum.Data<float>());
  COOPER_RETURN_IF_ERROR(work->sum.Fill(0));
  work->words.resize(GradientCompression::NumWords(work->sum.size()));
  std::vector<NDArray>& residuals = residuals_[key];
  while (residuals.size() < values.size()) {
    COOPER_ASSIGN_OR_RETURN(residuals.emplace_back(), NDArray::Zeros(work->sum.shape()));
  }
  for (const NDArray& residual : residuals) {
    if (residual.shape() == work->sum.shape()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("the residual is ", residual.ToString(), ", expected ", work->sum.ToString()));
  }
  for (size_t i = 0; i < values.size(); ++i) {
    COOPER_ASSIGN_OR_RETURN(const NDArray gradient, OnCpu(values[i]));
    COOPER_ASSIGN_OR_RETURN(const absl::Span<float> g, gradient.Data<float>());
    COOPER_ASSIGN_OR_RETURN(const absl::Span<float> residual, residuals[i].Data<float>());
    compression_->Compress(g, residual, absl::MakeSpan(work->words));
    compression_->AddTo(work->words, sum);
    traffic_.bytes += static_cast<int64_t>(work->words.size() * sizeof(uint32_t));
  }
  return absl::OkStatus();
}

absl::Status KVStoreLocal::Push(const std::string& key, absl::Span<const NDArray> values) {
  COOPER_ASSIGN_OR_RETURN(NDArray * value, Find(key, values));
  Work& work = work_[key];
  if (work.sum.is_null()) {
    COOPER_ASSIGN_OR_RETURN(work.sum,
                            NDArray::Empty(value->shape(), value->dtype(), value->context()));
  }
  COOPER_RETURN_IF_ERROR(Sum(key, values, &work));
  if (updater_ == nullptr) {
    std::swap(*value, work.sum);
    work.holds_sum = values.size() > 1;
    return absl::OkStatus();
  }
  // As in MXNet, which keeps such a value in the buffer of the next sum: that sum is updated, until
  // the key is given a value.
  if (work.holds_sum && values.size() > 1) {
    COOPER_RETURN_IF_ERROR(value->CopyFrom(work.sum));
  }
  return updater_->Update(key, *value, work.sum);
}

absl::Status KVStoreLocal::SetGradientCompression(const Kwargs& params) {
  if (type() == "local") {
    return absl::InvalidArgumentError(
        "kvstore: a store of type 'local' compresses no gradients; use 'device' or 'dist_sync'");
  }
  for (const auto& [key, value] : values_) {
    if (value.context().is_cpu()) continue;
    return absl::FailedPreconditionError(absl::StrCat(
        "kvstore: key '", key, "' is on a GPU; set gradient compression before it has a value"));
  }
  return KVStoreWithValues::SetGradientCompression(params);
}

absl::StatusOr<std::vector<std::pair<std::string, NDArray>>> KVStoreLocal::GetState() const {
  std::vector<std::pair<std::string, NDArray>> state;
  for (const auto& [key, residuals] : residuals_) {
    for (size_t i = 0; i < residuals.size(); ++i) {
      state.emplace_back(absl::StrCat(key, ":", i), residuals[i]);
    }
  }
  return state;
}

absl::Status KVStoreLocal::SetState(const std::vector<std::pair<std::string, NDArray>>& state) {
  std::map<std::string, std::vector<NDArray>> residuals;
  for (const auto& [name, array] : state) {
    const size_t colon = name.rfind(':');
    std::vector<NDArray>& of_key = residuals[name.substr(0, colon)];
    if (colon == std::string::npos || name.substr(colon + 1) != absl::StrCat(of_key.size()) ||
        array.dtype() != DType::kFloat32) {
      return absl::InvalidArgumentError(
          absl::StrCat("kvstore: a store of type '", type(), "' has no state '", name, "'"));
    }
    COOPER_ASSIGN_OR_RETURN(of_key.emplace_back(), array.Copy());
  }
  residuals_ = std::move(residuals);
  return absl::OkStatus();
}

void KVStoreLocal::Forget(const std::vector<std::string>& keys) {
  KVStoreWithValues::Forget(keys);
  for (const std::string& key : keys) {
    work_.erase(key);
    residuals_.erase(key);
  }
}

absl::StatusOr<std::unique_ptr<KVStore>> MakeKVStoreLocal(absl::string_view type) {
  return std::make_unique<KVStoreLocal>(type);
}

const bool kRegistered[] = {RegisterKVStore("local", MakeKVStoreLocal),
                            RegisterKVStore("device", MakeKVStoreLocal)};

}  // namespace
}  // namespace cooper
