#ifndef COOPER_EXECUTOR_PASSES_GRAPH_REPLACEMENT_NODES_H_
#define COOPER_EXECUTOR_PASSES_GRAPH_REPLACEMENT_NODES_H_

// The nodes by which a pass replaces one node that stands for many: loops, choices, recurrent
// layers without a kernel.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "symbol/schema/node.h"

namespace cooper {

// Bounds of what one node of an untrusted file expands to.
inline constexpr int64_t kMaxSteps = int64_t{1} << 16;  // the most outputs of SliceChannel
inline constexpr int64_t kMaxNodes = int64_t{1} << 22;

// Makes nodes named after the replaced node, with its hidden attributes such as __ctx_group__.
// Refers to that node. The suffixes that a pass uses for one node must differ, so that names stay
// unique.
class ReplacementNodes {
 public:
  explicit ReplacementNodes(const Node& node) : node_(node) {}

  // Returns output 0 of a new node called NODE + suffix. The errors are those of MakeEntry.
  absl::StatusOr<NodeEntry> Make(absl::string_view op, const std::string& suffix,
                                 std::vector<NodeEntry> inputs, AttrMap attrs = {}) const;

  // Returns the values of all steps as one array with a new axis 0. Recurrent cells stack their
  // outputs by the same operators, which the pass over recurrent layers recognises.
  absl::StatusOr<NodeEntry> Stack(const std::string& suffix, std::vector<NodeEntry> values) const;

  // Returns output 0 of the node whose outputs are the `count` slices of axis 0 of `whole`, without
  // that axis unless keep_axis is set.
  absl::StatusOr<NodeEntry> Split(const std::string& suffix, const NodeEntry& whole, int64_t count,
                                  bool keep_axis = false) const;

 private:
  const Node& node_;
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PASSES_GRAPH_REPLACEMENT_NODES_H_
