#ifndef COOPER_EXECUTOR_PLAN_PLACED_RANGES_H_
#define COOPER_EXECUTOR_PLAN_PLACED_RANGES_H_

// Where a range fits among those that have a place in an arena already.

#include <cstdint>
#include <vector>

namespace cooper {

// Ranges by offset, in chunks of neighbours. Of a chunk of which all ranges are live together with
// a new one, or none, there is no need to look at each: programs have thousands of values that are
// made and used in the order of time, and neighbours are of one time mostly.
class PlacedRanges {
 public:
  // Where `size` bytes, which is positive, fit at a multiple of `alignment`: in the smallest gap
  // between the ranges that are live in some of the steps [first, last]; of several in the first.
  // Behind them if there is none.
  int64_t FindPlace(int first, int last, int64_t size, int64_t alignment) const;

  // Bytes [begin, begin + size) over the steps [first, last].
  void Insert(int64_t begin, int64_t size, int first, int last);

 private:
  struct Placed {
    int64_t begin, end;
    int first, last;
  };
  struct Chunk {
    explicit Chunk(std::vector<Placed> of);  // some, by offset

    std::vector<Placed> ranges;
    int64_t begin = 0, end = 0;
    int64_t largest_gap = 0;  // between its own ranges
    int min_first = 0, max_first = 0, min_last = 0, max_last = 0;
  };

  std::vector<Chunk> chunks_;
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PLAN_PLACED_RANGES_H_
