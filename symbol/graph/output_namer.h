#ifndef COOPER_SYMBOL_GRAPH_OUTPUT_NAMER_H_
#define COOPER_SYMBOL_GRAPH_OUTPUT_NAMER_H_

// Names many outputs, for algorithms that name at least one output per node.

#include <string>

#include "absl/container/flat_hash_map.h"
#include "symbol/schema/node.h"
#include "symbol/schema/op.h"

namespace cooper {

// Names outputs as OutputName does (symbol/graph/symbol.h), but lists the output names of each node
// only once: a node may have a hundred thousand outputs. Nodes must outlive it. Not thread-safe.
class OutputNamer {
 public:
  // `entry` must not be null. O(1) for a node that was asked for before, else O(outputs of the
  // node).
  std::string Name(const NodeEntry& entry);

 private:
  absl::flat_hash_map<const Node*, OpSchema::Names> by_node_;
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_GRAPH_OUTPUT_NAMER_H_
