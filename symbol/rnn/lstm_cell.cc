#include "symbol/rnn/lstm_cell.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "symbol/rnn/cell_ops.h"

namespace cooper {

LSTMCell::LSTMCell(int64_t num_hidden, LSTMCellOptions options)
    : GatedCell({.num_hidden = num_hidden,
                 .num_states = 2,
                 .gates = {"_i", "_f", "_c", "_o"},
                 .prefix = std::move(options.prefix),
                 .params = std::move(options.params),
                 .i2h_bias_init = absl::StrCat("[\"lstmbias\", {\"forget_bias\": ",
                                               PythonFloat(options.forget_bias), "}]")}) {}

absl::StatusOr<StepResult> LSTMCell::Step(const Symbol& input, const std::vector<Symbol>& states) {
  COOPER_RETURN_IF_ERROR(CheckStates(states));
  const std::string name = NextStepPrefix();
  COOPER_ASSIGN_OR_RETURN(const Symbol i2h, InputProduct(name, input));
  COOPER_ASSIGN_OR_RETURN(const Symbol h2h, StateProduct(name, states[0]));
  COOPER_ASSIGN_OR_RETURN(const Symbol sum, Plus(i2h, h2h));
  COOPER_ASSIGN_OR_RETURN(const Symbol gates, SliceGates(sum, 4, absl::StrCat(name, "slice")));
  COOPER_ASSIGN_OR_RETURN(const Symbol in_gate,
                          Activate(gates[0], "sigmoid", absl::StrCat(name, "i")));
  COOPER_ASSIGN_OR_RETURN(const Symbol forget_gate,
                          Activate(gates[1], "sigmoid", absl::StrCat(name, "f")));
  COOPER_ASSIGN_OR_RETURN(const Symbol candidate,
                          Activate(gates[2], "tanh", absl::StrCat(name, "c")));
  COOPER_ASSIGN_OR_RETURN(const Symbol out_gate,
                          Activate(gates[3], "sigmoid", absl::StrCat(name, "o")));
  COOPER_ASSIGN_OR_RETURN(const Symbol kept, Multiply(forget_gate, states[1]));
  COOPER_ASSIGN_OR_RETURN(const Symbol added, Multiply(in_gate, candidate));
  COOPER_ASSIGN_OR_RETURN(Symbol next_c, Plus(kept, added, absl::StrCat(name, "state")));
  COOPER_ASSIGN_OR_RETURN(const Symbol squashed, Activate(next_c, "tanh"));
  COOPER_ASSIGN_OR_RETURN(Symbol next_h, Multiply(out_gate, squashed, absl::StrCat(name, "out")));
  return StepResult{next_h, {next_h, next_c}};
}

}  // namespace cooper
