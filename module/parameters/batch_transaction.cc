#include "module/parameters/batch_transaction.h"

#include "module/parameters/parameters.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

absl::Status Keep(const std::vector<NDArray>& values, std::vector<NDArray>& kept) {
  kept.resize(values.size());
  for (size_t i = 0; i < kept.size(); ++i) {
    const NDArray& value = values[i];
    if (value.is_null()) continue;
    if (kept[i].is_null() || kept[i].shape() != value.shape()) {
      COOPER_ASSIGN_OR_RETURN(kept[i],
                              NDArray::Empty(value.shape(), value.dtype(), value.context()));
    }
    COOPER_RETURN_IF_ERROR(kept[i].CopyFrom(value));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status BatchTransaction::Begin(absl::Span<Learner* const> learners) {
  saved_.resize(learners.size());
  for (size_t i = 0; i < learners.size(); ++i) {
    Saved& saved = saved_[i];
    if (saved.learner != learners[i]) saved = {.learner = learners[i], .auxs = {}};
    saved.has_sums = false;
    for (const auto& [name, arrays] : learners[i]->parameters().all(ParameterKind::kAux)) {
      COOPER_RETURN_IF_ERROR(Keep(arrays.values, saved.auxs[name]));
    }
  }
  return absl::OkStatus();
}

absl::Status BatchTransaction::Rollback() {
  for (Saved& saved : saved_) {
    for (const auto& [name, kept] : saved.auxs) {
      const ParameterArrays* const arrays =
          saved.learner->parameters().Find(ParameterKind::kAux, name);
      if (arrays == nullptr) continue;
      for (size_t i = 0; i < kept.size() && i < arrays->values.size(); ++i) {
        if (kept[i].is_null() || arrays->values[i].is_null()) continue;
        COOPER_RETURN_IF_ERROR(arrays->values[i].CopyFrom(kept[i]));
      }
    }
    // ZeroGrads clears the record, and a later backward pass of this batch may add again.
    saved.has_sums = saved.has_sums || !saved.learner->gradient_record().sums().empty();
    if (saved.has_sums) COOPER_RETURN_IF_ERROR(saved.learner->ZeroGrads());
  }
  return absl::OkStatus();
}

}  // namespace cooper
