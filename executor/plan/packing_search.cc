#include "executor/plan/packing_search.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <unordered_set>
#include <utility>

namespace cooper {
namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

// Work of a range at a node of the search, in addition to the work of its sections.
constexpr int64_t kWorkOfRange = 20;

using Item = PackingProblem::Item;

// A range that is not placed yet, and the lowest offset that it may get.
struct Open {
  int item = 0;
  int64_t offset = 0;
};

uint64_t Mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

class Search {
 public:
  Search(const PackingProblem& problem, const PackingOptions& options)
      : items_(problem.items()),
        options_(options),
        num_sections_(problem.num_sections()),
        tops_(problem.num_sections()) {
    MakeRanks();
    packing_.offsets.resize(problem.num_ranges(), 0);
  }

  Packing Run() {
    std::vector<Open> open(items_.size());
    for (size_t i = 0; i < open.size(); ++i) open[i].item = static_cast<int>(i);
    const bool found = SolveParts(std::move(open));
    packing_.work = work_;
    if (!found) packing_.offsets.clear();
    if (!found && !gave_up_) packing_.lower_bound = min_excess_;
    for (const Item& item : items_) {
      if (!found) break;
      packing_.arena_size = std::max(packing_.arena_size, packing_.offsets[item.range] + item.size);
    }
    return std::move(packing_);
  }

 private:
  // Ranks the items: the item with the lowest rank is tried first among those at one offset.
  void MakeRanks() {
    std::vector<int64_t> total(num_sections_, 0);
    for (const Item& item : items_) {
      for (int s = item.begin; s < item.end; ++s) total[s] += item.size;
    }
    std::vector<std::pair<double, double>> weights;
    for (const Item& item : items_) {
      const double width = item.end - item.begin;
      const double size = static_cast<double>(item.size);
      const double fullest = static_cast<double>(
          *std::max_element(total.begin() + item.begin, total.begin() + item.end));
      switch (options_.order % kNumPackingOrders) {
        case 0:
          weights.push_back({width, size});
          break;
        case 1:
          weights.push_back({fullest, size * width});
          break;
        case 2:
          weights.push_back({size * width, size});
          break;
        default:
          weights.push_back({size, width});
      }
    }
    if (options_.order >= kNumPackingOrders) {
      for (size_t i = 0; i < weights.size(); ++i) {
        const uint64_t random = Mix(Mix(static_cast<uint64_t>(options_.order)) + i);
        weights[i].first *= 1 + static_cast<double>(random >> 11) * 0x1p-53;
      }
    }
    std::vector<int> order(items_.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return weights[a] > weights[b]; });
    ranks_.resize(items_.size());
    for (size_t i = 0; i < order.size(); ++i) ranks_[order[i]] = static_cast<int>(i);
  }

  // Splits the problem at sections that no open range crosses and solves the parts one by one, the
  // smallest first. Stops at the first part that has no solution.
  bool SolveParts(std::vector<Open> open) {
    std::vector<std::pair<size_t, size_t>> parts;
    int end = -1;
    for (size_t i = 0; i < open.size(); ++i) {
      const Item& item = items_[open[i].item];
      if (item.begin >= end) parts.push_back({i, i});
      end = std::max(end, item.end);
      parts.back().second = i + 1;
    }
    if (parts.size() == 1) return Solve(open);
    std::stable_sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) {
      return a.second - a.first < b.second - b.first;
    });
    for (const auto& [first, last] : parts) {
      if (!Solve({open.begin() + first, open.begin() + last})) return false;
    }
    return true;
  }

  bool Solve(const std::vector<Open>& open) {
    if (open.empty()) return true;
    std::vector<Open> turns = open;
    std::sort(turns.begin(), turns.end(), [&](const Open& a, const Open& b) {
      return a.offset != b.offset ? a.offset < b.offset : ranks_[a.item] < ranks_[b.item];
    });
    if (!MayFit(turns)) return false;
    const uint64_t state = StateOf(open);
    if (failed_.contains(state)) return false;

    // An item at or above the lowest reachable top would leave room below it for the item with that
    // top.
    int64_t lowest_top = kNever;
    for (const Open& o : turns) {
      lowest_top = std::min(lowest_top, o.offset + items_[o.item].size);
    }
    for (size_t k = 0; k < turns.size() && turns[k].offset < lowest_top; ++k) {
      if (HasTwinBefore(turns, k)) continue;
      const auto [placed, offset] = turns[k];
      const Item& item = items_[placed];
      const int64_t top = offset + item.size;
      std::vector<Open> rest;
      rest.reserve(open.size() - 1);
      for (const Open& o : open) {
        if (o.item == placed) continue;
        const Item& other = items_[o.item];
        const bool together = other.begin < item.end && item.begin < other.end;
        const int64_t least = std::max(o.offset, together ? top : offset);
        rest.push_back({o.item, AlignUp(least, other.alignment)});
      }
      if (SolveParts(std::move(rest))) {
        packing_.offsets[item.range] = offset;
        return true;
      }
      if (gave_up_) return false;
    }
    failed_.insert(state);
    return false;
  }

  // Returns whether the capacity suffices in every section for its open items, each at its lowest
  // offset or above. `turns` is sorted by offset.
  bool MayFit(const std::vector<Open>& turns) {
    int begin = num_sections_, end = 0;
    for (const Open& o : turns) {
      begin = std::min(begin, items_[o.item].begin);
      end = std::max(end, items_[o.item].end);
    }
    std::fill(tops_.begin() + begin, tops_.begin() + end, 0);
    work_ += end - begin + kWorkOfRange * static_cast<int64_t>(turns.size());
    int64_t highest = 0;
    for (const Open& o : turns) {
      const Item& item = items_[o.item];
      for (int s = item.begin; s < item.end; ++s) {
        tops_[s] = std::max(tops_[s], o.offset) + item.size;
        highest = std::max(highest, tops_[s]);
      }
      work_ += item.end - item.begin;
    }
    if (work_ > options_.max_work) {
      gave_up_ = true;
      return false;
    }
    if (highest <= options_.capacity) return true;
    min_excess_ = std::min(min_excess_, highest);
    return false;
  }

  // Returns whether an item equal to turns[k] was tried before it at the same offset.
  bool HasTwinBefore(const std::vector<Open>& turns, size_t k) const {
    const Item& a = items_[turns[k].item];
    for (size_t i = k; i-- > 0 && turns[i].offset == turns[k].offset;) {
      const Item& b = items_[turns[i].item];
      if (a.size == b.size && a.begin == b.begin && a.end == b.end && a.alignment == b.alignment) {
        return true;
      }
    }
    return false;
  }

  // Returns a hash of the open items and their lowest offsets, on which alone the rest of the
  // search depends. Two states are confused only if their 64-bit hashes collide.
  uint64_t StateOf(const std::vector<Open>& open) const {
    uint64_t state = 0;
    for (const Open& o : open) {
      state += Mix(Mix(static_cast<uint64_t>(o.item) + 1) ^ static_cast<uint64_t>(o.offset));
    }
    return state;
  }

  const std::vector<Item>& items_;
  const PackingOptions options_;
  const int num_sections_;
  std::vector<int> ranks_;     // by item
  std::vector<int64_t> tops_;  // by section, of MayFit
  std::unordered_set<uint64_t> failed_;
  int64_t work_ = 0;
  bool gave_up_ = false;
  // The smallest arena for which one of the pruned branches would have continued.
  int64_t min_excess_ = kNever;
  Packing packing_;
};

}  // namespace

PackingProblem::PackingProblem(absl::Span<const LiveRange> ranges) : num_ranges_(ranges.size()) {
  for (size_t i = 0; i < ranges.size(); ++i) {
    if (ranges[i].size == 0) continue;
    items_.push_back(
        {.range = static_cast<int>(i), .size = ranges[i].size, .alignment = ranges[i].alignment});
  }
  // A section ends at the first end of a range after new ranges have begun: there the live set is
  // maximal.
  std::vector<int> begins, ends;
  for (const Item& item : items_) {
    begins.push_back(ranges[item.range].first);
    ends.push_back(ranges[item.range].last);
  }
  std::sort(begins.begin(), begins.end());
  std::sort(ends.begin(), ends.end());
  std::vector<int> sections;  // the last step of each
  for (size_t b = 0, e = 0; e < ends.size(); ++e) {
    if (b == begins.size() || begins[b] > ends[e]) continue;
    while (b < begins.size() && begins[b] <= ends[e]) ++b;
    sections.push_back(ends[e]);
  }
  const auto first_from = [&](int step) {
    return static_cast<int>(std::lower_bound(sections.begin(), sections.end(), step) -
                            sections.begin());
  };
  for (Item& item : items_) {
    const LiveRange& r = ranges[item.range];
    item.begin = first_from(r.first);
    item.end = static_cast<int>(std::upper_bound(sections.begin(), sections.end(), r.last) -
                                sections.begin());
  }
  std::stable_sort(items_.begin(), items_.end(),
                   [](const Item& a, const Item& b) { return a.begin < b.begin; });
  num_sections_ = static_cast<int>(sections.size());
}

int64_t PackingProblem::DescentWork() const {
  int64_t work = 0;
  for (const Item& item : items_) work += kWorkOfRange + item.end - item.begin;
  // On average half of the items are open at a node of the search.
  return work * static_cast<int64_t>(items_.size()) / 2 + num_sections_;
}

Packing PackingProblem::Search(const PackingOptions& options) const {
  return cooper::Search(*this, options).Run();
}

}  // namespace cooper
