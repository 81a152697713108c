#ifndef COOPER_NDARRAY_THREADS_ELEMENT_RANGES_H_
#define COOPER_NDARRAY_THREADS_ELEMENT_RANGES_H_

// Where the ranges begin that an element-wise loop gives to threads (parallel.h).

#include <algorithm>
#include <cstdint>

namespace cooper {

// Ranges of elements begin at multiples of this. A loop's last elements, which fill no vector, may
// be rounded differently (which product of two is fused with their sum): so they are the array's
// last ones for every number of threads. And no two threads write to one cache line.
inline constexpr int64_t kRangeUnit = 64;

// In units, the last of which may not be full.
constexpr int64_t NumRangeUnits(int64_t elements) {
  return (elements + kRangeUnit - 1) / kRangeUnit;
}

// Where part `part` of `parts` nearly equal ones of `elements` begins; `elements` for part `parts`.
constexpr int64_t RangeBegin(int64_t elements, int64_t part, int64_t parts) {
  return std::min(elements, NumRangeUnits(elements) * part / parts * kRangeUnit);
}

}  // namespace cooper

#endif  // COOPER_NDARRAY_THREADS_ELEMENT_RANGES_H_
