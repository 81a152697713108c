#include "symbol/rnn/zoneout_cell.h"

#include <utility>

#include "ndarray/base/status_macros.h"
#include "symbol/rnn/cell_ops.h"

namespace cooper {
namespace {

// Returns `next`, replaced by `previous` at elements chosen with probability `p`.
absl::StatusOr<Symbol> Mix(double p, const Symbol& next, const Symbol& previous) {
  COOPER_ASSIGN_OR_RETURN(const Symbol ones, Symbol::Create("ones_like", {.inputs = {next}}));
  COOPER_ASSIGN_OR_RETURN(
      const Symbol mask,
      Symbol::Create("Dropout", {.inputs = {ones}, .attrs = {{"p", PythonFloat(p)}}}));
  return Symbol::Create("where", {.inputs = {mask, next, previous}});
}

}  // namespace

ZoneoutCell::ZoneoutCell(RNNCellPtr base, ZoneoutCellOptions options)
    : ModifierCell(std::move(base)), options_(options) {}

void ZoneoutCell::Reset() {
  ModifierCell::Reset();
  previous_output_.reset();
}

absl::StatusOr<StepResult> ZoneoutCell::Step(const Symbol& input,
                                             const std::vector<Symbol>& states) {
  COOPER_ASSIGN_OR_RETURN(StepResult result, base()->Step(input, states));
  if (!previous_output_.has_value()) {
    COOPER_ASSIGN_OR_RETURN(
        previous_output_,
        Symbol::Create("_zeros", {.attrs = {{"shape", "(0, 0)"}, {"dtype", "float32"}}}));
  }
  if (options_.zoneout_outputs != 0) {
    COOPER_ASSIGN_OR_RETURN(result.output,
                            Mix(options_.zoneout_outputs, result.output, *previous_output_));
  }
  if (options_.zoneout_states != 0) {
    for (size_t i = 0; i < states.size(); ++i) {
      COOPER_ASSIGN_OR_RETURN(result.states[i],
                              Mix(options_.zoneout_states, result.states[i], states[i]));
    }
  }
  previous_output_ = result.output;
  return result;
}

}  // namespace cooper
