#include "executor/plan/placed_ranges.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "executor/plan/live_range.h"

namespace cooper {
namespace {

constexpr size_t kMaxChunk = 64;

// Finds the smallest sufficient gap between intervals passed in the order of their offsets.
class BestGap {
 public:
  BestGap(int64_t size, int64_t alignment) : size_(size), alignment_(alignment) {}

  // Adds the next interval of used bytes. It may overlap the ones before it.
  void Pass(int64_t begin, int64_t end) {
    const int64_t place = AlignUp(end_, alignment_);
    const int64_t gap = begin - place;
    if (gap >= size_ && gap < best_gap_) {
      best_gap_ = gap;
      best_ = place;
    }
    end_ = std::max(end_, end);
  }

  int64_t place() const { return best_ >= 0 ? best_ : AlignUp(end_, alignment_); }

 private:
  const int64_t size_;
  const int64_t alignment_;
  int64_t end_ = 0;
  int64_t best_ = -1;
  int64_t best_gap_ = std::numeric_limits<int64_t>::max();
};

}  // namespace

PlacedRanges::Chunk::Chunk(std::vector<Placed> of)
    : ranges(std::move(of)),
      begin(ranges[0].begin),
      end(ranges[0].end),
      min_first(ranges[0].first),
      max_first(ranges[0].first),
      min_last(ranges[0].last),
      max_last(ranges[0].last) {
  for (const Placed& r : ranges) {
    largest_gap = std::max(largest_gap, r.begin - end);
    end = std::max(end, r.end);
    min_first = std::min(min_first, r.first);
    max_first = std::max(max_first, r.first);
    min_last = std::min(min_last, r.last);
    max_last = std::max(max_last, r.last);
  }
}

int64_t PlacedRanges::FindPlace(int first, int last, int64_t size, int64_t alignment) const {
  BestGap best(size, alignment);
  for (const Chunk& chunk : chunks_) {
    if (chunk.max_last < first || chunk.min_first > last) continue;
    if (chunk.min_last >= first && chunk.max_first <= last && chunk.largest_gap < size) {
      best.Pass(chunk.begin, chunk.end);
      continue;
    }
    for (const Placed& r : chunk.ranges) {
      if (r.last >= first && r.first <= last) best.Pass(r.begin, r.end);
    }
  }
  return best.place();
}

void PlacedRanges::Insert(int64_t begin, int64_t size, int first, int last) {
  const Placed placed{.begin = begin, .end = begin + size, .first = first, .last = last};
  if (chunks_.empty()) {
    chunks_.push_back(Chunk({placed}));
    return;
  }
  auto chunk = std::upper_bound(chunks_.begin(), chunks_.end(), begin,
                                [](int64_t at, const Chunk& c) { return at < c.begin; });
  if (chunk != chunks_.begin()) --chunk;
  std::vector<Placed> ranges = std::move(chunk->ranges);
  ranges.insert(std::upper_bound(ranges.begin(), ranges.end(), begin,
                                 [](int64_t at, const Placed& r) { return at < r.begin; }),
                placed);
  if (ranges.size() <= kMaxChunk) {
    *chunk = Chunk(std::move(ranges));
    return;
  }
  const auto half = ranges.begin() + static_cast<int64_t>(ranges.size() / 2);
  *chunk = Chunk({ranges.begin(), half});
  chunks_.insert(chunk + 1, Chunk({half, ranges.end()}));
}

}  // namespace cooper
