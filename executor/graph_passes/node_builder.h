#ifndef COOPER_EXECUTOR_GRAPH_PASSES_NODE_BUILDER_H_
#define COOPER_EXECUTOR_GRAPH_PASSES_NODE_BUILDER_H_

// Nodes that graph passes put in.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "symbol/node.h"

namespace cooper {

// A node of an operator that is linked. The errors are those of parsing its attributes.
absl::StatusOr<NodePtr> MakeNode(const char* op, const std::string& name,
                                 std::vector<NodeEntry> inputs, AttrMap attrs = {});

// The arrays, which are alike and as many as there are steps, behind each other along a new first
// axis, made of what they were cut from: arrays that were split along their time axis, the same in
// reverse, and sums, products and concatenations of such. A null entry if they are none of these.
absl::StatusOr<NodeEntry> StackWhatWasSplit(const std::vector<NodeEntry>& steps);

// Likewise for any arrays, of two axes, the second of which has `features` elements.
absl::StatusOr<NodeEntry> StackSteps(const std::vector<NodeEntry>& steps, int64_t features);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_GRAPH_PASSES_NODE_BUILDER_H_
