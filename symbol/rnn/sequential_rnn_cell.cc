#include "symbol/rnn/sequential_rnn_cell.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"

namespace cooper {

absl::Status SequentialRNNCell::Add(RNNCellPtr cell) {
  if (cell == nullptr || cell.get() == this) {
    return absl::InvalidArgumentError(
        absl::StrCat("SequentialRNNCell::Add: the cell is ",
                     cell == nullptr ? "null" : "the one that it is added to"));
  }
  const auto& below = params()->variables();
  for (const auto& [name, variable] : cell->params()->variables()) {
    const auto it = below.find(name);
    if (it == below.end() || it->second.outputs()[0].node == variable.outputs()[0].node) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "SequentialRNNCell::Add: cell ", cells().size(), " has a variable '", name,
        "', and so has a cell below it; give each cell a prefix of its own, or both the same "
        "RNNParams to share weights"));
  }
  ComposedCell::Add(std::move(cell));
  return absl::OkStatus();
}

absl::StatusOr<StepResult> SequentialRNNCell::Step(const Symbol& input,
                                                   const std::vector<Symbol>& states) {
  COOPER_RETURN_IF_ERROR(CheckStates(states));
  StepResult result{input, {}};
  auto next = states.begin();
  for (const RNNCellPtr& cell : cells()) {
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
  if (cells().empty()) {
    COOPER_ASSIGN_OR_RETURN(
        result.outputs, NormalizeSequence(length, inputs, options.layout, options.merge_outputs));
  }
  auto next = states.begin();
  for (size_t i = 0; i < cells().size(); ++i) {
    const RNNCellPtr& cell = cells()[i];
    const auto end = next + cell->state_info().size();
    UnrollOptions cell_options = options;
    cell_options.begin_state = std::vector<Symbol>(next, end);
    // Between the cells, sequences keep the form that they have.
    if (i + 1 < cells().size()) cell_options.merge_outputs.reset();
    COOPER_ASSIGN_OR_RETURN(Unrolled unrolled, cell->Unroll(length, result.outputs, cell_options));
    result.outputs = std::move(unrolled.outputs);
    result.states.insert(result.states.end(), unrolled.states.begin(), unrolled.states.end());
    next = end;
  }
  return result;
}

}  // namespace cooper
