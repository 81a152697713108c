#ifndef COOPER_EXECUTOR_PASSES_GRAPH_GRAPH_REBUILDER_H_
#define COOPER_EXECUTOR_PASSES_GRAPH_GRAPH_REBUILDER_H_

// Makes a changed copy of a graph: a pass goes through the nodes, inputs before users, and says for
// each what becomes of it. Nodes of which nothing changes are shared with the old graph.

#include <string>
#include <utility>
#include <vector>

#include "executor/passes/graph/graph_facts.h"
#include "executor/passes/graph/graph_pass.h"

namespace cooper {

class GraphRebuilder {
 public:
  // `facts` must outlive it.
  explicit GraphRebuilder(const GraphFacts& facts) : facts_(facts) {
    result_.entries.resize(facts.graph().num_entries());
  }

  // What an entry of the old graph has become; a null entry if nobody has said yet.
  const NodeEntry& New(const NodeEntry& old) const {
    return result_.entries[facts_.graph().entry(old)];
  }
  void Replace(const NodeEntry& old, NodeEntry entry) {
    result_.entries[facts_.graph().entry(old)] = std::move(entry);
  }

  // The inputs of node `i` as they have become.
  std::vector<NodeEntry> NewInputs(int i) const;
  // Keeps node `i`, or makes a copy of it if these inputs are not the old ones.
  void Keep(int i, std::vector<NodeEntry> inputs);
  // A copy of node `i` with other inputs, whose outputs are not those of the old one.
  NodePtr Copy(int i, std::vector<NodeEntry> inputs);

  // Puts an argument in the place of an entry that follows from constants alone.
  void Fold(const NodeEntry& old, std::string name);

  // The new graph. Every output of the old one has become something.
  GraphRewrite Finish();

 private:
  const GraphFacts& facts_;
  GraphRewrite result_;
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PASSES_GRAPH_GRAPH_REBUILDER_H_
