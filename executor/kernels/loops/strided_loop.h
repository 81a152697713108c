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
// elements between consecutive iterations. Strides may be negative; 0 repeats an element. Loops of
// one iteration are dropped, and a loop that continues its outer neighbour on both sides is merged
// with it, so (2, 3) contiguous elements make one loop of 6. Without loops there is one element. A
// small value without heap memory; copyable.
class StridedLoop {
 public:
  // The limit after adjacent loops have been merged where possible.
  static constexpr int kMaxRank = 16;

  // One loop. Its extent is at least 2. Strides are in elements.
  struct Level {
    int64_t extent;
    int64_t src_stride;
    int64_t dst_stride;
  };

  // Adds an innermost loop of `extent` iterations. Call it for the loops from the outermost inward.
  // An extent of 0 makes the whole nest empty. O(1).
  void Add(int64_t extent, int64_t src_stride, int64_t dst_stride);

  // The number of loops after merging, and loop i, outermost first.
  int rank() const { return rank_; }
  const Level& operator[](int i) const { return levels_[i]; }
  // Returns whether a loop has no iteration, so that there is nothing to copy.
  bool empty() const { return empty_; }
  // Returns whether more than kMaxRank loops were added; the further ones are missing, so the copy
  // functions fail with kUnimplemented.
  bool too_deep() const { return too_deep_; }

 private:
  Level levels_[kMaxRank] = {};
  int rank_ = 0;
  bool empty_ = false;
  bool too_deep_ = false;
};

// Returns the address of element `index` of an array, in row-major order. Only arithmetic, so the
// address may be that of device memory.
inline char* ElementAt(const ArrayView& view, int64_t index) {
  return static_cast<char*>(view.data) + index * SizeOf(view.dtype);
}

// Returns the distance in elements between consecutive indices of an axis, from 0 to rank - 1, in a
// dense row-major array: 12 for axis 0 of (2, 3, 4).
inline int64_t StrideOf(const Shape& shape, int axis) {
  return shape.Product(axis + 1, shape.rank());
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LOOPS_STRIDED_LOOP_H_
