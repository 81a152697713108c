#ifndef COOPER_EXECUTOR_PASSES_GRAPH_GRAPH_REBUILDER_H_
#define COOPER_EXECUTOR_PASSES_GRAPH_GRAPH_REBUILDER_H_

// Builds a changed copy of a graph. A pass visits the nodes, inputs before users, and replaces,
// keeps or copies each. The new graph shares unchanged nodes with the old one.

#include <string>
#include <utility>
#include <vector>

#include "executor/passes/graph/graph_facts.h"
#include "executor/passes/graph/graph_pass.h"

namespace cooper {

// Holds the changes of one pass. Finish() ends its use. Every node of the old graph must be kept,
// copied, or have its outputs replaced. O(entries) memory.
class GraphRebuilder {
 public:
  // `facts` must outlive this object.
  explicit GraphRebuilder(const GraphFacts& facts) : facts_(facts) {
    result_.entries.resize(facts.graph().num_entries());
  }

  // Returns the replacement of an entry of the old graph; a null entry if it has none yet.
  const NodeEntry& New(const NodeEntry& old) const {
    return result_.entries[facts_.graph().entry(old)];
  }
  // Makes `entry`, of equal shape and dtype, the replacement of an entry of the old graph.
  void Replace(const NodeEntry& old, NodeEntry entry) {
    result_.entries[facts_.graph().entry(old)] = std::move(entry);
  }

  // Returns the replacements of the inputs of node `i`.
  std::vector<NodeEntry> NewInputs(int i) const;
  // Keeps node `i`, or replaces it by a copy if `inputs` differ from the old ones.
  void Keep(int i, std::vector<NodeEntry> inputs);
  // Returns a copy of node `i` with other inputs. Does not replace the outputs of the old node.
  NodePtr Copy(int i, std::vector<NodeEntry> inputs);

  // Replaces an entry that depends on constants only by an argument. The argument is computed once
  // from constants (FoldedArrays). Equal names stand for equal values.
  void Fold(const NodeEntry& old, std::string name);

  // Returns the new graph. Requires that all outputs of the old one have replacements.
  GraphRewrite Finish();

 private:
  const GraphFacts& facts_;
  GraphRewrite result_;
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PASSES_GRAPH_GRAPH_REBUILDER_H_
