#ifndef COOPER_EXECUTOR_KERNELS_LOOPS_ROW_PARTS_H_
#define COOPER_EXECUTOR_KERNELS_LOOPS_ROW_PARTS_H_

// Splits ranges of a flat array, which threads get, at the ends of rows.

#include <algorithm>
#include <cstdint>

namespace cooper {

// Calls fn(row, first, last) for each row that has elements in [begin, end) of a flat array, in
// order: the range has the elements [first, last) of that row. Rows have `row_size` elements.
//
//   ParallelFor(rows * row_size, kGrain, [&](int64_t begin, int64_t end) {
//     ForEachRowPart(begin, end, row_size, [&](int64_t row, int64_t first, int64_t last) { ... });
//   });
template <typename Fn>
void ForEachRowPart(int64_t begin, int64_t end, int64_t row_size, const Fn& fn) {
  while (begin < end) {
    const int64_t first = begin % row_size, last = std::min(row_size, first + end - begin);
    fn(begin / row_size, first, last);
    begin += last - first;
  }
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LOOPS_ROW_PARTS_H_
