#ifndef COOPER_EXECUTOR_KERNELS_LOSS_FC_SOFTMAX_ROWS_H_
#define COOPER_EXECUTOR_KERNELS_LOSS_FC_SOFTMAX_ROWS_H_

// Iterates over the rows of a classifier whose label is not ignored, in blocks, and provides the
// scratch memory of the kernels that compute scores and consume them.
//
// fc_softmax_gradient.h and the forward kernel of fc_softmax_label_probability.cc use it. Ignored
// rows are left out of all products. fc_softmax_rows_cuda.h is the counterpart for GPUs.

#include <algorithm>
#include <cstdint>

#include "absl/functional/function_ref.h"
#include "executor/kernels/loss/fc_softmax_blocks.h"
#include "executor/kernels/loss/fc_softmax_slices.h"
#include "executor/program/kernel.h"
#include "executor/program/scratch_cursor.h"
#include "ndarray/base/dtype.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/loss/fc_softmax_output_param.h"

namespace cooper {

// Scratch memory of a kernel, for blocks of `size` rows of data (rows, features) with weight
// (classes, features). Takes its arrays from `cursor` and does not own them. It is made twice:
// FcSoftmaxScratchBytes makes one with a null cursor to get its size, the kernel makes one with the
// workspace. T is float or double.
template <typename T>
struct FcSoftmaxScratch {
  // `slices` are those of the bound node (FcSoftmaxSlicesOf), whatever the number of threads is at
  // run time.
  FcSoftmaxScratch(FcSoftmaxBlockSize size, const FcSoftmaxOutputParam& param, const ArrayView& in,
                   const ArrayView& weight, const FcSoftmaxSlices& slices, ScratchCursor& cursor)
      : slices(slices) {
    const int64_t rows = in.shape[0], classes = weight.shape[0];
    features = in.shape[1];
    block = FcSoftmaxBlockRows(size, rows, classes * static_cast<int64_t>(sizeof(T)));
    scores = cursor.Take<T>(block * slices.row_size());
    top = cursor.Take<T>(block * slices.count());
    sum = cursor.Take<T>(block * slices.count());
    if (param.use_ignore || slices.count() > 1) {
      data_grads = cursor.Take<T>(block * features * slices.count());
    }
    if (!param.use_ignore) return;
    active = cursor.Take<int64_t>(rows);
    data = cursor.Take<T>(block * features);
  }

  // Returns the scores (count, slice.stride) of a block's rows, or their gradients.
  T* ScoresOf(const FcSoftmaxSlice& slice) const { return scores + block * slice.offset; }

  // Calls fn(slice, begin, end) for some of a block's rows at a time, on several threads. For few
  // rows calls it once for all of them, on the calling thread; then fn's products and loops must
  // run in parallel.
  void ForEachPart(int64_t rows,
                   absl::FunctionRef<void(const FcSoftmaxSlice&, int64_t, int64_t)> fn) const {
    constexpr int64_t kMinProducts = 1 << 18;  // the least work of a thread
    const int64_t size = static_cast<int64_t>(sizeof(T));
    const FcSoftmaxSlice last = slices.At(slices.count() - 1);  // the largest
    int64_t own = rows;  // rows of a slice that one thread processes
    if (slices.count() == 1) {
      own = (rows + NumThreads() - 1) / NumThreads();
      if (own < kFcSoftmaxTileRows) own = rows;
    }
    const int64_t part = FcSoftmaxPartRows(own, last.stride * size, last.size() * features * size);
    slices.ForEachPart(rows, part, 1 + kMinProducts / (part * last.size() * features + 1), fn);
  }

  FcSoftmaxSlices slices;
  // The columns of data and weight.
  int64_t features = 0;
  // The rows of a block.
  int64_t block = 0;
  T* scores = nullptr;      // of all slices
  T* top = nullptr;         // (slices, block): the largest score of each row
  T* sum = nullptr;         // (slices, block): the sum of exp(score - top)
  T* data_grads = nullptr;  // (slices, block, features): the data gradient of each slice, unless
                            // it goes to the output directly
  // Only with use_ignore: the rows that are not ignored, and their gathered data.
  int64_t* active = nullptr;
  T* data = nullptr;
};

// Returns the workspace bytes of an FcSoftmaxScratch for the current number of threads. It is
// called when the node is bound; PrepareFcSoftmax records the slices for the same number of
// threads.
inline int64_t FcSoftmaxScratchBytes(FcSoftmaxBlockSize size, const FcSoftmaxOutputParam& param,
                                     const ArrayView& data, const ArrayView& weight) {
  ScratchCursor cursor(nullptr);
  const FcSoftmaxSlices slices(weight.shape[0], NumThreads());
  if (data.dtype == DType::kFloat64) {
    FcSoftmaxScratch<double>(size, param, data, weight, slices, cursor);
  } else {
    FcSoftmaxScratch<float>(size, param, data, weight, slices, cursor);
  }
  return cursor.bytes();
}

// The rows of `data` whose label is not ignored. Does not own the arrays. With use_ignore false,
// all rows are active. With use_ignore, the constructor makes one pass over the labels; the data of
// active rows is copied only block by block.
template <typename T>
class FcSoftmaxRows {
 public:
  // The active rows in the positions [begin, begin + count).
  struct Block {
    // The position of the block's first active row among the active rows.
    int64_t begin;
    int64_t count;
    const T* data;  // (count, features)
  };

  // Finds the active rows. `scratch` must outlive this.
  FcSoftmaxRows(const FcSoftmaxOutputParam& param, const ArrayView& data, const ArrayView& label,
                const FcSoftmaxScratch<T>& scratch)
      : num_rows_(data.shape[0]),
        features_(data.shape[1]),
        num_active_(num_rows_),
        data_(data.as<T>()),
        label_(label.as<T>()),
        scratch_(scratch) {
    if (!param.use_ignore) return;
    num_active_ = 0;
    for (int64_t i = 0; i < num_rows_; ++i) {
      if (!IsIgnoreLabel(param, label_[i])) scratch_.active[num_active_++] = i;
    }
  }

  // Returns the number of active rows.
  int64_t num_active() const { return num_active_; }
  // Returns whether active rows are copied to scratch memory: true only if some rows are ignored.
  // Without ignored rows, blocks refer to the data itself.
  bool gathers() const { return num_active_ < num_rows_; }
  // Returns the row of `data` of the active row at `place`.
  int64_t RowAt(int64_t place) const { return gathers() ? scratch_.active[place] : place; }
  // Returns the label of the active row at `place` as an integer; it may be outside the classes.
  int64_t LabelAt(int64_t place) const { return IntegerOf<int64_t>(label_[RowAt(place)]); }

  // Calls fn(block) for all active rows, in order. A block's data is valid until the next call.
  // Copies the data of a block's rows if gathers(). Runs on the calling thread; `fn` may use
  // several.
  void ForEachBlock(absl::FunctionRef<void(const Block& block)> fn) const {
    for (int64_t begin = 0; begin < num_active_; begin += scratch_.block) {
      const int64_t count = std::min(scratch_.block, num_active_ - begin);
      fn({begin, count, DataOf(begin, count)});
    }
  }

 private:
  // Returns the data of the active rows at [begin, begin + count): the data itself, or a copy in
  // scratch memory if gathers().
  const T* DataOf(int64_t begin, int64_t count) const {
    if (!gathers()) return data_ + begin * features_;
    for (int64_t i = 0; i < count; ++i) {
      std::copy_n(data_ + RowAt(begin + i) * features_, features_, scratch_.data + i * features_);
    }
    return scratch_.data;
  }

  // The extents of the data.
  const int64_t num_rows_, features_;
  int64_t num_active_;
  const T* const data_;
  const T* const label_;
  const FcSoftmaxScratch<T>& scratch_;
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LOSS_FC_SOFTMAX_ROWS_H_
