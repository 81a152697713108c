#ifndef COOPER_EXECUTOR_PASSES_GRAPH_STEP_STACKER_H_
#define COOPER_EXECUTOR_PASSES_GRAPH_STEP_STACKER_H_

// Puts the arrays of all time steps behind each other along a new first axis.

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "symbol/schema/node.h"

namespace cooper {

// All arrays of a call have the same two axes. What has been stacked once is found again.
class StepStacker {
 public:
  // The arrays, whose second axis has `features` elements, as (steps, rows, features).
  absl::StatusOr<NodeEntry> Stack(const std::vector<NodeEntry>& steps, int64_t features);

  // The same made of what the arrays were cut from: arrays that were split along their time axis,
  // the same in reverse, and sums, products (not those that broadcast) and concatenations of such.
  // A null entry if they are none of these.
  absl::StatusOr<NodeEntry> StackWhatWasSplit(const std::vector<NodeEntry>& steps);

 private:
  using Key = std::vector<std::pair<const Node*, int>>;
  struct Stacked {
    std::vector<NodeEntry> steps;  // keeps the key's nodes alive
    NodeEntry entry;
  };

  static Key KeyOf(const std::vector<NodeEntry>& steps);
  // What stands for the arrays; or, in `*operands`, arrays that have to be made first.
  absl::StatusOr<NodeEntry> Make(const std::vector<NodeEntry>& steps,
                                 std::vector<NodeEntry>* operands) const;
  absl::StatusOr<NodeEntry> MakeOperation(const std::vector<NodeEntry>& steps,
                                          std::vector<NodeEntry>* operands) const;

  absl::flat_hash_map<Key, Stacked> made_;
};

// The node that cuts an array (steps, rows, features) into its steps, of which output t is one.
absl::StatusOr<NodePtr> SplitIntoSteps(const NodeEntry& stacked, size_t steps,
                                       const std::string& name);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PASSES_GRAPH_STEP_STACKER_H_
