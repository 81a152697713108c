#ifndef COOPER_SYMBOL_OPS_CONTROL_WHILE_LOOP_PARAM_H_
#define COOPER_SYMBOL_OPS_CONTROL_WHILE_LOOP_PARAM_H_

// Parameters of _while_loop, which runs its body while a condition holds. The schema is in
// while_loop.cc. MXNet: src/operator/control_flow.cc.

#include <cstdint>
#include <vector>

#include "symbol/ops/control/control_graph.h"
#include "symbol/schema/op.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

// The node holds two graphs, the condition and the body. The two lists of inputs have, for each
// variable of the graph in the order of Symbol::ListInputs, the node's input. func_var_locs has the
// body's variable of each loop variable; the condition reads a loop variable through the same input
// of the node. The body's outputs are num_out_data values of the step, then the loop variables of
// the next step. Rows of stacked outputs behind the last step are zeros, since the number of steps
// is not known when shapes are inferred.
struct WhileLoopParam {
  enum Graph { kCondition, kBody };

  int num_args = 0;
  int num_outputs = 0;
  int num_out_data = 0;
  int64_t max_iterations = 0;
  std::vector<int64_t> cond_input_locs;
  std::vector<int64_t> func_input_locs;
  std::vector<int64_t> func_var_locs;

  static void Declare(ParamDeclaration<WhileLoopParam>& d) {
    d.Field("num_args", &WhileLoopParam::num_args)
        .Required()
        .Min(2)
        .Max(kMaxControlArrays)
        .Doc("number of inputs, plus 2 for the graphs");
    d.Field("num_outputs", &WhileLoopParam::num_outputs)
        .Required()
        .Min(1)
        .Max(kMaxControlArrays)
        .Doc("number of outputs: stacked values, then the last loop variables");
    d.Field("num_out_data", &WhileLoopParam::num_out_data)
        .Required()
        .Min(0)
        .Max(kMaxControlArrays)
        .Doc("how many outputs are stacked over the steps");
    d.Field("max_iterations", &WhileLoopParam::max_iterations)
        .Required()
        .Min(1)
        .Doc("the most steps, and the rows of stacked outputs");
    d.Field("cond_input_locs", &WhileLoopParam::cond_input_locs)
        .Required()
        .Doc("the input of each variable of the condition");
    d.Field("func_input_locs", &WhileLoopParam::func_input_locs)
        .Required()
        .Doc("the input of each variable of the body");
    d.Field("func_var_locs", &WhileLoopParam::func_var_locs)
        .Required()
        .Doc("the body's variable of each loop variable");
  }

  // Return the numbers of the node's inputs and of loop variables. MXNet counts the two graphs
  // among the arguments.
  int num_inputs() const { return num_args - 2; }
  int num_vars() const { return static_cast<int>(func_var_locs.size()); }
  // Returns the node's input that is the first value of loop variable `k`.
  int var_input(int k) const { return static_cast<int>(func_input_locs[func_var_locs[k]]); }
};

// Returns the graphs of a _while_loop call, by WhileLoopParam::Graph. The call must outlive them
// and have passed CheckSubgraphs. O(nodes of the graphs) time.
inline std::vector<ControlGraph> WhileLoopGraphs(const OpCall& call) {
  const auto& param = call.param<WhileLoopParam>();
  return {{call, WhileLoopParam::kCondition, param.cond_input_locs},
          {call, WhileLoopParam::kBody, param.func_input_locs}};
}

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_CONTROL_WHILE_LOOP_PARAM_H_
