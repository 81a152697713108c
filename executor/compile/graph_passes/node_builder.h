#ifndef COOPER_EXECUTOR_COMPILE_GRAPH_PASSES_NODE_BUILDER_H_
#define COOPER_EXECUTOR_COMPILE_GRAPH_PASSES_NODE_BUILDER_H_

// Nodes that graph passes put in.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "symbol/node.h"

namespace cooper {

// A node. kNotFound if the operator is not linked; kInvalidArgument from parsing the attributes.
absl::StatusOr<NodePtr> MakeNode(const char* op, const std::string& name,
                                 std::vector<NodeEntry> inputs, AttrMap attrs = {});

// Output 0 of such a node.
absl::StatusOr<NodeEntry> MakeEntry(const char* op, const std::string& name,
                                    std::vector<NodeEntry> inputs, AttrMap attrs = {});

}  // namespace cooper

#endif  // COOPER_EXECUTOR_COMPILE_GRAPH_PASSES_NODE_BUILDER_H_
