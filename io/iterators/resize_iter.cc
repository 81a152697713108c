#include "io/iterators/resize_iter.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "io/batch/key_values.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

constexpr char kKind[] = "ResizeIter";

}  // namespace

ResizeIter::ResizeIter(std::unique_ptr<DataIter> iter, int64_t size, bool reset_internal)
    : iter_(std::move(iter)), size_(size), reset_internal_(reset_internal) {}

absl::StatusOr<std::optional<DataBatch>> ResizeIter::Next() {
  if (taken_ >= size_) return std::nullopt;
  COOPER_ASSIGN_OR_RETURN(std::optional<DataBatch> batch, iter_->Next());
  if (!batch.has_value()) {
    COOPER_RETURN_IF_ERROR(iter_->Reset());
    COOPER_ASSIGN_OR_RETURN(batch, iter_->Next());
    if (!batch.has_value()) {
      return absl::FailedPreconditionError(
          "ResizeIter: the inner iterator has no batch in a whole epoch");
    }
  }
  ++taken_;
  return batch;
}

absl::Status ResizeIter::Reset() {
  if (reset_internal_) COOPER_RETURN_IF_ERROR(iter_->Reset());
  taken_ = 0;
  return absl::OkStatus();
}

absl::Status ResizeIter::HardReset() {
  if (reset_internal_) COOPER_RETURN_IF_ERROR(iter_->HardReset());
  taken_ = 0;
  return absl::OkStatus();
}

absl::StatusOr<std::string> ResizeIter::SaveState() const {
  COOPER_ASSIGN_OR_RETURN(const std::string inner, iter_->SaveState());
  KeyValues state;
  state.SetString("kind", kKind);
  state.SetInt("taken", taken_);
  state.SetInt("size", size_);
  state.SetInt("reset_internal", reset_internal_ ? 1 : 0);
  state.SetString("inner", inner);
  return state.ToString();
}

absl::Status ResizeIter::LoadState(absl::string_view text) {
  COOPER_ASSIGN_OR_RETURN(const KeyValues state, KeyValues::Parse(text));
  COOPER_RETURN_IF_ERROR(state.Expect("kind", kKind));
  COOPER_ASSIGN_OR_RETURN(const int64_t taken, state.GetInt("taken"));
  COOPER_ASSIGN_OR_RETURN(const std::string inner, state.GetString("inner"));
  COOPER_RETURN_IF_ERROR(state.ExpectOption("size", size_));
  COOPER_RETURN_IF_ERROR(state.ExpectOption("reset_internal", reset_internal_ ? 1 : 0));
  if (taken < 0 || taken > size_) {
    return absl::InvalidArgumentError(
        absl::StrCat("ResizeIter: the state is of batch ", taken, " in an epoch of ", size_));
  }
  COOPER_RETURN_IF_ERROR(iter_->LoadState(inner));
  taken_ = taken;
  return absl::OkStatus();
}

}  // namespace cooper
