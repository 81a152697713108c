#ifndef COOPER_EXECUTOR_PLAN_PLACED_RANGES_H_
#define COOPER_EXECUTOR_PLAN_PLACED_RANGES_H_

// Finds the offset at which a range fits among the placed ranges of an arena.

#include <cstdint>
#include <vector>

namespace cooper {

// The placed ranges by offset, in chunks of neighbours. If all ranges of a chunk, or none of them,
// are live together with a new range, the chunk is treated as a whole. Programs have thousands of
// values, which are produced and used in the order of time, and neighbours mostly live at the same
// time. Placing n ranges takes O(n^2) time in the worst case and far less for programs. Not
// thread-safe.
class PlacedRanges {
 public:
  // Returns an offset for `size` > 0 bytes at a multiple of `alignment`: in the smallest gap
  // between the ranges that are live in some of the steps [first, last], the lowest of several
  // equal gaps; behind all those ranges if no gap suffices.
  int64_t FindPlace(int first, int last, int64_t size, int64_t alignment) const;

  // Adds bytes [begin, begin + size) over the steps [first, last].
  void Insert(int64_t begin, int64_t size, int first, int last);

 private:
  // A placed range: its bytes [begin, end) and steps [first, last].
  struct Placed {
    int64_t begin, end;
    int first, last;
  };
  // Neighbouring ranges with bounds of their bytes and steps.
  struct Chunk {
    explicit Chunk(std::vector<Placed> of);  // ordered by offset, not empty

    std::vector<Placed> ranges;
    int64_t begin = 0, end = 0;
    int64_t largest_gap = 0;  // between its own ranges
    int min_first = 0, max_first = 0, min_last = 0, max_last = 0;
  };

  std::vector<Chunk> chunks_;
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PLAN_PLACED_RANGES_H_
