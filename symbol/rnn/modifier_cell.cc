#include "symbol/rnn/modifier_cell.h"

#include <utility>

#include "ndarray/base/status_macros.h"

namespace cooper {

ModifierCell::ModifierCell(RNNCellPtr base) : BaseRNNCell("", nullptr), base_(std::move(base)) {
  base_->modified_ = true;
}

// Also resets the base. MXNet does not, so its steps are counted on from one bucket to the next.
void ModifierCell::Reset() {
  BaseRNNCell::Reset();
  base_->Reset();
}

absl::StatusOr<std::vector<Symbol>> ModifierCell::BeginState(const StateFn& make) {
  COOPER_RETURN_IF_ERROR(CheckNotModified());
  base_->modified_ = false;
  auto states = base_->BeginState(make);
  base_->modified_ = true;
  return states;
}

absl::StatusOr<Unrolled> ModifierCell::UnrollBase(int length, const SymbolSequence& inputs,
                                                  const UnrollOptions& options) {
  base_->modified_ = false;
  auto unrolled = base_->Unroll(length, inputs, options);
  base_->modified_ = true;
  return unrolled;
}

absl::StatusOr<ArrayMap> ModifierCell::UnpackWeights(ArrayMap args) const {
  return base_->UnpackWeights(std::move(args));
}

absl::StatusOr<ArrayMap> ModifierCell::PackWeights(ArrayMap args) const {
  return base_->PackWeights(std::move(args));
}

}  // namespace cooper
