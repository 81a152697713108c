#include "module/kvstore/collective.h"

#include <mutex>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "executor/run/invoke.h"
#include "glog/logging.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"
#include "symbol/schema/op.h"

namespace cooper {
namespace {

CollectiveFactory& Preferred() {
  static CollectiveFactory factory = nullptr;
  return factory;
}

// Logs once why sums use copies. Logs nothing if a device is a CPU, for which only copies work.
void LogOnce(const std::vector<Context>& contexts, const std::string& text) {
  for (const Context& context : contexts) {
    if (context.is_cpu()) return;
  }
  static auto* mutex = new std::mutex;
  static auto* logged = new std::set<std::string>;
  const std::lock_guard<std::mutex> lock(*mutex);
  if (logged->insert(text).second) LOG(WARNING) << text;
}

// Sums by copies, which every device supports: arrays are copied to the first device and added
// there in the order of devices; the sum is then copied to the other devices, if it is for them.
//
// Over several processes the first device's sum goes through CPU memory and the world's sum, for
// which the host waits. NCCL avoids that.
class CopyCollective : public Collective {
 public:
  // Creates the collective. `contexts` are distinct and not empty. `world` may be null and must
  // outlive the result. Errors: those of FindDevice; kUnimplemented if the kernel of _grad_sum for
  // the first device is not linked.
  static absl::StatusOr<std::unique_ptr<Collective>> Create(const std::vector<Context>& contexts,
                                                            CollectiveWorld* world);

  absl::string_view name() const override { return "copies"; }
  absl::Status GroupStart() override;
  absl::Status GroupEnd() override;

 protected:
  absl::Status Sum(absl::Span<const NDArray> arrays, absl::Span<const NDArray> sums,
                   absl::Span<DeviceQueue* const> queues) override;

 private:
  struct Pending {
    std::vector<NDArray> arrays;
    std::vector<NDArray> sums;  // of all devices, or of the first alone
    std::vector<DeviceQueue*> queues;
  };

  CopyCollective(std::vector<Context> contexts, CollectiveWorld* world,
                 std::unique_ptr<DeviceQueue> queue, Invocation add)
      : Collective(std::move(contexts)),
        world_(world),
        queue_(std::move(queue)),
        add_(std::move(add)) {}

  absl::Status Run(const Pending& sum);
  // Returns a copy of device `i`'s array on the first device.
  absl::StatusOr<NDArray> Bring(const NDArray& array, size_t i);
  // Adds the other processes' sums to `sum`.
  absl::Status SumOverWorld(const NDArray& sum);

  CollectiveWorld* const world_;
  // A queue of the first device. All sums run in it, one after the other, because they share
  // `staged_`.
  const std::unique_ptr<DeviceQueue> queue_;
  Invocation add_;
  std::vector<NDArray> staged_;  // bytes, by device; the first has none
  bool in_group_ = false;
  std::vector<Pending> pending_;  // the sums of the current group
};

absl::StatusOr<std::unique_ptr<Collective>> CopyCollective::Create(
    const std::vector<Context>& contexts, CollectiveWorld* world) {
  for (const Context& context : contexts) COOPER_RETURN_IF_ERROR(FindDevice(context).status());
  COOPER_ASSIGN_OR_RETURN(Device * device, FindDevice(contexts[0]));
  COOPER_ASSIGN_OR_RETURN(auto queue, device->MakeQueue(contexts[0].device_id));
  COOPER_ASSIGN_OR_RETURN(OpCall call, MakeOpCall("_grad_sum", {}, contexts.size()));
  COOPER_ASSIGN_OR_RETURN(Invocation add,
                          Invocation::Create(std::move(call), contexts[0].device_type));
  return std::unique_ptr<Collective>(
      new CopyCollective(contexts, world, std::move(queue), std::move(add)));
}

absl::Status CopyCollective::GroupStart() {
  CHECK(!in_group_) << "groups of sums are not nested";
  in_group_ = true;
  return absl::OkStatus();
}

absl::Status CopyCollective::GroupEnd() {
  in_group_ = false;
  const std::vector<Pending> sums = std::exchange(pending_, {});
  for (const Pending& sum : sums) COOPER_RETURN_IF_ERROR(Run(sum));
  return absl::OkStatus();
}

absl::Status CopyCollective::Sum(absl::Span<const NDArray> arrays, absl::Span<const NDArray> sums,
                                 absl::Span<DeviceQueue* const> queues) {
  Pending sum{.arrays = {arrays.begin(), arrays.end()},
              .sums = {sums.begin(), sums.end()},
              .queues = {queues.begin(), queues.end()}};
  if (!in_group_) return Run(sum);
  pending_.push_back(std::move(sum));
  return absl::OkStatus();
}

absl::StatusOr<NDArray> CopyCollective::Bring(const NDArray& array, size_t i) {
  NDArray& bytes = staged_[i];
  if (bytes.is_null() || bytes.size() < array.size_bytes()) {
    // Queued work may still use the old buffer.
    COOPER_RETURN_IF_ERROR(queue_->Synchronize());
    COOPER_ASSIGN_OR_RETURN(bytes,
                            NDArray::Empty({array.size_bytes()}, DType::kUint8, contexts()[0]));
  }
  COOPER_RETURN_IF_ERROR(queue_->Copy(bytes.raw_data(), contexts()[0], array.raw_data(),
                                      array.context(), array.size_bytes()));
  return NDArray::View(bytes.storage(), 0, array.shape(), array.dtype());
}

absl::Status CopyCollective::Run(const Pending& sum) {
  const size_t devices = contexts().size();
  staged_.resize(devices);
  std::vector<NDArray> terms = {sum.arrays[0]};
  for (DeviceQueue* queue : sum.queues) COOPER_RETURN_IF_ERROR(queue_->WaitFor(*queue));
  for (size_t i = 1; i < devices; ++i) {
    COOPER_ASSIGN_OR_RETURN(terms.emplace_back(), Bring(sum.arrays[i], i));
  }
  // Devices that get no sum may continue once their terms have been read.
  for (size_t i = sum.sums.size(); i < devices; ++i) {
    COOPER_RETURN_IF_ERROR(sum.queues[i]->WaitFor(*queue_));
  }
  std::vector<const NDArray*> inputs;
  inputs.reserve(devices);
  for (const NDArray& term : terms) inputs.push_back(&term);
  const NDArray& first = sum.sums[0];
  COOPER_RETURN_IF_ERROR(add_.SetArrays(inputs, {&first}));
  COOPER_RETURN_IF_ERROR(add_.Run(queue_.get()));
  if (world_ != nullptr && world_->size() > 1) COOPER_RETURN_IF_ERROR(SumOverWorld(first));
  for (size_t i = 1; i < sum.sums.size(); ++i) {
    COOPER_RETURN_IF_ERROR(sum.queues[i]->WaitFor(*queue_));
    COOPER_RETURN_IF_ERROR(sum.queues[i]->Copy(sum.sums[i].raw_data(), contexts()[i],
                                               first.raw_data(), contexts()[0],
                                               first.size_bytes()));
  }
  // Work that overwrites the first sum must run after the copies. The waits are queued after all
  // copies, so that no copy waits for another.
  for (size_t i = 1; i < sum.sums.size(); ++i) {
    COOPER_RETURN_IF_ERROR(queue_->WaitFor(*sum.queues[i]));
  }
  return sum.queues[0]->WaitFor(*queue_);
}

absl::Status CopyCollective::SumOverWorld(const NDArray& sum) {
  COOPER_ASSIGN_OR_RETURN(const NDArray host, NDArray::Empty(sum.shape(), sum.dtype()));
  COOPER_RETURN_IF_ERROR(queue_->Copy(host.raw_data(), host.context(), sum.raw_data(),
                                      sum.context(), sum.size_bytes()));
  COOPER_RETURN_IF_ERROR(queue_->Synchronize());
  if (host.dtype() == DType::kFloat64) {
    COOPER_ASSIGN_OR_RETURN(const absl::Span<double> values, host.Data<double>());
    COOPER_RETURN_IF_ERROR(world_->AllReduceSum(values));
  } else {
    NDArray floats = host;
    if (host.dtype() != DType::kFloat32) {
      COOPER_ASSIGN_OR_RETURN(floats, host.AsType(DType::kFloat32));
    }
    COOPER_ASSIGN_OR_RETURN(const absl::Span<float> values, floats.Data<float>());
    COOPER_RETURN_IF_ERROR(world_->AllReduceSum(values));
    if (host.dtype() != DType::kFloat32) COOPER_RETURN_IF_ERROR(host.CopyFrom(floats));
  }
  // The host memory is pageable, so it has been read when Copy returns.
  return queue_->Copy(sum.raw_data(), sum.context(), host.raw_data(), host.context(),
                      sum.size_bytes());
}

}  // namespace

absl::Status Collective::AllReduceSum(absl::Span<const NDArray> arrays,
                                      absl::Span<const NDArray> sums,
                                      absl::Span<DeviceQueue* const> queues) {
  const size_t devices = contexts_.size();
  if (arrays.size() != devices || sums.size() != devices || queues.size() != devices) {
    return absl::InvalidArgumentError(absl::StrCat("sum over ", devices, " devices: got ",
                                                   arrays.size(), " arrays, ", sums.size(),
                                                   " sums, ", queues.size(), " queues"));
  }
  return CheckAndSum(arrays, sums, queues);
}

absl::Status Collective::ReduceSum(absl::Span<const NDArray> arrays, const NDArray& sum,
                                   absl::Span<DeviceQueue* const> queues) {
  if (!can_reduce()) {
    return absl::UnimplementedError(absl::StrCat("a sum for one device is not made by ", name()));
  }
  const size_t devices = contexts_.size();
  if (arrays.size() != devices || queues.size() != devices) {
    return absl::InvalidArgumentError(absl::StrCat("sum over ", devices, " devices: got ",
                                                   arrays.size(), " arrays, ", queues.size(),
                                                   " queues"));
  }
  return CheckAndSum(arrays, {&sum, 1}, queues);
}

absl::Status Collective::CheckAndSum(absl::Span<const NDArray> arrays,
                                     absl::Span<const NDArray> sums,
                                     absl::Span<DeviceQueue* const> queues) {
  for (size_t i = 0; i < contexts_.size(); ++i) {
    for (const NDArray* array : {&arrays[i], i < sums.size() ? &sums[i] : &arrays[i]}) {
      if (!array->is_null() && array->shape() == arrays[0].shape() &&
          array->dtype() == arrays[0].dtype() && array->context() == contexts_[i] &&
          IsFloating(array->dtype())) {
        continue;
      }
      return absl::InvalidArgumentError(absl::StrCat(
          "sum over devices: got ", array->ToString(), ", expected floats on ",
          contexts_[i].ToString(), ", like ", arrays[0].ToString(), " of the first device"));
    }
  }
  if (arrays[0].size() == 0) return absl::OkStatus();
  return Sum(arrays, sums, queues);
}

absl::StatusOr<std::unique_ptr<Collective>> MakeCollective(const std::vector<Context>& contexts,
                                                           CollectiveWorld* world) {
  const std::set<Context> distinct(contexts.begin(), contexts.end());
  if (contexts.empty() || distinct.size() != contexts.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("a sum over ", contexts.size(), " devices, of which ", distinct.size(),
                     " differ: expected one at least, and none twice"));
  }
  if (Preferred() != nullptr) {
    auto made = Preferred()(contexts, world);
    if (made.ok()) return made;
    LogOnce(contexts, absl::StrCat("kvstore: gradients are added by copies between devices, since ",
                                   made.status().message()));
  }
  return CopyCollective::Create(contexts, world);
}

bool RegisterCollective(CollectiveFactory factory) {
  Preferred() = factory;
  return true;
}

}  // namespace cooper
