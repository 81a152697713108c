#ifndef COOPER_SYMBOL_OPS_CONTROL_FOREACH_PARAM_H_
#define COOPER_SYMBOL_OPS_CONTROL_FOREACH_PARAM_H_

// Parameters of _foreach, the loop over the first axis of its data. The schema is in foreach.cc.
// MXNet: src/operator/control_flow.cc.

#include <cstdint>
#include <vector>

#include "symbol/ops/control/control_graph.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

// The inputs of a node are its data, then its initial states, then all other values that the body
// reads. The three lists tell for each input which variable of the body, in the order of
// Symbol::ListInputs, stands for it. The body's outputs are num_out_data values of the step, then
// the states for the next step. All data inputs have one extent on axis 0, the number of steps; a
// step sees them without that axis. Stacked outputs are (steps, shape of the step's value...), and
// the states keep their shapes.
struct ForeachParam {
  int num_args = 0;
  int num_outputs = 0;
  int num_out_data = 0;
  std::vector<int64_t> in_state_locs;
  std::vector<int64_t> in_data_locs;
  std::vector<int64_t> remain_locs;

  static void Declare(ParamDeclaration<ForeachParam>& d) {
    d.Field("num_args", &ForeachParam::num_args)
        .Required()
        .Min(1)
        .Max(kMaxControlArrays)
        .Doc("number of inputs, plus 1 for the body");
    d.Field("num_outputs", &ForeachParam::num_outputs)
        .Required()
        .Min(1)
        .Max(kMaxControlArrays)
        .Doc("number of outputs: stacked values, then the last states");
    d.Field("num_out_data", &ForeachParam::num_out_data)
        .Required()
        .Min(0)
        .Max(kMaxControlArrays)
        .Doc("how many outputs are stacked over the steps");
    d.Field("in_state_locs", &ForeachParam::in_state_locs)
        .Required()
        .Doc("the body's variable of each state");
    d.Field("in_data_locs", &ForeachParam::in_data_locs)
        .Required()
        .Doc("the body's variable of each data input");
    d.Field("remain_locs", &ForeachParam::remain_locs)
        .Required()
        .Doc("the body's variable of each other input");
  }

  // Return the numbers of data inputs and of states, which come first and second among the inputs.
  int num_data() const { return static_cast<int>(in_data_locs.size()); }
  int num_states() const { return static_cast<int>(in_state_locs.size()); }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_CONTROL_FOREACH_PARAM_H_
