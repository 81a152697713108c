#include "symbol/rnn/composed_cell.h"

#include <utility>

#include "ndarray/base/status_macros.h"

namespace cooper {

ComposedCell::ComposedCell(std::shared_ptr<RNNParams> params)
    : BaseRNNCell("", std::move(params)) {}

void ComposedCell::Add(RNNCellPtr cell) {
  params()->Update(*cell->params());
  cells_.push_back(std::move(cell));
}

void ComposedCell::Reset() {
  BaseRNNCell::Reset();
  for (const RNNCellPtr& cell : cells_) cell->Reset();
}

std::vector<StateInfo> ComposedCell::state_info() const {
  std::vector<StateInfo> result;
  for (const RNNCellPtr& cell : cells_) {
    for (StateInfo& info : cell->state_info()) result.push_back(std::move(info));
  }
  return result;
}

absl::StatusOr<std::vector<Symbol>> ComposedCell::BeginState(const StateFn& make) {
  COOPER_RETURN_IF_ERROR(CheckNotModified());
  std::vector<Symbol> result;
  for (const RNNCellPtr& cell : cells_) {
    COOPER_ASSIGN_OR_RETURN(std::vector<Symbol> states, cell->BeginState(make));
    for (Symbol& state : states) result.push_back(std::move(state));
  }
  return result;
}

absl::StatusOr<ArrayMap> ComposedCell::UnpackWeights(ArrayMap args) const {
  return cooper::UnpackWeights(cells_, std::move(args));
}

absl::StatusOr<ArrayMap> ComposedCell::PackWeights(ArrayMap args) const {
  return cooper::PackWeights(cells_, std::move(args));
}

}  // namespace cooper
