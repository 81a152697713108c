#ifndef COOPER_EXECUTOR_KERNELS_LOSS_FC_SOFTMAX_GRADIENT_H_
#define COOPER_EXECUTOR_KERNELS_LOSS_FC_SOFTMAX_GRADIENT_H_

// Computes the gradients of a fully connected layer followed by a softmax with cross entropy, one
// block of rows at a time and, within a block, one slice of the classes at a time. The products
// consume the gradient of a block's scores before the next block begins. The caller computes the
// gradients of the scores, from stored probabilities or by recomputing them.
//
// fc_softmax_output.cc and fc_softmax_label_probability.cc use it. fc_softmax_slices.h splits the
// classes among threads, fc_softmax_rows.h has the blocks of rows.

#include <algorithm>
#include <cstdint>

#include "absl/functional/function_ref.h"
#include "executor/kernels/launch/row_grain.h"
#include "executor/kernels/loss/fc_softmax_blocks.h"
#include "executor/kernels/loss/fc_softmax_rows.h"
#include "executor/kernels/loss/fc_softmax_slices.h"
#include "executor/kernels/reducers/column_sums.h"
#include "executor/program/kernel.h"
#include "ndarray/products/gemm.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/loss/fc_softmax_output_param.h"

namespace cooper {

// Returns the block size for a kernel with context `c`, a KernelContext or a PrepareContext.
// `bytes` are the bytes of a block's scores.
//
// Each block reads and writes the whole gradient of the weight, which takes a tenth of the
// product's time with 96 rows of 650 features. So min_rows is a third of the features, which keeps
// the scores below a third of the weight's size. It is at most kManyRows, beyond which more rows
// gain nothing.
template <typename AnyContext>
FcSoftmaxBlockSize FcSoftmaxGradientBlock(int64_t bytes, const AnyContext& c) {
  constexpr int64_t kManyRows = 384;
  const int64_t features = c.inputs[FcSoftmaxGradientArrays::kData].shape[1];
  return {.bytes = bytes, .min_rows = std::min(features / 3, kManyRows)};
}

// Computes the gradients with respect to data, weight and bias, over the rows whose label is not
// ignored. Refers to `c` and `scratch`, which must outlive it. T is float or double. With the
// scores s (rows, classes) and their gradient d, which the caller computes:
//
//   s = data * weight^T + bias
//   gradient of data   = d * weight
//   gradient of weight = d^T * data
//   gradient of bias   = the sum of d over rows
//
// The d of a block is consumed at once, so no array of (rows, classes) is stored.
template <typename T>
class FcSoftmaxGradient : public FcSoftmaxGradientArrays {
 public:
  using Block = typename FcSoftmaxRows<T>::Block;
  // Called once for each block, before the gradients of its scores are computed. A block has at
  // most scratch.block rows.
  using PrepareFn = absl::FunctionRef<void(const Block& block)>;
  // Writes the gradients of the scores of a slice's classes, for the rows [begin, end) of a block,
  // to grad (block.count, slice.stride). The gradients include scale(). Several threads call it at
  // once, for different slices and rows.
  using ScoreGradientsFn = absl::FunctionRef<void(const Block& block, const FcSoftmaxSlice& slice,
                                                  int64_t begin, int64_t end, T* grad)>;

  // `scratch` was made for the context's arrays. The rows whose label is not ignored are found
  // here.
  FcSoftmaxGradient(const KernelContext& c, const FcSoftmaxScratch<T>& scratch)
      : c_(c),
        classes_(c.inputs[kWeight].shape[0]),
        features_(c.inputs[kData].shape[1]),
        scratch_(scratch),
        rows_(c.param<FcSoftmaxOutputParam>(), c.inputs[kData], c.inputs[kLabel], scratch),
        scale_(ScaleOf(c.param<FcSoftmaxOutputParam>(), c.inputs[kLabel])) {}

  // Return the number of classes, and the rows that take part.
  int64_t classes() const { return classes_; }
  const FcSoftmaxRows<T>& rows() const { return rows_; }
  // Returns the factor of the gradient: grad_scale / divisor, where the divisor follows from
  // `normalization`:
  //
  //   batch: the number of rows
  //   valid: the number of labels that are not ignore_label, but at least 1
  //   null:  1
  T scale() const { return scale_; }

  // Computes all requested gradients. Without active rows, writes zeros for kWrite. Runs on several
  // threads and returns when all are done.
  void Run(PrepareFn prepare, ScoreGradientsFn score_gradients) const {
    if (rows_.gathers() && c_.reqs[kDataGradient] == WriteReq::kWrite) {
      std::fill_n(c_.outputs[kDataGradient].as<T>(), c_.outputs[kDataGradient].size(), T{0});
    }
    if (rows_.num_active() == 0) ZeroOutputs();
    rows_.ForEachBlock([&](const Block& block) {
      prepare(block);
      scratch_.ForEachPart(block.count,
                           [&](const FcSoftmaxSlice& slice, int64_t begin, int64_t end) {
                             score_gradients(block, slice, begin, end, scratch_.ScoresOf(slice));
                             DataGradient(block, slice, begin, end);
                           });
      WeightGradients(block);
      if (IsRequested(kDataGradient) && FirstApart() < scratch_.slices.count()) {
        AddDataGradients(block);
      }
    });
  }

 private:
  // Returns grad_scale over the divisor, computed in double.
  static T ScaleOf(const FcSoftmaxOutputParam& param, const ArrayView& label) {
    const int64_t rows = label.size();
    double divisor = 1;
    if (param.normalization == Normalization::kBatch) {
      divisor = static_cast<double>(rows);
    } else if (param.normalization == Normalization::kValid) {
      int64_t valid = 0;
      for (int64_t i = 0; i < rows; ++i) valid += IsIgnoreLabel(param, label.as<T>()[i]) ? 0 : 1;
      divisor = static_cast<double>(std::max<int64_t>(valid, 1));
    }
    return static_cast<T>(param.grad_scale / divisor);
  }

  // Zeroes the gradients of weight and bias whose request is kWrite.
  void ZeroOutputs() const {
    for (size_t k = kWeightGradient; k < c_.outputs.size(); ++k) {
      if (c_.reqs[k] == WriteReq::kWrite) {
        std::fill_n(c_.outputs[k].as<T>(), c_.outputs[k].size(), T{0});
      }
    }
  }

  // Returns beta of a product into a gradient that all blocks accumulate to: 0 for the first block
  // of a kWrite output, else 1.
  T BetaOf(Gradient gradient, const Block& block) const {
    return block.begin == 0 && c_.reqs[gradient] == WriteReq::kWrite ? T{0} : T{1};
  }

  // Computes the data gradient of the rows [begin, end) of a block from one slice's scores.
  void DataGradient(const Block& block, const FcSoftmaxSlice& slice, int64_t begin,
                    int64_t end) const {
    if (!IsRequested(kDataGradient)) return;
    const bool in_place = slice.index < FirstApart();
    Gemm(false, false, end - begin, features_, slice.size(), T{1},
         scratch_.ScoresOf(slice) + begin * slice.stride, slice.stride,
         c_.inputs[kWeight].as<T>() + slice.begin * features_, features_,
         in_place && c_.reqs[kDataGradient] == WriteReq::kAdd ? T{1} : T{0},
         in_place ? DataGradientAt(block.begin + begin)
                  : DataGradientOf(slice.index) + begin * features_,
         features_);
  }

  // Returns whether a gradient is requested. A node without a bias has no bias gradient.
  bool IsRequested(size_t gradient) const {
    return gradient < c_.outputs.size() && c_.reqs[gradient] != WriteReq::kNull;
  }

  // Computes the gradients of weight and bias from the scores' gradients of all slices of a block.
  void WeightGradients(const Block& block) const {
    if (!IsRequested(kWeightGradient) && !IsRequested(kBiasGradient)) return;
    const FcSoftmaxSlices& slices = scratch_.slices;
    if (slices.count() == 1) return WeightGradients(block, slices.At(0), 0, classes_);
    slices.ForEachClasses([&](const FcSoftmaxSlice& slice, int64_t begin, int64_t end) {
      WeightGradients(block, slice, begin, end);
    });
  }

  // Computes the gradients of weight and bias for the classes [begin, end) of a slice.
  void WeightGradients(const Block& block, const FcSoftmaxSlice& slice, int64_t begin,
                       int64_t end) const {
    const T* grad = scratch_.ScoresOf(slice) + begin;
    if (IsRequested(kWeightGradient)) {
      Gemm(true, false, end - begin, features_, block.count, T{1}, grad, slice.stride, block.data,
           features_, BetaOf(kWeightGradient, block),
           c_.outputs[kWeightGradient].as<T>() + (slice.begin + begin) * features_, features_);
    }
    if (IsRequested(kBiasGradient)) {
      SumColumns(grad, slice.stride, block.count, end - begin, BetaOf(kBiasGradient, block) != T{0},
                 c_.outputs[kBiasGradient].as<T>() + slice.begin + begin);
    }
  }

  // Returns the index of the first slice whose data gradient goes to scratch memory. The product of
  // slice 0 writes to the output directly, unless rows are gathered and so are not contiguous.
  int64_t FirstApart() const { return rows_.gathers() ? 0 : 1; }
  // Returns the data gradient (block, features) of a slice, in scratch memory.
  T* DataGradientOf(int64_t slice) const {
    return scratch_.data_grads + slice * scratch_.block * features_;
  }
  // Returns the row of the data gradient's output for an active row.
  T* DataGradientAt(int64_t place) const {
    return c_.outputs[kDataGradient].as<T>() + rows_.RowAt(place) * features_;
  }

  // Adds the data gradients that slices left in scratch memory. Run has zeroed the output if rows
  // are gathered and the request is kWrite.
  void AddDataGradients(const Block& block) const {
    ParallelFor(block.count, RowGrain(features_, 8192), [&](int64_t from, int64_t to) {
      for (int64_t i = from; i < to; ++i) {
        T* out = DataGradientAt(block.begin + i);
        for (int64_t slice = FirstApart(); slice < scratch_.slices.count(); ++slice) {
          const T* in = DataGradientOf(slice) + i * features_;
          for (int64_t j = 0; j < features_; ++j) out[j] += in[j];
        }
      }
    });
  }

  const KernelContext& c_;
  const int64_t classes_, features_;
  const FcSoftmaxScratch<T>& scratch_;
  const FcSoftmaxRows<T> rows_;
  const T scale_;
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LOSS_FC_SOFTMAX_GRADIENT_H_
