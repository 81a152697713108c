#ifndef COOPER_EXECUTOR_COMPILE_NEEDED_ENTRIES_H_
#define COOPER_EXECUTOR_COMPILE_NEEDED_ENTRIES_H_

// Which outputs of a graph's nodes have to be computed.

#include <vector>

#include "absl/types/span.h"
#include "executor/compile/placement.h"
#include "symbol/graph/indexed_graph.h"
#include "symbol/schema/node.h"

namespace cooper {

class NeededEntries {
 public:
  NeededEntries() = default;
  // Those that something needs, from `ends` backwards, of which some may be empty. Of what is read
  // for its shape alone, as the states that a layer ends in are where their gradients are zeros,
  // the elements need not be there, if its node runs at all and on the same device. `graph` is not
  // owned.
  NeededEntries(const IndexedGraph& graph, absl::Span<const NodeEntry> ends,
                const Placement& placement);

  bool Has(int entry) const { return needed_[entry]; }
  // Whether any output of the node of this index.
  bool HasNode(int i) const;

 private:
  const IndexedGraph* graph_ = nullptr;
  std::vector<bool> needed_;  // by entry
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_COMPILE_NEEDED_ENTRIES_H_
