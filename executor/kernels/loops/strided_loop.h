#ifndef COOPER_EXECUTOR_KERNELS_LOOPS_STRIDED_LOOP_H_
#define COOPER_EXECUTOR_KERNELS_LOOPS_STRIDED_LOOP_H_

// Walks through two arrays with strides of their own: what transposing, slicing, concatenating,
// repeating and their gradients come down to, on every device. Each device has its own copy over
// such a loop: executor/kernels/loops/strided_copy.h, executor/kernels/loops/strided_copy_cuda.h.

#include <cstdint>

#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/shape.h"

namespace cooper {

// A nest of loops over a source and a destination, outermost first. Strides are elements from one
// iteration to the next; they may be negative, and 0 repeats an element.
class StridedLoop {
 public:
  // After neighbouring loops that form one have been merged.
  static constexpr int kMaxRank = 16;

  struct Level {
    int64_t extent;
    int64_t src_stride;
    int64_t dst_stride;
  };

  // Adds a loop inside of those that there are.
  void Add(int64_t extent, int64_t src_stride, int64_t dst_stride);

  int rank() const { return rank_; }
  const Level& operator[](int i) const { return levels_[i]; }
  bool empty() const { return empty_; }
  // More than kMaxRank loops were added.
  bool too_deep() const { return too_deep_; }

 private:
  Level levels_[kMaxRank] = {};
  int rank_ = 0;
  bool empty_ = false;
  bool too_deep_ = false;
};

// The address of an element, counted from the beginning of an array.
inline char* ElementAt(const ArrayView& view, int64_t index) {
  return static_cast<char*>(view.data) + index * SizeOf(view.dtype);
}

// Elements from one index of an axis to the next.
inline int64_t StrideOf(const Shape& shape, int axis) {
  return shape.Product(axis + 1, shape.rank());
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LOOPS_STRIDED_LOOP_H_
