#ifndef COOPER_NDARRAY_THREADS_ELEMENT_RANGES_H_
#define COOPER_NDARRAY_THREADS_ELEMENT_RANGES_H_

// Computes the boundaries of the ranges that an element-wise loop assigns to threads (parallel.h).

#include <algorithm>
#include <cstdint>

namespace cooper {

// Ranges of elements begin at multiples of this unit. A loop's last elements, which fill no vector,
// may be rounded differently (the compiler may fuse another product and sum), so they are the last
// ones of the array for every number of threads. Also, no two threads write to one cache line.
inline constexpr int64_t kRangeUnit = 64;

// Returns the number of units, the last of which may be partial.
constexpr int64_t NumRangeUnits(int64_t elements) {
  return (elements + kRangeUnit - 1) / kRangeUnit;
}

// Returns the begin of part `part` of `parts` nearly equal parts of `elements`; `elements` if
// `part` is `parts`.
constexpr int64_t RangeBegin(int64_t elements, int64_t part, int64_t parts) {
  return std::min(elements, NumRangeUnits(elements) * part / parts * kRangeUnit);
}

}  // namespace cooper

#endif  // COOPER_NDARRAY_THREADS_ELEMENT_RANGES_H_
