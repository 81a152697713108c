#ifndef COOPER_EXECUTOR_PASSES_GRAPH_STEP_STACKER_H_
#define COOPER_EXECUTOR_PASSES_GRAPH_STEP_STACKER_H_

// Stacks the arrays of all time steps along a new first axis.

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "symbol/schema/node.h"

namespace cooper {

// Arrays of a call have equal shapes of two axes. Repeated calls return the same entry. Equal calls
// share one node, so that several uses of a sequence cost one copy. Not thread-safe.
class StepStacker {
 public:
  // Returns the arrays, whose second axis has `features` elements, as one array (steps, rows,
  // features).
  absl::StatusOr<NodeEntry> Stack(const std::vector<NodeEntry>& steps, int64_t features);

  // Returns what Stack returns, but without copying each step. This is possible for arrays that
  // were split along their time axis, also in reverse order, and for sums, products (without
  // broadcasting) and concatenations of split arrays. Returns a null entry otherwise.
  absl::StatusOr<NodeEntry> StackSplitSteps(const std::vector<NodeEntry>& steps);

 private:
  using Key = std::vector<std::pair<const Node*, int>>;
  struct Stacked {
    std::vector<NodeEntry> steps;  // keeps the key's nodes alive
    NodeEntry entry;
  };

  // Returns the nodes and output numbers of `steps`, which identify a call.
  static Key KeyOf(const std::vector<NodeEntry>& steps);
  // Returns the stacked array, or, in `*operands`, arrays that must be stacked first.
  absl::StatusOr<NodeEntry> Make(const std::vector<NodeEntry>& steps,
                                 std::vector<NodeEntry>* operands) const;
  // Returns one operation on stacked operands for steps that are all the same operation.
  absl::StatusOr<NodeEntry> MakeOperation(const std::vector<NodeEntry>& steps,
                                          std::vector<NodeEntry>* operands) const;

  absl::flat_hash_map<Key, Stacked> made_;
};

// Returns the node that splits an array (steps, rows, features) into steps; its output t is step t.
absl::StatusOr<NodePtr> SplitIntoSteps(const NodeEntry& stacked, size_t steps,
                                       const std::string& name);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PASSES_GRAPH_STEP_STACKER_H_
