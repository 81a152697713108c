#ifndef COOPER_SYMBOL_GRAPH_OUTPUT_NAMER_H_
#define COOPER_SYMBOL_GRAPH_OUTPUT_NAMER_H_

#include <string>

#include "absl/container/flat_hash_map.h"
#include "symbol/schema/node.h"
#include "symbol/schema/op.h"

namespace cooper {

// Names outputs as OutputName does (symbol/graph/symbol.h), and lists those of a node once,
// whichever of them are asked for: there may be a hundred thousand. Nodes must outlive it. Not safe
// for threads.
class OutputNamer {
 public:
  // `entry` must not be null.
  std::string Name(const NodeEntry& entry);

 private:
  absl::flat_hash_map<const Node*, OpSchema::Names> by_node_;
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_GRAPH_OUTPUT_NAMER_H_
