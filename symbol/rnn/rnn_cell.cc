#include "symbol/rnn/rnn_cell.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "symbol/rnn/cell_ops.h"

namespace cooper {

RNNCell::RNNCell(int64_t num_hidden, RNNCellOptions options)
    : GatedCell({.num_hidden = num_hidden,
                 .num_states = 1,
                 .gates = {""},
                 .prefix = std::move(options.prefix),
                 .params = std::move(options.params),
                 .i2h_bias_init = ""}),
      activation_(std::move(options.activation)) {}

absl::StatusOr<StepResult> RNNCell::Step(const Symbol& input, const std::vector<Symbol>& states) {
  COOPER_RETURN_IF_ERROR(CheckStates(states));
  const std::string name = NextStepPrefix();
  COOPER_ASSIGN_OR_RETURN(const Symbol i2h, InputProduct(name, input));
  COOPER_ASSIGN_OR_RETURN(const Symbol h2h, StateProduct(name, states[0]));
  COOPER_ASSIGN_OR_RETURN(const Symbol sum, Plus(i2h, h2h));
  COOPER_ASSIGN_OR_RETURN(Symbol output, Activate(sum, activation_, absl::StrCat(name, "out")));
  return StepResult{output, {output}};
}

}  // namespace cooper
