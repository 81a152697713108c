#ifndef COOPER_EXECUTOR_KERNELS_LOSS_FC_SOFTMAX_SLICES_H_
#define COOPER_EXECUTOR_KERNELS_LOSS_FC_SOFTMAX_SLICES_H_

// Splits the classes of a classifier among threads. A thread that has the same classes in every
// product and loop finds its scores and its rows of the weight and of the gradient in its own
// cache; threads exchange only one or two numbers for each row, and sums of data gradients.

#include <algorithm>
#include <cstdint>
#include <memory>

#include "absl/functional/function_ref.h"
#include "executor/kernels/loops/padded_stride.h"
#include "executor/program/kernel.h"
#include "ndarray/threads/parallel.h"

namespace cooper {

// A thread's classes [begin, end), and the position of their scores. Each slice is an array of its
// own, (rows, stride), so that no two threads write to one cache line.
struct FcSoftmaxSlice {
  // The number of the slice, from 0.
  int64_t index;
  int64_t begin, end;
  // Elements from one row of the slice's scores to the next, at least size(); padded
  // (PaddedStride).
  int64_t stride;
  int64_t offset;  // elements from the first slice's array to this one, for each row of a block

  int64_t size() const { return end - begin; }
  // Returns whether the class is one of this slice.
  bool Has(int64_t label) const { return begin <= label && label < end; }
};

// A partition of [0, classes) into slices. Immutable, so thread-safe.
class FcSoftmaxSlices {
 public:
  // Makes one slice for each of `threads` if each gets at least kMinClasses; else a single slice,
  // whose products and loops are split by rows.
  FcSoftmaxSlices(int64_t classes, int64_t threads)
      : classes_(classes),
        count_(classes >= threads * kMinClasses ? std::max<int64_t>(threads, 1) : 1) {}

  // Returns the number of slices: 1 or the number of threads.
  int64_t count() const { return count_; }
  // Returns the elements of the scores of a row, in all slices.
  int64_t row_size() const { return At(count_ - 1).offset + At(count_ - 1).stride; }

  // Returns slice `index`. O(index) time. All slices begin at multiples of 16 classes.
  FcSoftmaxSlice At(int64_t index) const {
    FcSoftmaxSlice slice{.index = index, .begin = 0, .end = 0, .stride = 0, .offset = 0};
    for (int64_t i = 0; i <= index; ++i) {
      slice.offset += slice.stride;
      slice.begin = slice.end;
      slice.end = i + 1 == count_ ? classes_ : classes_ * (i + 1) / count_ / kTile * kTile;
      slice.stride = PaddedStride(slice.size());
    }
    return slice;
  }

  // Returns the slice that has the class; the last one if `label` is beyond the classes. O(count^2)
  // time.
  FcSoftmaxSlice Of(int64_t label) const {
    int64_t index = 0;
    while (index + 1 < count_ && !At(index).Has(label)) ++index;
    return At(index);
  }

  // Calls fn(slice, begin, end) for all slices and rows [begin, end) of [0, rows), at most `part`
  // rows at a time. Uses several threads if each gets at least `grain` calls; most calls of a
  // thread are for one slice.
  void ForEachPart(int64_t rows, int64_t part, int64_t grain,
                   absl::FunctionRef<void(const FcSoftmaxSlice&, int64_t, int64_t)> fn) const {
    const int64_t parts = (rows + part - 1) / part;
    ParallelForRanges(count_ * parts, grain, 1, [&](int64_t from, int64_t to) {
      for (int64_t i = from; i < to; ++i) {
        const int64_t begin = i % parts * part;
        fn(At(i / parts), begin, std::min(begin + part, rows));
      }
    });
  }

  // Calls fn(slice, begin, end) for all slices and parts [begin, end) of a slice's classes, counted
  // from its first. Uses several threads; most calls of a thread are for one slice.
  void ForEachClasses(absl::FunctionRef<void(const FcSoftmaxSlice&, int64_t, int64_t)> fn) const {
    ParallelForRanges(count_ * kClassParts, 1, 1, [&](int64_t from, int64_t to) {
      for (int64_t i = from; i < to; ++i) {
        const FcSoftmaxSlice slice = At(i / kClassParts);
        const int64_t tiles = (slice.size() + kTile - 1) / kTile;
        const auto end_of = [&](int64_t part) {
          return std::min(tiles * part / kClassParts * kTile, slice.size());
        };
        const int64_t part = i % kClassParts;
        fn(slice, end_of(part), end_of(part + 1));
      }
    });
  }

 private:
  // Smaller slices give the products too little work for each row of data that they read.
  static constexpr int64_t kMinClasses = 256;
  // The parts of a slice: other threads may take over all but one of them.
  static constexpr int64_t kClassParts = 4;
  static constexpr int64_t kTile = 16;  // whole vectors, and a cache line of floats

  int64_t classes_;
  int64_t count_;
};

// The slices that a node was bound with. Memory is planned for them, so they do not change with the
// number of threads at run time. Immutable, so runs on several threads may share it.
class FcSoftmaxState : public KernelState {
 public:
  explicit FcSoftmaxState(const FcSoftmaxSlices& slices) : slices_(slices) {}
  const FcSoftmaxSlices& slices() const { return slices_; }

 private:
  FcSoftmaxSlices slices_;
};

// Returns the prepared state of a kernel with this weight (classes, features). `workspace_bytes` is
// that of FcSoftmaxScratchBytes, computed with the same number of threads.
inline Prepared PrepareFcSoftmax(const ArrayView& weight, int64_t workspace_bytes) {
  return {std::make_unique<FcSoftmaxState>(FcSoftmaxSlices(weight.shape[0], NumThreads())),
          workspace_bytes};
}

// Returns the slices with which PrepareFcSoftmax prepared the kernel.
inline const FcSoftmaxSlices& FcSoftmaxSlicesOf(const KernelContext& c) {
  return static_cast<const FcSoftmaxState*>(c.state)->slices();
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LOSS_FC_SOFTMAX_SLICES_H_
