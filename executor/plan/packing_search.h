#ifndef COOPER_EXECUTOR_PLAN_PACKING_SEARCH_H_
#define COOPER_EXECUTOR_PLAN_PACKING_SEARCH_H_

// The exact half of the memory planner: whether ranges fit into an arena of a given size, and how.
//
// A branch and bound after the ideas of Moffitt, "MiniMalloc" (ASPLOS 2023). Ranges are placed by
// rising offset, each as low as those before it allow: of every plan there is one of this form that
// is as small. What is not placed yet cannot lie lower than the range placed last, so that the top
// of every step is known from below long before the step is full.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "executor/plan/live_range.h"

namespace cooper {

struct PackingOptions {
  int64_t capacity = 0;  // bytes of the arena
  // How long to look, in units that take a few nanoseconds, on every machine the same number.
  int64_t max_work = 0;
  // Which of the ranges that may lie at one offset is tried first: kNumPackingOrders ways, and for
  // higher numbers variations of these, by random numbers that are the same in every run.
  int order = 0;
};

inline constexpr int kNumPackingOrders = 4;

struct Packing {
  std::vector<int64_t> offsets;  // by range; empty if no plan was found
  int64_t arena_size = 0;        // of `offsets`
  // If the search came to its end without a plan: no plan is smaller than this, which is more than
  // the capacity. Otherwise 0.
  int64_t lower_bound = 0;
  int64_t work = 0;  // done
};

// The problem, made ready once for searches of several capacities.
class PackingProblem {
 public:
  // A range in terms of sections. These are the steps at which something is live that is not live
  // at both their neighbours: what fits there fits everywhere.
  struct Item {
    int range = 0;
    int64_t size = 0;
    int64_t alignment = 1;
    int begin = 0, end = 0;  // sections [begin, end)
  };

  // Of ranges that PlanMemory accepts.
  explicit PackingProblem(absl::Span<const LiveRange> ranges);

  const std::vector<Item>& items() const { return items_; }  // ranges with bytes, by first section
  int num_sections() const { return num_sections_; }
  size_t num_ranges() const { return num_ranges_; }

  // About the work of a search that finds a plan without ever going back.
  int64_t DescentWork() const;

  // Looks for a plan of at most `capacity` bytes. Equal input gives an equal result.
  Packing Search(const PackingOptions& options) const;

 private:
  size_t num_ranges_;
  std::vector<Item> items_;
  int num_sections_ = 0;
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PLAN_PACKING_SEARCH_H_
