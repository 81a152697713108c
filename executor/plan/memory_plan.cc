#include "executor/plan/memory_plan.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "executor/plan/placed_ranges.h"

namespace cooper {
namespace {

int64_t Align(int64_t bytes) {
  return (bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
}

absl::Status CheckRanges(absl::Span<const LiveRange> ranges) {
  for (size_t i = 0; i < ranges.size(); ++i) {
    const LiveRange& r = ranges[i];
    if (r.size < 0 || r.first < 0 || r.last < r.first) {
      return absl::InvalidArgumentError(
          absl::StrCat("range ", i, ": size ", r.size, ", steps [", r.first, ", ", r.last, "]"));
    }
  }
  return absl::OkStatus();
}

// Free space by offset, with neighbours merged. The end of the arena is open.
class FreeList {
 public:
  // The smallest free block that fits; at the end if none does.
  int64_t Take(int64_t size) {
    auto best = by_size_.lower_bound({size, 0});
    if (best != by_size_.end()) {
      const auto [block, offset] = *best;
      Erase(offset, block);
      if (block > size) Insert(offset + size, block - size);
      return offset;
    }
    // A free block at the very end can be extended.
    int64_t offset = end_;
    if (!by_offset_.empty()) {
      const auto& [start, block] = *by_offset_.rbegin();
      if (start + block == end_) {
        offset = start;
        Erase(start, block);
      }
    }
    end_ = offset + size;
    return offset;
  }

  void Give(int64_t offset, int64_t size) {
    auto next = by_offset_.lower_bound(offset);
    if (next != by_offset_.end() && offset + size == next->first) {
      size += next->second;
      Erase(next->first, next->second);
    }
    auto before = by_offset_.lower_bound(offset);
    if (before != by_offset_.begin()) {
      --before;
      if (before->first + before->second == offset) {
        offset = before->first;
        size += before->second;
        Erase(before->first, before->second);
      }
    }
    Insert(offset, size);
  }

  int64_t end() const { return end_; }

 private:
  void Insert(int64_t offset, int64_t size) {
    by_offset_[offset] = size;
    by_size_.insert({size, offset});
  }
  // By value: the arguments may refer into the maps.
  void Erase(const int64_t offset, const int64_t size) {
    by_size_.erase({size, offset});
    by_offset_.erase(offset);
  }

  std::map<int64_t, int64_t> by_offset_;
  std::set<std::pair<int64_t, int64_t>> by_size_;
  int64_t end_ = 0;
};

// Places ranges as they begin, larger ones of a step first, and frees them as they end. Backwards
// in time it is the same problem, with other choices. O(n log n).
MemoryPlan PlaceByTime(absl::Span<const LiveRange> ranges, bool backwards) {
  auto begin = [&](int i) { return backwards ? -ranges[i].last : ranges[i].first; };
  auto end = [&](int i) { return backwards ? -ranges[i].first : ranges[i].last; };
  std::vector<int> by_begin(ranges.size());
  std::iota(by_begin.begin(), by_begin.end(), 0);
  std::vector<int> by_end = by_begin;
  std::sort(by_begin.begin(), by_begin.end(), [&](int a, int b) {
    if (begin(a) != begin(b)) return begin(a) < begin(b);
    if (ranges[a].size != ranges[b].size) return ranges[a].size > ranges[b].size;
    return a < b;
  });
  std::sort(by_end.begin(), by_end.end(),
            [&](int a, int b) { return end(a) != end(b) ? end(a) < end(b) : a < b; });
  MemoryPlan plan;
  plan.offsets.resize(ranges.size(), 0);
  FreeList free;
  size_t ended = 0;
  for (int i : by_begin) {
    while (end(by_end[ended]) < begin(i)) {
      const int gone = by_end[ended++];
      if (ranges[gone].size > 0) free.Give(plan.offsets[gone], Align(ranges[gone].size));
    }
    if (ranges[i].size > 0) plan.offsets[i] = free.Take(Align(ranges[i].size));
  }
  plan.arena_size = free.end();
  return plan;
}

// Minima of runs of numbers, by a sparse table: the minima of all runs whose length is a power
// of 2.
class RangeMinimum {
 public:
  explicit RangeMinimum(std::vector<int> numbers) : table_({std::move(numbers)}) {
    for (size_t width = 1; 2 * width <= table_[0].size(); width *= 2) {
      const std::vector<int>& half = table_.back();
      std::vector<int> row(half.size() - width);
      for (size_t i = 0; i < row.size(); ++i) row[i] = std::min(half[i], half[i + width]);
      table_.push_back(std::move(row));
    }
  }

  // Of numbers [begin, end), which are some.
  int Of(int begin, int end) const {
    const int level = std::bit_width(static_cast<unsigned>(end - begin)) - 1;
    return std::min(table_[level][begin], table_[level][end - (1 << level)]);
  }

 private:
  std::vector<std::vector<int>> table_;
};

// Places ranges in the given order, each into the smallest gap between those already placed that
// are live at the same time.
MemoryPlan PlaceInOrder(absl::Span<const LiveRange> ranges, const std::vector<int>& order) {
  MemoryPlan plan;
  plan.offsets.resize(ranges.size(), 0);
  PlacedRanges placed;
  for (int i : order) {
    const LiveRange& r = ranges[i];
    const int64_t size = Align(r.size);
    if (size == 0) continue;
    plan.offsets[i] = placed.FindPlace(r.first, r.last, size);
    plan.arena_size = std::max(plan.arena_size, plan.offsets[i] + size);
    placed.Insert(plan.offsets[i], size, r.first, r.last);
  }
  return plan;
}

std::vector<int> OrderBy(absl::Span<const LiveRange> ranges, int64_t (*weight)(const LiveRange&)) {
  std::vector<int> order(ranges.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return weight(ranges[a]) > weight(ranges[b]); });
  return order;
}

// The ranges of the step at which most is live, then those of the next one, and so on; those of a
// step by falling size ("greedy by breadth"). O(n log n).
std::vector<int> OrderByBreadth(absl::Span<const LiveRange> ranges) {
  const int n = static_cast<int>(ranges.size());
  // Steps at which no range begins have nothing that the one before has not.
  std::vector<int> steps;
  for (const LiveRange& r : ranges) steps.push_back(r.first);
  std::sort(steps.begin(), steps.end());
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  const auto position = [&](int step) {  // of the first such step from this one on
    return static_cast<int>(std::lower_bound(steps.begin(), steps.end(), step) - steps.begin());
  };
  std::vector<int64_t> live(steps.size() + 1, 0);  // bytes
  for (const LiveRange& r : ranges) {
    live[position(r.first)] += Align(r.size);
    live[position(r.last + 1)] -= Align(r.size);
  }
  std::partial_sum(live.begin(), live.end(), live.begin());

  std::vector<int> by_breadth(steps.size());
  std::iota(by_breadth.begin(), by_breadth.end(), 0);
  std::stable_sort(by_breadth.begin(), by_breadth.end(),
                   [&](int a, int b) { return live[a] > live[b]; });
  std::vector<int> rank(steps.size());
  for (size_t i = 0; i < by_breadth.size(); ++i) rank[by_breadth[i]] = static_cast<int>(i);

  // A range is taken with the first of its steps.
  const RangeMinimum ranks(std::move(rank));
  std::vector<int> turn(n);
  for (int i = 0; i < n; ++i) {
    turn[i] = ranks.Of(position(ranges[i].first), position(ranges[i].last + 1));
  }
  std::vector<int> order = OrderBy(ranges, [](const LiveRange& r) { return r.size; });
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return turn[a] < turn[b]; });
  return order;
}

}  // namespace

int64_t LowerBound(absl::Span<const LiveRange> ranges) {
  std::map<int, int64_t> change;
  for (const LiveRange& r : ranges) {
    change[r.first] += Align(r.size);
    change[r.last + 1] -= Align(r.size);
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
  const int64_t lower_bound = LowerBound(ranges);
  MemoryPlan best;
  best.arena_size = std::numeric_limits<int64_t>::max();
  auto consider = [&](MemoryPlan plan) {
    plan.lower_bound = lower_bound;
    if (plan.arena_size < best.arena_size) best = std::move(plan);
    return best.arena_size == lower_bound;
  };
  if (consider(PlaceByTime(ranges, /*backwards=*/false))) return best;
  if (consider(PlaceByTime(ranges, /*backwards=*/true))) return best;
  // The slower ways are worth their time only while there is a gap that matters.
  const auto is_near = [&] { return best.arena_size - lower_bound <= lower_bound / 1000; };
  if (is_near()) return best;
  consider(PlaceInOrder(ranges, OrderByBreadth(ranges)));
  for (int64_t (*weight)(const LiveRange&) :
       {+[](const LiveRange& r) { return r.size; },
        +[](const LiveRange& r) { return static_cast<int64_t>(r.last - r.first); },
        +[](const LiveRange& r) { return r.size / 64 * (r.last - r.first + 1); }}) {
    if (is_near()) return best;
    consider(PlaceInOrder(ranges, OrderBy(ranges, weight)));
  }
  return best;
}

absl::Status CheckMemoryPlan(absl::Span<const LiveRange> ranges, const MemoryPlan& plan) {
  if (plan.offsets.size() != ranges.size()) {
    return absl::InternalError(absl::StrCat("the plan has ", plan.offsets.size(), " offsets for ",
                                            ranges.size(), " ranges"));
  }
  for (size_t i = 0; i < ranges.size(); ++i) {
    if (plan.offsets[i] < 0 || plan.offsets[i] % kArenaAlignment != 0 ||
        plan.offsets[i] + ranges[i].size > plan.arena_size) {
      return absl::InternalError(absl::StrCat("range ", i, " of ", ranges[i].size,
                                              " bytes at offset ", plan.offsets[i],
                                              " in an arena of ", plan.arena_size));
    }
  }
  // Replays time: at each step the live ranges, by offset, must not touch.
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
