#include "executor/plan/greedy_plans.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "executor/plan/placed_ranges.h"

namespace cooper {
namespace {

int64_t Rounded(int64_t bytes) { return AlignUp(bytes, kArenaAlignment); }

// Free blocks by offset, with neighbours merged. The end of the arena is open.
class FreeList {
 public:
  // Takes the smallest free block that fits; extends the arena if none does.
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
  // The parameters are values because the arguments may refer into the maps.
  void Erase(const int64_t offset, const int64_t size) {
    by_size_.erase({size, offset});
    by_offset_.erase(offset);
  }

  std::map<int64_t, int64_t> by_offset_;
  std::set<std::pair<int64_t, int64_t>> by_size_;
  int64_t end_ = 0;
};

// Minima over intervals of a list, by a sparse table with the minima of all intervals whose length
// is a power of 2.
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

  // Returns the minimum of numbers [begin, end), which must not be empty.
  int Of(int begin, int end) const {
    const int level = std::bit_width(static_cast<unsigned>(end - begin)) - 1;
    return std::min(table_[level][begin], table_[level][end - (1 << level)]);
  }

 private:
  std::vector<std::vector<int>> table_;
};

}  // namespace

GreedyPlan PlaceByTime(absl::Span<const LiveRange> ranges, bool backwards) {
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
  GreedyPlan plan;
  plan.offsets.resize(ranges.size(), 0);
  FreeList free;
  size_t ended = 0;
  for (int i : by_begin) {
    while (end(by_end[ended]) < begin(i)) {
      const int gone = by_end[ended++];
      if (ranges[gone].size > 0) free.Give(plan.offsets[gone], Rounded(ranges[gone].size));
    }
    if (ranges[i].size == 0) continue;
    plan.offsets[i] = free.Take(Rounded(ranges[i].size));
    plan.arena_size = std::max(plan.arena_size, plan.offsets[i] + ranges[i].size);
  }
  return plan;
}

GreedyPlan PlaceInOrder(absl::Span<const LiveRange> ranges, const std::vector<int>& order) {
  GreedyPlan plan;
  plan.offsets.resize(ranges.size(), 0);
  PlacedRanges placed;
  for (int i : order) {
    const LiveRange& r = ranges[i];
    if (r.size == 0) continue;
    plan.offsets[i] = placed.FindPlace(r.first, r.last, r.size, r.alignment);
    plan.arena_size = std::max(plan.arena_size, plan.offsets[i] + r.size);
    placed.Insert(plan.offsets[i], r.size, r.first, r.last);
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

std::vector<int> OrderByBreadth(absl::Span<const LiveRange> ranges) {
  const int n = static_cast<int>(ranges.size());
  // A step at which no range begins has no live range that the step before it does not have.
  std::vector<int> steps;
  for (const LiveRange& r : ranges) steps.push_back(r.first);
  std::sort(steps.begin(), steps.end());
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  const auto position = [&](int step) {  // of the first such step from this one on
    return static_cast<int>(std::lower_bound(steps.begin(), steps.end(), step) - steps.begin());
  };
  std::vector<int64_t> live(steps.size() + 1, 0);  // bytes
  for (const LiveRange& r : ranges) {
    live[position(r.first)] += r.size;
    live[position(r.last + 1)] -= r.size;
  }
  std::partial_sum(live.begin(), live.end(), live.begin());

  std::vector<int> by_breadth(steps.size());
  std::iota(by_breadth.begin(), by_breadth.end(), 0);
  std::stable_sort(by_breadth.begin(), by_breadth.end(),
                   [&](int a, int b) { return live[a] > live[b]; });
  std::vector<int> rank(steps.size());
  for (size_t i = 0; i < by_breadth.size(); ++i) rank[by_breadth[i]] = static_cast<int>(i);

  // A range is placed at the earliest turn of the steps at which it is live.
  const RangeMinimum ranks(std::move(rank));
  std::vector<int> turn(n);
  for (int i = 0; i < n; ++i) {
    turn[i] = ranks.Of(position(ranges[i].first), position(ranges[i].last + 1));
  }
  std::vector<int> order = OrderBy(ranges, [](const LiveRange& r) { return r.size; });
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return turn[a] < turn[b]; });
  return order;
}

}  // namespace cooper
