#include "executor/plan/memory_plan.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "executor/plan/greedy_plans.h"
#include "executor/plan/packing_search.h"

namespace cooper {
namespace {

absl::Status CheckRanges(absl::Span<const LiveRange> ranges) {
  for (size_t i = 0; i < ranges.size(); ++i) {
    const LiveRange& r = ranges[i];
    if (r.size < 0 || r.first < 0 || r.last < r.first) {
      return absl::InvalidArgumentError(
          absl::StrCat("range ", i, ": size ", r.size, ", steps [", r.first, ", ", r.last, "]"));
    }
    if (r.alignment <= 0 || kArenaAlignment % r.alignment != 0) {
      return absl::InvalidArgumentError(absl::StrCat("range ", i, ": alignment ", r.alignment,
                                                     " does not divide ", kArenaAlignment));
    }
  }
  return absl::OkStatus();
}

// Tries planning methods, from the fastest to the slowest. Stops when the best plan is proven to be
// the smallest, or when its possible saving is not worth the time of the next method.
class Planner {
 public:
  explicit Planner(absl::Span<const LiveRange> ranges) : ranges_(ranges) {
    best_.lower_bound = LowerBound(ranges);
    proven_bound_ = best_.lower_bound;
    best_.arena_size = std::numeric_limits<int64_t>::max();
  }

  MemoryPlan Run() && {
    Consider(PlaceByTime(ranges_, /*backwards=*/false));
    if (!IsProven()) Consider(PlaceByTime(ranges_, /*backwards=*/true));
    if (!IsNear()) TryOrders();
    if (!IsNear()) {
      const PackingProblem problem(ranges_);
      TrySearch(problem);
      if (!IsWanted()) TryAnew(problem);
    }
    best_.proven = IsProven();
    return std::move(best_);
  }

 private:
  // Work budgets of the searches. Per range, for a plan whose gap is already below the wanted one:
  // about a tenth of the time to bind the program. In total, for a plan with a larger gap, whatever
  // the number of ranges.
  static constexpr int64_t kWorkPerRange = 500;
  static constexpr int64_t kMaxWork = 8'000'000;
  // Total work of the restarted searches, which run if the first ones do not reach the wanted gap.
  static constexpr int64_t kMaxWorkAnew = 4 * kMaxWork;

  template <typename Plan>
  void Consider(Plan plan) {
    if (plan.arena_size >= best_.arena_size) return;
    best_.offsets = std::move(plan.offsets);
    best_.arena_size = plan.arena_size;
  }

  bool IsProven() const { return best_.arena_size <= proven_bound_; }
  // Returns whether the best plan is so good that no other method is tried.
  bool IsNear() const {
    return IsProven() || best_.arena_size - best_.lower_bound <= best_.lower_bound / 1000;
  }
  // Arena size at which no long search starts.
  int64_t Wanted() const { return best_.lower_bound + best_.lower_bound / 50; }
  bool IsWanted() const { return IsProven() || best_.arena_size <= Wanted(); }

  void TryOrders() {
    Consider(PlaceInOrder(ranges_, OrderByBreadth(ranges_)));
    for (int64_t (*weight)(const LiveRange&) :
         {+[](const LiveRange& r) { return r.size; },
          +[](const LiveRange& r) { return static_cast<int64_t>(r.last - r.first); },
          +[](const LiveRange& r) { return r.size / 64 * (r.last - r.first + 1); }}) {
      if (IsNear()) return;
      Consider(PlaceInOrder(ranges_, OrderBy(ranges_, weight)));
    }
  }

  // Searches alternately for a plan at the lower bound, which rises whenever it is proven
  // infeasible, and for the wanted size. Each round has four times the work of the one before.
  void TrySearch(const PackingProblem& problem) {
    work_left_ = kMaxWork;
    const int64_t affordable = kWorkPerRange * static_cast<int64_t>(problem.items().size());
    for (int64_t work = 2 * problem.DescentWork();; work *= 4) {
      for (const bool at_bound : {true, false}) {
        for (int order = 0; order < kNumPackingOrders; ++order) {
          if (IsNear()) return;
          if (IsWanted()) {
            if (!at_bound) break;
            if (kMaxWork - work_left_ + work / 2 > affordable) return;
          }
          if (work_left_ < work / 2) return;
          if (at_bound) {
            SearchAtBound(problem, work, order);
          } else {
            SearchForWanted(problem, work, order);
          }
        }
      }
    }
  }

  // Restarts short searches in many orders: a search that begins badly may never recover, so short
  // ones find plans that one long search misses.
  void TryAnew(const PackingProblem& problem) {
    work_left_ = kMaxWorkAnew;
    const int64_t work = 4 * problem.DescentWork();
    for (int order = kNumPackingOrders; !IsWanted() && work_left_ >= work; ++order) {
      SearchForWanted(problem, work, order);
    }
  }

  // Searches for the wanted size; if even that is proven infeasible, halves the remaining gap.
  void SearchForWanted(const PackingProblem& problem, int64_t work, int order) {
    const int64_t half = proven_bound_ + (best_.arena_size - proven_bound_) / 2;
    Search(problem, Wanted() >= proven_bound_ ? Wanted() : half, work, order);
  }

  // Searches at the proven bound and raises the bound, as often as `work` allows.
  void SearchAtBound(const PackingProblem& problem, int64_t work, int order) {
    for (const int64_t end = work_left_ - work; work_left_ > end && work_left_ > 0;) {
      const int64_t bound = proven_bound_;
      Search(problem, bound, work_left_ - end, order);
      if (proven_bound_ == bound || IsNear()) return;
    }
  }

  void Search(const PackingProblem& problem, int64_t capacity, int64_t max_work, int order) {
    Packing packing = problem.Search(
        {.capacity = capacity, .max_work = std::min(max_work, work_left_), .order = order});
    work_left_ -= packing.work;
    proven_bound_ = std::max(proven_bound_, packing.lower_bound);
    if (!packing.offsets.empty()) Consider(std::move(packing));
  }

  const absl::Span<const LiveRange> ranges_;
  MemoryPlan best_;
  int64_t proven_bound_;  // no plan is smaller
  int64_t work_left_ = 0;
};

}  // namespace

int64_t PlannedAlignment(int64_t bytes, int64_t element_bytes) {
  const auto part = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(bytes / 64)));
  return std::clamp(part, element_bytes, kArenaAlignment);
}

int64_t LowerBound(absl::Span<const LiveRange> ranges) {
  std::map<int, int64_t> change;
  for (const LiveRange& r : ranges) {
    change[r.first] += r.size;
    change[r.last + 1] -= r.size;
  }
  int64_t live = 0;
  int64_t peak = 0;
  for (const auto& [step, delta] : change) {
    live += delta;
    peak = std::max(peak, live);
  }
  return peak;
}

absl::StatusOr<MemoryPlan> PlanMemory(absl::Span<const LiveRange> ranges) {
  absl::Status status = CheckRanges(ranges);
  if (!status.ok()) return status;
  return Planner(ranges).Run();
}

absl::Status CheckMemoryPlan(absl::Span<const LiveRange> ranges, const MemoryPlan& plan) {
  if (plan.offsets.size() != ranges.size()) {
    return absl::InternalError(absl::StrCat("the plan has ", plan.offsets.size(), " offsets for ",
                                            ranges.size(), " ranges"));
  }
  for (size_t i = 0; i < ranges.size(); ++i) {
    if (plan.offsets[i] < 0 || plan.offsets[i] % ranges[i].alignment != 0 ||
        plan.offsets[i] + ranges[i].size > plan.arena_size) {
      return absl::InternalError(absl::StrCat("range ", i, " of ", ranges[i].size,
                                              " bytes at offset ", plan.offsets[i],
                                              " in an arena of ", plan.arena_size));
    }
  }
  // Replays time: the ranges that are live at a step, by offset, must not overlap.
  std::map<int, std::pair<std::vector<int>, std::vector<int>>> events;  // begins, ends
  for (size_t i = 0; i < ranges.size(); ++i) {
    if (ranges[i].size == 0) continue;
    events[ranges[i].first].first.push_back(static_cast<int>(i));
    events[ranges[i].last + 1].second.push_back(static_cast<int>(i));
  }
  std::map<int64_t, int> live;  // offset -> range
  for (const auto& [step, event] : events) {
    for (int i : event.second) live.erase(plan.offsets[i]);
    for (int i : event.first) {
      auto next = live.lower_bound(plan.offsets[i]);
      int clash = -1;
      if (next != live.end() && next->first < plan.offsets[i] + ranges[i].size) {
        clash = next->second;
      } else if (next != live.begin()) {
        --next;
        if (next->first + ranges[next->second].size > plan.offsets[i]) clash = next->second;
      }
      if (clash >= 0) {
        return absl::InternalError(
            absl::StrCat("ranges ", clash, " and ", i, " share memory at step ", step));
      }
      live[plan.offsets[i]] = i;
    }
  }
  return absl::OkStatus();
}

}  // namespace cooper
