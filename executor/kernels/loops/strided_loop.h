#ifndef COOPER_EXECUTOR_KERNELS_LOOPS_STRIDED_LOOP_H_
#define COOPER_EXECUTOR_KERNELS_LOOPS_STRIDED_LOOP_H_

// A nest of loops over two arrays with different strides, the common form of transposing, slicing,
// concatenating, repeating and their gradients. Each device has a copy function over it:
// executor/kernels/loops/strided_copy.h, executor/kernels/loops/strided_copy_cuda.h.

#include <cstdint>

#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/shape.h"

namespace cooper {

// A nest of loops over a source and a destination, outermost first. A stride is the distance in
// elements between consecutive iterations. Strides may be negative; 0 repeats an element.
class StridedLoop {
 public:
  // The limit after adjacent loops have been merged where possible.
  static constexpr int kMaxRank = 16;

  struct Level {
    int64_t extent;
    int64_t src_stride;
    int64_t dst_stride;
  };

  // Adds an innermost loop.
  void Add(int64_t extent, int64_t src_stride, int64_t dst_stride);

  int rank() const { return rank_; }
  const Level& operator[](int i) const { return levels_[i]; }
  bool empty() const { return empty_; }
  // Returns whether more than kMaxRank loops were added.
  bool too_deep() const { return too_deep_; }

 private:
  Level levels_[kMaxRank] = {};
  int rank_ = 0;
  bool empty_ = false;
  bool too_deep_ = false;
};

// Returns the address of element `index` of an array.
inline char* ElementAt(const ArrayView& view, int64_t index) {
  return static_cast<char*>(view.data) + index * SizeOf(view.dtype);
}

// Returns the distance in elements between consecutive indices of an axis.
inline int64_t StrideOf(const Shape& shape, int axis) {
  return shape.Product(axis + 1, shape.rank());
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LOOPS_STRIDED_LOOP_H_
