#include "symbol/rnn/dropout_cell.h"

#include <utility>

#include "ndarray/base/status_macros.h"
#include "symbol/rnn/cell_ops.h"

namespace cooper {

DropoutCell::DropoutCell(double dropout, DropoutCellOptions options)
    : BaseRNNCell(std::move(options.prefix), std::move(options.params)), dropout_(dropout) {}

absl::StatusOr<StepResult> DropoutCell::Step(const Symbol& input,
                                             const std::vector<Symbol>& states) {
  if (dropout_ <= 0) return StepResult{input, states};
  COOPER_ASSIGN_OR_RETURN(
      Symbol output,
      Symbol::Create("Dropout", {.inputs = {input}, .attrs = {{"p", PythonFloat(dropout_)}}}));
  return StepResult{std::move(output), states};
}

absl::StatusOr<Unrolled> DropoutCell::Unroll(int length, const SymbolSequence& inputs,
                                             const UnrollOptions& options) {
  Reset();
  COOPER_ASSIGN_OR_RETURN(SymbolSequence sequence,
                          UnrollInputs(length, inputs, options, options.merge_outputs));
  if (!sequence.is_merged()) {
    UnrollOptions all_steps = options;
    all_steps.valid_length.reset();
    return BaseRNNCell::Unroll(length, sequence, all_steps);
  }
  COOPER_ASSIGN_OR_RETURN(StepResult result, Step(sequence.merged(), {}));
  return Unrolled{std::move(result.output), {}};
}

}  // namespace cooper
