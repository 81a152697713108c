// Computes a lower bound of the cost of any choice of buckets with several extents.
//
// For element a alone the problem is that of boundaries of one length: the buckets have at most k
// values of it, a sample goes to one that is not below its own, and its other elements are not
// padded. The optimum f_a(k) is found exactly, and no choice of k buckets costs less, since
// cost(bucket) >= cost(sample's extents with element a of the bucket).
//
// If the cost has increasing differences (a step along one element adds no less where another
// element is larger, as in sums and products), the contributions of the elements may be summed: for
// extents x in a bucket y, moving from x to y one element at a time,
//
//   cost(y) - cost(x) >= sum over a of (cost(x with y[a]) - cost(x)).
//
// So no choice costs less than the sum of f_a(k) minus (rank - 1) * cost of the samples without
// padding.

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "io/buckets/bucket_grid.h"

namespace cooper {
namespace {

using Tuple = BucketKey::Tuple;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// The maximum number of calls of the cost function: some hundredths of a second.
constexpr double kMaxCalls = 4e6;
// The decrease of differences that is attributed to rounding, relative to the largest cost of a
// sample.
constexpr double kRounding = 1e-9;

// The boundary problem of one element. The group of lines j ... i - 1 costs
//
//   w(j, i) = sum over their samples of cost(sample with line i - 1),
//
// for which w(a, c) + w(b, e) <= w(a, e) + w(b, c) for a <= b <= c <= e, since the cost does not
// fall: the samples of a ... b - 1 cost no less with line e - 1 than with c - 1. So the best
// beginning of the last group never moves back (bucket_boundaries.cc).
class AxisProblem {
 public:
  // A null `cost` is the sum of the extents, which needs no table.
  AxisProblem(const ExtentsCost& cost, const ExtentsKinds& kinds, const std::vector<int64_t>& lines,
              size_t axis)
      : lines_(lines), counts_(lines.size() + 1), rest_(lines.size() + 1) {
    std::vector<std::vector<const ExtentsKind*>> by_line(lines.size());
    for (const ExtentsKind& kind : kinds) {
      const auto line = std::lower_bound(lines.begin(), lines.end(), kind.extents[axis]);
      by_line[line - lines.begin()].push_back(&kind);
    }
    if (cost == nullptr) {
      SumUp(by_line, axis);
      return;
    }
    for (size_t i = 0; i < lines.size(); ++i) {
      table_.emplace_back(i + 2);
      for (size_t j = 0; j <= i; ++j) {
        double sum = 0;
        for (const ExtentsKind* kind : by_line[j]) {
          Tuple bucket = kind->extents;
          bucket[axis] = lines[i];
          sum += kind->count * cost(bucket);
        }
        table_[i][j + 1] = table_[i][j] + sum;
      }
    }
  }

  // Returns the least costs of all samples in at most 1, 2, ... groups.
  std::vector<double> MinCosts(int max_groups) {
    best_.assign(lines_.size() + 1, kInfinity);
    best_[0] = 0;
    std::vector<double> least;
    for (int k = 0; k < max_groups; ++k) {
      if (k < static_cast<int>(lines_.size())) {
        next_ = best_;  // a group may be empty
        Fill(1, last(), 0, last() - 1);
        best_.swap(next_);
      }
      least.push_back(best_.back());
    }
    return least;
  }

 private:
  int last() const { return static_cast<int>(lines_.size()); }

  void SumUp(const std::vector<std::vector<const ExtentsKind*>>& by_line, size_t axis) {
    for (size_t i = 0; i < by_line.size(); ++i) {
      counts_[i + 1] = counts_[i];
      rest_[i + 1] = rest_[i];
      for (const ExtentsKind* kind : by_line[i]) {
        counts_[i + 1] += kind->count;
        for (size_t a = 0; a < kind->extents.size(); ++a) {
          if (a != axis) rest_[i + 1] += kind->count * static_cast<double>(kind->extents[a]);
        }
      }
    }
  }

  double Cost(int j, int i) const {
    if (!table_.empty()) return table_[i - 1][i] - table_[i - 1][j];
    return rest_[i] - rest_[j] + (counts_[i] - counts_[j]) * static_cast<double>(lines_[i - 1]);
  }

  // Computes the costs for i in [first, end], where the last group begins in [from, to].
  void Fill(int first, int end, int from, int to) {
    if (first > end) return;
    const int i = first + (end - first) / 2;
    int beginning = from;
    double least = kInfinity;
    for (int j = from; j <= std::min(to, i - 1); ++j) {
      const double cost = best_[j] + Cost(j, i);
      if (cost >= least) continue;
      least = cost;
      beginning = j;
    }
    next_[i] = std::min(next_[i], least);
    Fill(first, i - 1, from, beginning);
    Fill(i + 1, end, beginning, to);
  }

  const std::vector<int64_t>& lines_;
  // For the sum of extents: the number of samples below line i, and the sum of their other extents.
  std::vector<double> counts_, rest_;
  std::vector<std::vector<double>> table_;  // other costs: by line, of samples below line j
  std::vector<double> best_, next_;
};

Tuple At(const ExtentsGrid& grid, const std::vector<size_t>& point) {
  Tuple extents(grid.size());
  for (size_t a = 0; a < grid.size(); ++a) extents[a] = grid[a][point[a]];
  return extents;
}

// Returns whether no step along two lines adds less than the steps along each, up to `tolerance`.
bool HasIncreasingDifferences(const ExtentsCost& cost, const ExtentsGrid& grid, double tolerance) {
  std::vector<size_t> point(grid.size());
  while (true) {
    Tuple extents = At(grid, point);
    const double here = cost(extents);
    for (size_t a = 0; a < grid.size(); ++a) {
      if (point[a] + 1 == grid[a].size()) continue;
      for (size_t b = a + 1; b < grid.size(); ++b) {
        if (point[b] + 1 == grid[b].size()) continue;
        Tuple along_a = extents, along_b = extents;
        along_a[a] = grid[a][point[a] + 1];
        along_b[b] = grid[b][point[b] + 1];
        Tuple both = along_a;
        both[b] = along_b[b];
        if (cost(both) - cost(along_a) - cost(along_b) + here < -tolerance) return false;
      }
    }
    size_t a = 0;  // the next point
    while (a < grid.size() && ++point[a] == grid[a].size()) point[a++] = 0;
    if (a == grid.size()) return true;
  }
}

Tuple Largest(const ExtentsGrid& grid) {
  Tuple extents;
  for (const std::vector<int64_t>& lines : grid) extents.push_back(lines.back());
  return extents;
}

}  // namespace

double CostLowerBound(const ExtentsCost& cost, const ExtentsKinds& kinds, const ExtentsGrid& grid,
                      int max_buckets, double bucket_cost) {
  // More buckets save nothing.
  max_buckets = static_cast<int>(std::min<size_t>(max_buckets, kinds.size()));
  const auto rank = static_cast<double>(grid.size());
  double own = 0, samples = 0, calls = 0;
  for (const ExtentsKind& kind : kinds) {
    samples += kind.count;
    double of_one = 0;
    for (const int64_t extent : kind.extents) of_one += static_cast<double>(extent);
    own += kind.count * (cost == nullptr ? of_one : cost(kind.extents));
  }
  for (const std::vector<int64_t>& lines : grid) {
    calls += static_cast<double>(lines.size()) * static_cast<double>(kinds.size());
  }
  const bool is_sum = cost == nullptr;
  if (!is_sum && calls > kMaxCalls) return own + bucket_cost;
  bool adds_up = is_sum;
  double slack = 0;
  if (!is_sum && NumPoints(grid) * 2 * rank * rank <= kMaxCalls) {
    const double largest = cost(Largest(grid));
    adds_up = HasIncreasingDifferences(cost, grid, kRounding * largest / NumPoints(grid));
    // The sum of the tolerance over all steps from a sample to its bucket.
    if (adds_up) slack = kRounding * largest * samples;
  }
  std::vector<double> least(static_cast<size_t>(max_buckets),
                            adds_up ? -(rank - 1) * own - slack : 0);
  for (size_t a = 0; a < grid.size(); ++a) {
    const std::vector<double> of_axis = AxisProblem(cost, kinds, grid[a], a).MinCosts(max_buckets);
    for (size_t k = 0; k < least.size(); ++k) {
      least[k] = adds_up ? least[k] + of_axis[k] : std::max(least[k], of_axis[k]);
    }
  }
  double bound = kInfinity;
  for (size_t k = 0; k < least.size(); ++k) {
    bound = std::min(bound, std::max(own, least[k]) + bucket_cost * static_cast<double>(k + 1));
  }
  return bound;
}

}  // namespace cooper
