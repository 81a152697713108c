// Finds NaN and infinity in gradients and values, and saves and restores auxiliary states for the
// rollback of a batch.

#include "absl/algorithm/container.h"
#include "module/parameters/finite.h"
#include "module/parameters/parameter_store.h"
#include "ndarray/base/status_macros.h"

namespace cooper {

absl::StatusOr<std::string> ParameterStore::FindNonFiniteGrad(
    absl::Span<const std::string> names) const {
  for (const std::string& name : names) {
    const Entry* const entry = Find(ParameterKind::kArg, name);
    if (entry == nullptr) continue;
    for (const NDArray& grad : entry->grads) {
      COOPER_ASSIGN_OR_RETURN(const bool finite, IsFinite(grad));
      if (!finite) return name;
    }
  }
  return std::string();
}

absl::StatusOr<std::string> ParameterStore::FindNonFiniteValue() const {
  for (const ParameterKind kind : {ParameterKind::kArg, ParameterKind::kAux}) {
    for (const auto& [name, entry] : of(kind).by_name) {
      // A fixed parameter keeps its given value, which may be infinite on purpose (a mask, for
      // example).
      const bool is_fixed = absl::c_all_of(entry.grads, [](const auto& g) { return g.is_null(); });
      if (kind == ParameterKind::kArg && is_fixed) continue;
      for (const NDArray& value : entry.values) {
        COOPER_ASSIGN_OR_RETURN(const bool finite, IsFinite(value));
        if (!finite) return name;
      }
    }
  }
  return std::string();
}

absl::Status ParameterStore::KeepAuxs() {
  for (const auto& [name, entry] : of(ParameterKind::kAux).by_name) {
    std::vector<NDArray>& kept = kept_auxs_[name];
    kept.resize(entry.values.size());
    for (size_t i = 0; i < kept.size(); ++i) {
      const NDArray& value = entry.values[i];
      if (value.is_null()) continue;
      if (kept[i].is_null() || kept[i].shape() != value.shape()) {
        COOPER_ASSIGN_OR_RETURN(kept[i],
                                NDArray::Empty(value.shape(), value.dtype(), value.context()));
      }
      COOPER_RETURN_IF_ERROR(kept[i].CopyFrom(value));
    }
  }
  return absl::OkStatus();
}

absl::Status ParameterStore::RestoreAuxs() {
  for (const auto& [name, kept] : kept_auxs_) {
    const Entry* const entry = Find(ParameterKind::kAux, name);
    if (entry == nullptr) continue;
    for (size_t i = 0; i < kept.size() && i < entry->values.size(); ++i) {
      if (kept[i].is_null() || entry->values[i].is_null()) continue;
      COOPER_RETURN_IF_ERROR(entry->values[i].CopyFrom(kept[i]));
    }
  }
  return absl::OkStatus();
}

}  // namespace cooper
