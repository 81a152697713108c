#ifndef COOPER_SYMBOL_CONTROL_CUT_GRAPH_H_
#define COOPER_SYMBOL_CONTROL_CUT_GRAPH_H_

// Builds the nodes of Foreach, WhileLoop and Cond. A user function returns symbols; Cut copies the
// part that the function made into a subgraph, and values from outside become its inputs.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "symbol/graph/symbol.h"
#include "symbol/schema/node.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

// Returns attributes for an AttrScope: nodes made in it belong to the graph of this name. The
// attribute is MXNet's.
AttrMap GraphMark(const std::string& name);

// A graph that was cut out of others.
struct CutGraph {
  std::vector<NodeEntry> outputs;
  std::vector<NodeEntry> outer;  // values from outside, the variables among them included
  std::vector<NodeEntry> inner;  // the graph's variable for each of them
};

// Copies the nodes that are marked with `name`. Values that they read from unmarked nodes become
// variables of the graph; a variable of the network keeps its name. `placeholders` are variables of
// the graph that stand for no value from outside.
CutGraph Cut(const std::vector<NodeEntry>& outputs, const std::string& name,
             const std::vector<NodeEntry>& placeholders);

// Returns the only output of each symbol. Fails with the error of a symbol, and with
// kInvalidArgument, calling symbol i "WHAT i", if it has other than one output.
absl::StatusOr<std::vector<NodeEntry>> EntriesOf(const std::vector<Symbol>& symbols,
                                                 const char* what);

// Returns a variable for each value, named after both and the kind, such as "_step".
std::vector<Symbol> Placeholders(const std::vector<NodeEntry>& outer, const std::string& name,
                                 const char* kind);

// Returns `entries`, with an identity for each that is a variable: MXNet does not run graphs whose
// outputs are their inputs.
absl::StatusOr<std::vector<NodeEntry>> WithoutVariables(std::vector<NodeEntry> entries,
                                                        const std::string& name);

// Returns for each of `entries` its position among the variables of the graph with these outputs,
// in the order of Symbol::ListInputs. kInvalidArgument, calling entry k "WHAT k", if the graph does
// not read it: MXNet has no position for it.
absl::StatusOr<std::vector<int64_t>> PositionsOf(const std::vector<NodeEntry>& outputs,
                                                 const std::vector<NodeEntry>& entries,
                                                 const char* what);

// The inputs of a node that several graphs share: all values that they read.
class SharedInputs {
 public:
  // `placeholders` of graphs stand for `values`, in this order.
  explicit SharedInputs(std::vector<NodeEntry> values) : values_(std::move(values)) {}

  // Returns the input of the node for each variable of a graph, in the order of
  // Symbol::ListInputs.
  std::vector<int64_t> Add(const CutGraph& graph, const std::vector<NodeEntry>& placeholders);

  const std::vector<NodeEntry>& inputs() const { return inputs_; }

 private:
  std::vector<NodeEntry> values_;
  std::vector<NodeEntry> inputs_;
  // By node and output; null and k for value k.
  absl::flat_hash_map<std::pair<const Node*, int>, int64_t> positions_;
};

// Makes a node that holds `graphs`; the attributes of the current AttrScope are added to `attrs`,
// and num_args, the number of inputs and graphs. Fails as CheckSubgraphs and CheckAuxInputs do.
absl::StatusOr<NodePtr> MakeControlNode(const char* op, const std::string& name, AttrMap attrs,
                                        std::vector<NodeEntry> inputs,
                                        std::vector<std::vector<NodeEntry>> graphs);

}  // namespace cooper

#endif  // COOPER_SYMBOL_CONTROL_CUT_GRAPH_H_
