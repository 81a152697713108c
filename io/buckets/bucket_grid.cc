#include "io/buckets/bucket_grid.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "io/buckets/bucket_boundaries.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

using Tuple = BucketKey::Tuple;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

void JoinTo(Tuple* join, const Tuple& extents) {
  for (size_t a = 0; a < extents.size(); ++a) (*join)[a] = std::max((*join)[a], extents[a]);
}

class Mover {
 public:
  Mover(const ExtentsCost& cost, const ExtentsKinds& kinds, const ExtentsGrid& grid,
        const ExtentsGrid& thin)
      : cost_(cost), kinds_(kinds), grid_(grid), thin_(thin) {}

  // Moves the bucket to its best place; returns false if it stays.
  bool Move(absl::Span<const Tuple> buckets, Tuple* bucket) {
    const std::vector<Tuple> places = PlacesAround(*bucket);
    double cheapest = cost_(*bucket);
    for (const Tuple& place : places) cheapest = std::min(cheapest, cost_(place));
    FindHeld(buckets, bucket, cheapest);
    const Tuple from = *bucket;
    double least = CostWith(from) * (1 - 1e-12);  // more than rounding
    for (const Tuple& place : places) {
      const double cost = CostWith(place);
      if (cost >= least) continue;
      least = cost;
      *bucket = place;
    }
    return *bucket != from;
  }

 private:
  // A group of samples that the bucket might hold, and the cost of one of them without the bucket.
  struct Held {
    const Tuple* extents;
    double count, other;
  };

  std::vector<Tuple> PlacesAround(const Tuple& bucket) const {
    std::vector<Tuple> places;
    for (size_t a = 0; a < grid_.size(); ++a) {
      const std::vector<int64_t>& values = grid_[a];
      const auto size = static_cast<int64_t>(values.size());
      const auto line = static_cast<int64_t>(values.size() / thin_[a].size());
      const int64_t at = std::lower_bound(values.begin(), values.end(), bucket[a]) - values.begin();
      for (int64_t distance = 1; distance <= 2 * line; distance *= 2) {
        for (const int64_t to : {at - distance, at + distance}) {
          if (to < 0 || to >= size) continue;
          places.push_back(bucket);
          places.back()[a] = values[to];
        }
      }
    }
    return places;
  }

  // Finds the groups that cost more than `cheapest` without the bucket; no move changes the others.
  void FindHeld(absl::Span<const Tuple> buckets, const Tuple* bucket, double cheapest) {
    std::vector<std::pair<double, const Tuple*>> others;
    for (const Tuple& other : buckets) {
      if (&other != bucket) others.emplace_back(cost_(other), &other);
    }
    std::sort(others.begin(), others.end());
    held_.clear();
    for (const ExtentsKind& kind : kinds_) {
      const auto other = std::find_if(others.begin(), others.end(), [&](const auto& candidate) {
        return Holds(*candidate.second, kind.extents);
      });
      const double cost = other == others.end() ? kInfinity : other->first;
      if (cost > cheapest) held_.push_back({&kind.extents, kind.count, cost});
    }
  }

  double CostWith(const Tuple& bucket) const {
    const double cost = cost_(bucket);
    double sum = 0;
    for (const Held& kind : held_) {
      sum += kind.count * (Holds(bucket, *kind.extents) ? std::min(cost, kind.other) : kind.other);
    }
    return sum;
  }

  const ExtentsCost& cost_;
  const ExtentsKinds& kinds_;
  const ExtentsGrid& grid_;
  const ExtentsGrid& thin_;
  std::vector<Held> held_;
};

}  // namespace

ExtentsKinds SortedKinds(const absl::flat_hash_map<Tuple, int64_t>& counts) {
  ExtentsKinds kinds;
  kinds.reserve(counts.size());
  for (const auto& [extents, count] : counts) {
    kinds.push_back({.extents = extents, .count = static_cast<double>(count)});
  }
  std::sort(kinds.begin(), kinds.end(),
            [](const ExtentsKind& a, const ExtentsKind& b) { return a.extents < b.extents; });
  return kinds;
}

bool Holds(const Tuple& bucket, const Tuple& extents) {
  for (size_t a = 0; a < bucket.size(); ++a) {
    if (extents[a] > bucket[a]) return false;
  }
  return true;
}

ExtentsGrid GridOf(const ExtentsKinds& kinds) {
  ExtentsGrid grid(kinds[0].extents.size());
  for (size_t a = 0; a < grid.size(); ++a) {
    for (const ExtentsKind& kind : kinds) grid[a].push_back(kind.extents[a]);
    std::sort(grid[a].begin(), grid[a].end());
    grid[a].erase(std::unique(grid[a].begin(), grid[a].end()), grid[a].end());
  }
  return grid;
}

double NumPoints(const ExtentsGrid& grid) {
  double points = 1;
  for (const std::vector<int64_t>& values : grid) points *= static_cast<double>(values.size());
  return points;
}

absl::StatusOr<ExtentsGrid> ThinGrid(const ExtentsKinds& kinds, const ExtentsGrid& grid,
                                     double max_points) {
  std::vector<size_t> by_size(grid.size());
  for (size_t a = 0; a < grid.size(); ++a) by_size[a] = a;
  std::sort(by_size.begin(), by_size.end(),
            [&](size_t a, size_t b) { return grid[a].size() < grid[b].size(); });
  ExtentsGrid thin(grid.size());
  for (size_t done = 0; done < grid.size(); ++done) {
    const size_t a = by_size[done];
    const double most = std::pow(max_points, 1.0 / static_cast<double>(grid.size() - done)) + 1e-9;
    std::vector<int64_t> lengths;
    for (const ExtentsKind& kind : kinds) {
      lengths.insert(lengths.end(), static_cast<size_t>(kind.count), kind.extents[a]);
    }
    COOPER_ASSIGN_OR_RETURN(
        BucketBoundaries best,
        ChooseBuckets(lengths, {.max_buckets = std::max(1, static_cast<int>(most))}));
    thin[a] = std::move(best.buckets);
    max_points /= static_cast<double>(thin[a].size());
  }
  return thin;
}

ExtentsKinds RoundUpTo(const ExtentsGrid& grid, const ExtentsKinds& kinds) {
  absl::flat_hash_map<Tuple, int64_t> rounded;
  for (const ExtentsKind& kind : kinds) {
    Tuple point = kind.extents;
    for (size_t a = 0; a < grid.size(); ++a) {
      point[a] = *std::lower_bound(grid[a].begin(), grid[a].end(), point[a]);
    }
    rounded[point] += static_cast<int64_t>(kind.count);
  }
  return SortedKinds(rounded);
}

absl::StatusOr<GridCandidates> CandidatesOf(const ExtentsCost& cost, const ExtentsKinds& kinds,
                                            const ExtentsGrid& grid) {
  GridCandidates result;
  BucketProblem& problem = result.problem;
  for (const ExtentsKind& kind : kinds) problem.counts.push_back(kind.count);
  std::vector<double> costs;  // by point, the last element changing fastest
  Tuple point(grid.size(), 0);
  std::vector<size_t> at(grid.size());
  const auto points = static_cast<size_t>(NumPoints(grid));
  for (size_t p = 0; p < points; ++p) {
    double below = 0;
    size_t stride = 1;
    for (size_t a = grid.size(); a-- > 0; stride *= grid[a].size()) {
      at[a] = p / stride % grid[a].size();
      point[a] = grid[a][at[a]];
      if (at[a] > 0) below = std::max(below, costs[p - stride]);
    }
    costs.push_back(cost(point));
    if (!std::isfinite(costs[p]) || costs[p] < below) {
      return absl::InvalidArgumentError(
          absl::StrCat("buckets: a step of ", BucketKey(point).ToString(), " costs ", costs[p],
                       below > 0 ? absl::StrCat(", one within it ", below) : "",
                       "; expected finite costs >= 0 that do not fall"));
    }
    std::vector<int> held;
    Tuple join(grid.size(), 0);
    for (size_t i = 0; i < kinds.size(); ++i) {
      if (!Holds(point, kinds[i].extents)) continue;
      held.push_back(static_cast<int>(i));
      JoinTo(&join, kinds[i].extents);
    }
    if (join != point) continue;  // a smaller one holds the same samples
    result.points.push_back(point);
    problem.costs.push_back(costs[p]);
    problem.held.push_back(std::move(held));
  }
  return result;
}

void MoveBuckets(const ExtentsCost& cost, const ExtentsKinds& kinds, const ExtentsGrid& grid,
                 const ExtentsGrid& thin, std::vector<Tuple>* buckets) {
  Mover mover(cost, kinds, grid, thin);
  bool any = true;
  for (int round = 0; any && round < 4; ++round) {
    any = false;
    for (Tuple& bucket : *buckets) any = mover.Move(*buckets, &bucket) || any;
  }
}

FilledBuckets ShrinkBuckets(const ExtentsCost& cost, const ExtentsKinds& kinds,
                            std::vector<Tuple> buckets) {
  FilledBuckets result;
  std::vector<Tuple> before;
  do {
    before = std::move(buckets);
    result = {};
    std::vector<double> costs(before.size());
    for (size_t b = 0; b < before.size(); ++b) costs[b] = cost(before[b]);
    std::map<size_t, ExtentsKind> joins;  // by bucket
    for (const ExtentsKind& kind : kinds) {
      size_t best = before.size();
      for (size_t b = 0; b < before.size(); ++b) {
        if (!Holds(before[b], kind.extents)) continue;
        if (best == before.size() || costs[b] < costs[best]) best = b;
      }
      ExtentsKind& join = joins[best];
      join.extents.resize(kind.extents.size());
      JoinTo(&join.extents, kind.extents);
      join.count += kind.count;
      result.cost += kind.count * costs[best];
    }
    std::map<Tuple, double> counts;
    for (const auto& [b, join] : joins) counts[join.extents] += join.count;
    buckets.clear();
    for (const auto& [bucket, count] : counts) {
      buckets.push_back(bucket);
      result.counts.push_back(count);
    }
  } while (buckets != before);
  result.buckets = std::move(buckets);
  return result;
}

FilledBuckets MergeSmallBuckets(const ExtentsCost& cost, const ExtentsKinds& kinds,
                                int64_t min_samples, FilledBuckets filled) {
  while (filled.buckets.size() > 1) {
    const auto smallest = std::min_element(filled.counts.begin(), filled.counts.end());
    if (*smallest >= static_cast<double>(min_samples)) break;
    const auto b = static_cast<size_t>(smallest - filled.counts.begin());
    FilledBuckets best;
    best.cost = kInfinity;
    for (size_t other = 0; other < filled.buckets.size(); ++other) {
      if (other == b) continue;
      std::vector<Tuple> united = filled.buckets;
      JoinTo(&united[other], united[b]);
      united.erase(united.begin() + static_cast<std::ptrdiff_t>(b));
      FilledBuckets choice = ShrinkBuckets(cost, kinds, std::move(united));
      if (best.buckets.empty() || choice.cost < best.cost) best = std::move(choice);
    }
    filled = std::move(best);
  }
  return filled;
}

}  // namespace cooper
