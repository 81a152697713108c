#include "module/kvstore/kvstore_local.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "module/kvstore/sum_arrays.h"
#include "ndarray/status_macros.h"

namespace cooper {

absl::Status KVStoreLocal::Init(const std::string& key, const NDArray& value) {
  if (entries_.contains(key)) {
    return absl::AlreadyExistsError(absl::StrCat("kvstore: key '", key, "' has a value"));
  }
  COOPER_ASSIGN_OR_RETURN(entries_[key].value, value.CopyTo(Context::Cpu()));
  return absl::OkStatus();
}

std::vector<std::string> KVStoreLocal::keys() const {
  std::vector<std::string> keys;
  for (const auto& [key, entry] : entries_) keys.push_back(key);
  return keys;
}

absl::StatusOr<NDArray> KVStoreLocal::Get(const std::string& key) const {
  const auto it = entries_.find(key);
  if (it != entries_.end()) return it->second.value.Copy();
  return absl::NotFoundError(absl::StrCat("kvstore: key '", key, "' has no value; call Init"));
}

absl::Status KVStoreLocal::InitAll(absl::Span<const KVItem> items) {
  for (const KVItem& item : items) {
    if (contains(item.key)) continue;
    const NDArray& first = item.weights[0];
    if (updater_ != nullptr && first.context().is_cpu()) {
      entries_[item.key].value = first;
    } else {
      COOPER_RETURN_IF_ERROR(Init(item.key, first));
    }
    COOPER_RETURN_IF_ERROR(Pull(item.key, item.weights));
  }
  return absl::OkStatus();
}

absl::Status KVStoreLocal::Set(const std::string& key, const NDArray& value) {
  COOPER_ASSIGN_OR_RETURN(Entry * entry, Find(key, {value}));
  entry->holds_sum = false;
  return entry->value.raw_data() == value.raw_data() ? absl::OkStatus()
                                                     : entry->value.CopyFrom(value);
}

absl::StatusOr<KVStoreLocal::Entry*> KVStoreLocal::Find(const std::string& key,
                                                        absl::Span<const NDArray> arrays) {
  const auto it = entries_.find(key);
  if (it == entries_.end()) {
    return absl::NotFoundError(absl::StrCat("kvstore: key '", key, "' has no value; call Init"));
  }
  const NDArray& value = it->second.value;
  if (arrays.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("kvstore: no arrays for key '", key, "'"));
  }
  for (const NDArray& array : arrays) {
    if (array.shape() == value.shape() && array.dtype() == value.dtype()) continue;
    return absl::InvalidArgumentError(absl::StrCat("kvstore: key '", key, "' has ",
                                                   value.ToString(), ", got ", array.ToString()));
  }
  return &it->second;
}

absl::Status KVStoreLocal::Sum(const std::string& key, absl::Span<const NDArray> values,
                               Entry* entry) {
  for (const NDArray& value : values) traffic_.uncompressed_bytes += value.size_bytes();
  if (compression_.has_value()) return SumCompressed(key, values, entry);
  for (const NDArray& value : values) traffic_.bytes += value.size_bytes();
  return SumArrays(values, entry->sum);
}

absl::Status KVStoreLocal::SumCompressed(const std::string& key, absl::Span<const NDArray> values,
                                         Entry* entry) {
  COOPER_ASSIGN_OR_RETURN(const absl::Span<float> sum, entry->sum.Data<float>());
  COOPER_RETURN_IF_ERROR(entry->sum.Fill(0));
  entry->words.resize(GradientCompression::NumWords(entry->sum.size()));
  std::vector<NDArray>& residuals = residuals_[key];
  while (residuals.size() < values.size()) {
    COOPER_ASSIGN_OR_RETURN(residuals.emplace_back(), NDArray::Zeros(entry->sum.shape()));
  }
  for (const NDArray& residual : residuals) {
    if (residual.shape() == entry->sum.shape()) continue;
    return absl::InvalidArgumentError(absl::StrCat("kvstore: the residual of key '", key, "' is ",
                                                   residual.ToString(), ", expected ",
                                                   entry->sum.ToString()));
  }
  for (size_t i = 0; i < values.size(); ++i) {
    NDArray gradient = values[i];
    if (!gradient.context().is_cpu()) {
      COOPER_ASSIGN_OR_RETURN(gradient, gradient.CopyTo(Context::Cpu()));
    }
    COOPER_ASSIGN_OR_RETURN(const absl::Span<float> g, gradient.Data<float>());
    COOPER_ASSIGN_OR_RETURN(const absl::Span<float> residual, residuals[i].Data<float>());
    compression_->Compress(g, residual, absl::MakeSpan(entry->words));
    compression_->AddTo(entry->words, sum);
    traffic_.bytes += static_cast<int64_t>(entry->words.size() * sizeof(uint32_t));
  }
  return absl::OkStatus();
}

absl::Status KVStoreLocal::Push(const std::string& key, absl::Span<const NDArray> values) {
  COOPER_ASSIGN_OR_RETURN(Entry * entry, Find(key, values));
  if (entry->sum.is_null()) {
    COOPER_ASSIGN_OR_RETURN(entry->sum, NDArray::Empty(entry->value.shape(), entry->value.dtype()));
  }
  COOPER_RETURN_IF_ERROR(Sum(key, values, entry));
  if (updater_ == nullptr) {
    std::swap(entry->value, entry->sum);
    entry->holds_sum = values.size() > 1;
    return absl::OkStatus();
  }
  // MXNet keeps such a value in the buffer in which it adds up the next sum: it is that sum which
  // is updated. It stays so until the key is given a value.
  if (entry->holds_sum && values.size() > 1) {
    COOPER_RETURN_IF_ERROR(entry->value.CopyFrom(entry->sum));
  }
  return updater_->Update(key, entry->value, entry->sum);
}

absl::Status KVStoreLocal::Pull(const std::string& key, absl::Span<const NDArray> outs) {
  COOPER_ASSIGN_OR_RETURN(const Entry* entry, Find(key, outs));
  for (const NDArray& out : outs) {
    if (out.raw_data() != entry->value.raw_data()) {
      COOPER_RETURN_IF_ERROR(out.CopyFrom(entry->value));
    }
  }
  return absl::OkStatus();
}

absl::Status KVStoreLocal::SetUpdater(std::shared_ptr<Updater> updater) {
  updater_ = std::move(updater);
  return absl::OkStatus();
}

absl::Status KVStoreLocal::SetGradientCompression(
    const std::map<std::string, std::string>& params) {
  if (type_ == "local") {
    return absl::InvalidArgumentError(
        "kvstore: a store of type 'local' compresses no gradients; use 'device' or 'dist_sync'");
  }
  COOPER_ASSIGN_OR_RETURN(compression_, GradientCompression::FromParams(params));
  return absl::OkStatus();
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
          absl::StrCat("kvstore: a store of type '", type_, "' has no state '", name, "'"));
    }
    COOPER_ASSIGN_OR_RETURN(of_key.emplace_back(), array.Copy());
  }
  residuals_ = std::move(residuals);
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<KVStore>> MakeKVStoreLocal(absl::string_view type) {
  return std::make_unique<KVStoreLocal>(type);
}

}  // namespace cooper
