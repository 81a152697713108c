#ifndef COOPER_EXECUTOR_CPU_SHAPE_STRIDED_COPY_H_
#define COOPER_EXECUTOR_CPU_SHAPE_STRIDED_COPY_H_

// Copies elements between two arrays that are walked with strides of their own: what transposing,
// slicing, concatenating, repeating and their gradients come down to. Nothing is allocated.

#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernel.h"

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

// dst = src, or dst += src with kAdd, for every element of `loop`; kNull does nothing. `src` and
// `dst` are the elements at which the loop begins; the two must not overlap. With kAdd a
// destination stride may be 0: the elements are then summed, in the order of the loop.
//
// kUnimplemented if the loop is too deep.
absl::Status StridedCopy(const StridedLoop& loop, DType dtype, WriteReq req, const void* src,
                         void* dst);

// The address of an element, counted from the beginning of an array.
inline char* ElementAt(const ArrayView& view, int64_t index) {
  return static_cast<char*>(view.data) + index * SizeOf(view.dtype);
}

// Elements from one index of an axis to the next.
inline int64_t StrideOf(const Shape& shape, int axis) {
  return shape.Product(axis + 1, shape.rank());
}

// dst = src or dst += src for arrays of one size and dtype, which may be the same array.
absl::Status CopyElements(const ArrayView& src, WriteReq req, const ArrayView& dst);

// Zeroes what kWrite is about to write parts of, or sums of. Nothing for other requests.
void ZeroIfWrite(WriteReq req, const ArrayView& dst);

// What a kernel does for an output of which it has written parts: adding, since ZeroIfWrite came
// first, except that kNull stays.
inline WriteReq AddUnlessNull(WriteReq req) {
  return req == WriteReq::kNull ? WriteReq::kNull : WriteReq::kAdd;
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_CPU_SHAPE_STRIDED_COPY_H_
