#ifndef COOPER_EXECUTOR_PLAN_USAGE_PROFILE_H_
#define COOPER_EXECUTOR_PLAN_USAGE_PROFILE_H_

// How many bytes are in use at each step of a program, as ranges of steps come and go.

#include <compare>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace cooper {

// A tree of maxima over ranges of steps, with what was added to all of a range at its root.
class UsageProfile {
 public:
  // `usage` has the bytes of each step. Linear in their number.
  explicit UsageProfile(absl::Span<const int64_t> usage);

  // Adds to the steps [begin, end); nothing if there are none. In logarithmic time.
  void Add(int begin, int end, int64_t bytes);

  // The most bytes at any step, and at how many steps. The lower one has fewer bytes, or as many at
  // fewer steps. No bytes at no steps without a step.
  struct Peak {
    int64_t bytes = 0;
    int steps = 0;
    friend auto operator<=>(const Peak&, const Peak&) = default;
  };
  Peak peak() const { return steps_ == 0 ? Peak() : nodes_[1].peak; }

 private:
  // Of a range of steps; that of the whole is nodes_[1], its halves are nodes_[2] and nodes_[3].
  struct Node {
    Peak peak;          // `added` of this node included, of those above it not
    int64_t added = 0;  // to every step of the range
  };

  void Build(absl::Span<const int64_t> usage, int node, int begin, int end);
  void Add(int node, int node_begin, int node_end, int begin, int end, int64_t bytes);
  // Makes a node's peak from its halves'.
  void Update(int node);

  int steps_;
  std::vector<Node> nodes_;
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PLAN_USAGE_PROFILE_H_
