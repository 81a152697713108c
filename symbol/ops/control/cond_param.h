#ifndef COOPER_SYMBOL_OPS_CONTROL_COND_PARAM_H_
#define COOPER_SYMBOL_OPS_CONTROL_COND_PARAM_H_

// Parameters of _cond, which runs one of two graphs. The schema is in cond.cc. MXNet:
// src/operator/control_flow.cc.

#include <cstdint>
#include <vector>

#include "symbol/ops/control/control_graph.h"
#include "symbol/schema/op.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

// The node holds three graphs: the condition, the branch if it is true, and the other branch. Each
// list has, for each variable of its graph in the order of Symbol::ListInputs, the node's input.
// Both branches have num_outputs outputs of equal shapes and dtypes; the condition has one element.
// Files are untrusted: the numbers are limited, since names are made for each of them.
struct CondParam {
  enum Graph { kCondition, kThen, kElse };

  int num_args = 0;
  int num_outputs = 0;
  std::vector<int64_t> cond_input_locs;
  std::vector<int64_t> then_input_locs;
  std::vector<int64_t> else_input_locs;

  static void Declare(ParamDeclaration<CondParam>& d) {
    d.Field("num_args", &CondParam::num_args)
        .Required()
        .Min(3)
        .Max(kMaxControlArrays)
        .Doc("number of inputs, plus 3 for the graphs");
    d.Field("num_outputs", &CondParam::num_outputs)
        .Required()
        .Min(1)
        .Max(kMaxControlArrays)
        .Doc("number of outputs of each branch");
    d.Field("cond_input_locs", &CondParam::cond_input_locs)
        .Required()
        .Doc("the input of each variable of the condition");
    d.Field("then_input_locs", &CondParam::then_input_locs)
        .Required()
        .Doc("the input of each variable of the branch if it is true");
    d.Field("else_input_locs", &CondParam::else_input_locs)
        .Required()
        .Doc("the input of each variable of the other branch");
  }

  // Returns the number of the node's inputs: MXNet counts the graphs among the arguments.
  int num_inputs() const { return num_args - 3; }
};

// Returns the graphs of a _cond call, by CondParam::Graph. The call must outlive them and have
// passed CheckSubgraphs. O(nodes of the graphs) time.
inline std::vector<ControlGraph> CondGraphs(const OpCall& call) {
  const auto& param = call.param<CondParam>();
  return {{call, CondParam::kCondition, param.cond_input_locs},
          {call, CondParam::kThen, param.then_input_locs},
          {call, CondParam::kElse, param.else_input_locs}};
}

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_CONTROL_COND_PARAM_H_
