#include "module/kvstore/kvstore_with_values.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

absl::Status NoValue(const std::string& key) {
  return absl::NotFoundError(absl::StrCat("kvstore: key '", key, "' has no value; call Init"));
}

// Copies `from` to `to`, unless both are the same memory.
absl::Status CopyUnlessSame(const NDArray& from, const NDArray& to) {
  return from.raw_data() == to.raw_data() ? absl::OkStatus() : to.CopyFrom(from);
}

}  // namespace

std::vector<std::string> KVStoreWithValues::keys() const {
  std::vector<std::string> keys;
  for (const auto& [key, value] : values_) keys.push_back(key);
  return keys;
}

absl::StatusOr<NDArray> KVStoreWithValues::Get(const std::string& key) const {
  const auto it = values_.find(key);
  return it == values_.end() ? NoValue(key) : it->second.CopyTo(Context::Cpu());
}

absl::Status KVStoreWithValues::Set(const std::string& key, const NDArray& value) {
  COOPER_ASSIGN_OR_RETURN(const NDArray* stored, Find(key, {value}));
  return CopyUnlessSame(value, *stored);
}

absl::Status KVStoreWithValues::Pull(const std::string& key, absl::Span<const NDArray> outs) {
  COOPER_ASSIGN_OR_RETURN(const NDArray* stored, Find(key, outs));
  for (const NDArray& out : outs) COOPER_RETURN_IF_ERROR(CopyUnlessSame(*stored, out));
  return absl::OkStatus();
}

absl::Status KVStoreWithValues::SetUpdater(std::shared_ptr<Updater> updater) {
  updater_ = std::move(updater);
  return absl::OkStatus();
}

absl::Status KVStoreWithValues::SetGradientCompression(const Kwargs& params) {
  COOPER_ASSIGN_OR_RETURN(compression_, GradientCompression::FromParams(params));
  return absl::OkStatus();
}

absl::StatusOr<NDArray*> KVStoreWithValues::Find(const std::string& key,
                                                 absl::Span<const NDArray> arrays) {
  const auto it = values_.find(key);
  if (it == values_.end()) return NoValue(key);
  if (arrays.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("kvstore: no arrays for key '", key, "'"));
  }
  for (const NDArray& array : arrays) {
    if (array.shape() == it->second.shape() && array.dtype() == it->second.dtype()) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "kvstore: key '", key, "' has ", it->second.ToString(), ", got ", array.ToString()));
  }
  return &it->second;
}

void KVStoreWithValues::Forget(const std::vector<std::string>& keys) {
  for (const std::string& key : keys) values_.erase(key);
}

absl::Status KVStoreWithValues::CheckNew(const std::string& key) const {
  if (!contains(key)) return absl::OkStatus();
  return absl::AlreadyExistsError(absl::StrCat("kvstore: key '", key, "' has a value"));
}

}  // namespace cooper
