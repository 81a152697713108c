#include "symbol/rnn/gru_cell.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "symbol/rnn/cell_ops.h"

namespace cooper {

GRUCell::GRUCell(int64_t num_hidden, GRUCellOptions options)
    : GatedCell({.num_hidden = num_hidden,
                 .num_states = 1,
                 .gates = {"_r", "_z", "_o"},
                 .prefix = std::move(options.prefix),
                 .params = std::move(options.params),
                 .i2h_bias_init = ""}) {}

absl::StatusOr<StepResult> GRUCell::Step(const Symbol& input, const std::vector<Symbol>& states) {
  COOPER_RETURN_IF_ERROR(CheckStates(states));
  // MXNet's names have two underscores here, except that of the output.
  const std::string step = NextStepPrefix();
  const std::string name = absl::StrCat(step, "_");
  COOPER_ASSIGN_OR_RETURN(const Symbol i2h, InputProduct(name, input));
  COOPER_ASSIGN_OR_RETURN(const Symbol h2h, StateProduct(name, states[0]));
  COOPER_ASSIGN_OR_RETURN(const Symbol x, SliceGates(i2h, 3, absl::StrCat(name, "i2h_slice")));
  COOPER_ASSIGN_OR_RETURN(const Symbol h, SliceGates(h2h, 3, absl::StrCat(name, "h2h_slice")));
  COOPER_ASSIGN_OR_RETURN(const Symbol reset_sum, Plus(x[0], h[0]));
  COOPER_ASSIGN_OR_RETURN(const Symbol reset,
                          Activate(reset_sum, "sigmoid", absl::StrCat(name, "r_act")));
  COOPER_ASSIGN_OR_RETURN(const Symbol update_sum, Plus(x[1], h[1]));
  COOPER_ASSIGN_OR_RETURN(const Symbol update,
                          Activate(update_sum, "sigmoid", absl::StrCat(name, "z_act")));
  COOPER_ASSIGN_OR_RETURN(const Symbol remembered, Multiply(reset, h[2]));
  COOPER_ASSIGN_OR_RETURN(const Symbol candidate_sum, Plus(x[2], remembered));
  COOPER_ASSIGN_OR_RETURN(const Symbol candidate,
                          Activate(candidate_sum, "tanh", absl::StrCat(name, "h_act")));
  COOPER_ASSIGN_OR_RETURN(const Symbol rest, OneMinus(update));
  COOPER_ASSIGN_OR_RETURN(const Symbol added, Multiply(rest, candidate));
  COOPER_ASSIGN_OR_RETURN(const Symbol kept, Multiply(update, states[0]));
  COOPER_ASSIGN_OR_RETURN(Symbol next_h, Plus(added, kept, absl::StrCat(step, "out")));
  return StepResult{next_h, {next_h}};
}

}  // namespace cooper
