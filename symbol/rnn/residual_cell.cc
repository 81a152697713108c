#include "symbol/rnn/residual_cell.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "symbol/rnn/valid_length.h"

namespace cooper {
namespace {

absl::StatusOr<Symbol> AddInput(const Symbol& output, const Symbol& input) {
  return Symbol::Create("elemwise_add", {.name = absl::StrCat(output.name(), "_plus_residual"),
                                         .inputs = {output, input}});
}

}  // namespace

absl::StatusOr<StepResult> ResidualCell::Step(const Symbol& input,
                                              const std::vector<Symbol>& states) {
  COOPER_ASSIGN_OR_RETURN(StepResult result, base()->Step(input, states));
  COOPER_ASSIGN_OR_RETURN(result.output, AddInput(result.output, input));
  return result;
}

absl::StatusOr<Unrolled> ResidualCell::Unroll(int length, const SymbolSequence& inputs,
                                              const UnrollOptions& options) {
  Reset();
  COOPER_ASSIGN_OR_RETURN(Unrolled result, UnrollBase(length, inputs, options));
  const bool merged = result.outputs.is_merged();
  // Masks the inputs, so that the sum is 0 in padding too.
  COOPER_ASSIGN_OR_RETURN(
      const SymbolSequence added,
      options.valid_length.has_value()
          ? MaskSequence(length, inputs, options.layout, *options.valid_length, merged)
          : UnrollInputs(length, inputs, options, merged));
  if (result.outputs.is_merged()) {
    COOPER_ASSIGN_OR_RETURN(result.outputs, AddInput(result.outputs.merged(), added.merged()));
    return result;
  }
  std::vector<Symbol> outputs;
  for (int i = 0; i < length; ++i) {
    COOPER_ASSIGN_OR_RETURN(Symbol output, AddInput(result.outputs.steps()[i], added.steps()[i]));
    outputs.push_back(std::move(output));
  }
  result.outputs = std::move(outputs);
  return result;
}

}  // namespace cooper
