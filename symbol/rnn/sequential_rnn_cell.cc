#include "symbol/rnn/sequential_rnn_cell.h"

#include <utility>

#include "ndarray/status_macros.h"
#include "symbol/rnn/cell_list.h"

namespace cooper {

SequentialRNNCell::SequentialRNNCell(std::shared_ptr<RNNParams> params)
    : BaseRNNCell("", std::move(params)) {}

void SequentialRNNCell::Add(RNNCellPtr cell) {
  params()->Update(*cell->params());
  cells_.push_back(std::move(cell));
}

void SequentialRNNCell::Reset() {
  BaseRNNCell::Reset();
  for (const RNNCellPtr& cell : cells_) cell->Reset();
}

std::vector<StateInfo> SequentialRNNCell::state_info() const { return StateInfoOf(cells_); }

absl::StatusOr<std::vector<Symbol>> SequentialRNNCell::BeginState(const StateFn& make) {
  COOPER_RETURN_IF_ERROR(CheckNotModified());
  return BeginStateOf(cells_, make);
}

absl::StatusOr<ArrayMap> SequentialRNNCell::UnpackWeights(ArrayMap args) const {
  return cooper::UnpackWeights(cells_, std::move(args));
}

absl::StatusOr<ArrayMap> SequentialRNNCell::PackWeights(ArrayMap args) const {
  return cooper::PackWeights(cells_, std::move(args));
}

absl::StatusOr<StepResult> SequentialRNNCell::Step(const Symbol& input,
                                                   const std::vector<Symbol>& states) {
  COOPER_RETURN_IF_ERROR(CheckStates(states));
  StepResult result{input, {}};
  auto next = states.begin();
  for (const RNNCellPtr& cell : cells_) {
    const auto end = next + cell->state_info().size();
    COOPER_ASSIGN_OR_RETURN(StepResult step,
                            cell->Step(result.output, std::vector<Symbol>(next, end)));
    result.output = std::move(step.output);
    result.states.insert(result.states.end(), step.states.begin(), step.states.end());
    next = end;
  }
  return result;
}

absl::StatusOr<Unrolled> SequentialRNNCell::Unroll(int length, const SymbolSequence& inputs,
                                                   const UnrollOptions& options) {
  Reset();
  COOPER_ASSIGN_OR_RETURN(const std::vector<Symbol> states, FirstStates(options));
  Unrolled result{inputs, {}};
  auto next = states.begin();
  for (size_t i = 0; i < cells_.size(); ++i) {
    const RNNCellPtr& cell = cells_[i];
    const auto end = next + cell->state_info().size();
    UnrollOptions cell_options = options;
    cell_options.begin_state = std::vector<Symbol>(next, end);
    // Between the cells sequences stay as they come.
    if (i + 1 < cells_.size()) cell_options.merge_outputs.reset();
    COOPER_ASSIGN_OR_RETURN(Unrolled unrolled, cell->Unroll(length, result.outputs, cell_options));
    result.outputs = std::move(unrolled.outputs);
    result.states.insert(result.states.end(), unrolled.states.begin(), unrolled.states.end());
    next = end;
  }
  return result;
}

}  // namespace cooper
