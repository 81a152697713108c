#ifndef COOPER_EXECUTOR_PLAN_PACKING_SEARCH_H_
#define COOPER_EXECUTOR_PLAN_PACKING_SEARCH_H_

// The exact half of the memory planner: decides whether ranges fit into an arena of a given size.
//
// A branch and bound after the ideas of Moffitt, "MiniMalloc" (ASPLOS 2023). Ranges are placed by
// rising offset, each as low as the placed ones allow: for every plan there is one of this form
// that is no larger. Open ranges cannot lie lower than the range placed last, so the top of every
// step has a lower bound long before the step is full.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "executor/plan/live_range.h"

namespace cooper {

// Options of one search.
struct PackingOptions {
  int64_t capacity = 0;  // bytes of the arena
  // Limit of the search, in units of a few nanoseconds. The count does not depend on the machine.
  int64_t max_work = 0;
  // Selects which of the ranges that may lie at one offset is tried first: one of kNumPackingOrders
  // orders; higher numbers are deterministic random variations of these.
  int order = 0;
};

// Number of deterministic orders that PackingOptions::order selects.
inline constexpr int kNumPackingOrders = 4;

// The result of a search: a plan, or a lower bound, or neither if max_work was reached.
struct Packing {
  std::vector<int64_t> offsets;  // by range; empty if no plan was found
  int64_t arena_size = 0;        // of `offsets`
  // If the search completed without a plan: a proven lower bound of every plan, above the capacity.
  // Otherwise 0.
  int64_t lower_bound = 0;
  int64_t work = 0;  // work that the search took, in the unit of max_work
};

// A packing problem, prepared once for searches with several capacities. Search is thread-safe.
class PackingProblem {
 public:
  // A range in terms of sections. A section stands for the steps between two neighbouring changes
  // of the live set, where the set is maximal: a plan that is valid in all sections is valid at
  // every step.
  struct Item {
    int range = 0;
    int64_t size = 0;
    int64_t alignment = 1;
    int begin = 0, end = 0;  // sections [begin, end)
  };

  // Prepares `ranges`, which must be valid for PlanMemory. Copies them.
  explicit PackingProblem(absl::Span<const LiveRange> ranges);

  const std::vector<Item>& items() const { return items_; }  // ranges with bytes, by first section
  int num_sections() const { return num_sections_; }
  size_t num_ranges() const { return num_ranges_; }

  // Returns the approximate work of a search that finds a plan without backtracking.
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
