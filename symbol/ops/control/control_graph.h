#ifndef COOPER_SYMBOL_OPS_CONTROL_CONTROL_GRAPH_H_
#define COOPER_SYMBOL_OPS_CONTROL_CONTROL_GRAPH_H_

// One of the graphs that a call of control flow holds, and what its rules and the passes that
// replace it share. For the body of _foreach there is foreach_body.h.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "ndarray/base/partial_shape.h"
#include "symbol/graph/indexed_graph.h"
#include "symbol/schema/node.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {

// Bounds the names that an untrusted file makes by its numbers of inputs and outputs.
inline constexpr int kMaxControlArrays = 1 << 16;

// A graph whose variables stand for inputs of the call. Refers to the call, which must outlive it.
// Immutable, so thread-safe.
class ControlGraph {
 public:
  // `inputs` has the input of the call for each variable of graph `k` of the call, in the order of
  // Symbol::ListInputs. They must have passed Check. O(nodes) time.
  ControlGraph(const OpCall& call, int k, const std::vector<int64_t>& inputs);

  // Fails with kInvalidArgument, naming the graph as `what`, unless `inputs`, called `attr`, names
  // for each variable of graph `k` one of the `num_inputs` inputs.
  static absl::Status Check(const OpCall& call, int k, absl::string_view what,
                            const std::vector<int64_t>& inputs, absl::string_view attr,
                            int num_inputs);

  const IndexedGraph& graph() const { return graph_; }
  const std::vector<NodeEntry>& outputs() const { return outputs_; }
  int num_variables() const { return static_cast<int>(variables_.size()); }
  // Return, for variable `j`: the call's input, the entry of graph(), and whether an operator of
  // the graph uses it as an auxiliary state.
  int input(int j) const { return static_cast<int>(inputs_[j]); }
  int entry(int j) const { return graph_.first_entry(variables_[j]); }
  bool is_aux(int j) const { return graph_.is_aux(variables_[j]); }

  // Infers the shapes of the graph in both directions: adds what follows to the call's inputs and
  // to `outputs`, the shapes of the graph's outputs. Errors name the graph as `what`.
  absl::Status InferShapes(ShapeContext& c, const char* what,
                           std::vector<PartialShape>& outputs) const;
  // Does the same for dtypes.
  absl::Status InferTypes(TypeContext& c, const char* what,
                          std::vector<TypeContext::Type>& outputs) const;

 private:
  const std::vector<NodeEntry>& outputs_;
  const std::vector<int64_t>& inputs_;
  IndexedGraph graph_;
  std::vector<int> variables_;  // numbers of nodes, by variable
};

// Returns the numbers, in graph.nodes(), of the variables, in the order of Symbol::ListInputs.
std::vector<int> VariablesOf(const IndexedGraph& graph);

// Fails for a call without its graphs, which only code that skips CheckSubgraphs makes. For rules,
// which run several times for each node: graphs were checked when the node was made.
absl::Status CheckHasSubgraphs(const OpCall& call);

// Returns the inputs of the call that are auxiliary states in one of the graphs.
std::vector<int> AuxInputsOf(const std::vector<ControlGraph>& graphs);

// Fails with kInvalidArgument if a known shape of a condition has other than one element.
absl::Status CheckConditionShape(const PartialShape& shape);

// Returns "data0", "data1", ..., or for `alone` not empty that name if `count` is 1.
OpSchema::Names NumberedNames(absl::string_view prefix, int count, absl::string_view alone = "");

// Returns the shape of `length` stacked arrays.
PartialShape StackedShape(int64_t length, const PartialShape& step);

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_CONTROL_CONTROL_GRAPH_H_
