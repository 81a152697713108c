#ifndef COOPER_EXECUTOR_KERNELS_LOSS_FC_SOFTMAX_GRADIENT_H_
#define COOPER_EXECUTOR_KERNELS_LOSS_FC_SOFTMAX_GRADIENT_H_

// The gradients of a fully connected layer whose output goes to a softmax with cross entropy, block
// of rows by block of rows, and within a block slice by slice of the classes: what the gradient of
// a block's scores is, the products with it use up before the next block. Where it comes from is
// the caller's: from probabilities that were kept, or made anew.

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

// The blocks of a kernel of `c`, a KernelContext or a PrepareContext. Each block reads and writes
// all of the weight's gradient, and with 96 rows of 650 features a tenth of the product's time goes
// into that: a third of the features, so that scores take no more than a third of the weight, and
// no more than these, beyond which nothing is gained.
template <typename AnyContext>
FcSoftmaxBlockSize FcSoftmaxGradientBlock(int64_t bytes, const AnyContext& c) {
  constexpr int64_t kManyRows = 384;
  const int64_t features = c.inputs[FcSoftmaxGradientArrays::kData].shape[1];
  return {.bytes = bytes, .min_rows = std::min(features / 3, kManyRows)};
}

// The gradients with respect to data, weight and bias, over the rows whose label counts.
template <typename T>
class FcSoftmaxGradient : public FcSoftmaxGradientArrays {
 public:
  using Block = typename FcSoftmaxRows<T>::Block;
  // Called before a block's gradients are made.
  using PrepareFn = absl::FunctionRef<void(const Block& block)>;
  // Writes the gradients of the scores of a slice's classes in the rows [begin, end) of a block to
  // grad (block.count, slice.stride). Is called for several slices and rows at a time.
  using ScoreGradientsFn = absl::FunctionRef<void(const Block& block, const FcSoftmaxSlice& slice,
                                                  int64_t begin, int64_t end, T* grad)>;

  FcSoftmaxGradient(const KernelContext& c, const FcSoftmaxScratch<T>& scratch)
      : c_(c),
        classes_(c.inputs[kWeight].shape[0]),
        features_(c.inputs[kData].shape[1]),
        scratch_(scratch),
        rows_(c.param<FcSoftmaxOutputParam>(), c.inputs[kData], c.inputs[kLabel], scratch),
        scale_(ScaleOf(c.param<FcSoftmaxOutputParam>(), c.inputs[kLabel])) {}

  int64_t classes() const { return classes_; }
  const FcSoftmaxRows<T>& rows() const { return rows_; }
  // What the gradient is multiplied by.
  T scale() const { return scale_; }

  void Run(PrepareFn prepare, ScoreGradientsFn score_gradients) const {
    if (rows_.gathers() && c_.reqs[kDataGradient] == WriteReq::kWrite) {
      std::fill_n(c_.outputs[kDataGradient].as<T>(), c_.outputs[kDataGradient].size(), T{0});
    }
    if (rows_.num_active() == 0) ClearWhatIsWritten();
    rows_.ForEachBlock([&](const Block& block) {
      prepare(block);
      scratch_.ForEachPart(block.count,
                           [&](const FcSoftmaxSlice& slice, int64_t begin, int64_t end) {
                             score_gradients(block, slice, begin, end, scratch_.ScoresOf(slice));
                             DataGradient(block, slice, begin, end);
                           });
      WeightGradients(block);
      if (AsksFor(kDataGradient) && FirstApart() < scratch_.slices.count()) {
        AddDataGradients(block);
      }
    });
  }

 private:
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

  void ClearWhatIsWritten() const {
    for (size_t k = kWeightGradient; k < c_.outputs.size(); ++k) {
      if (c_.reqs[k] == WriteReq::kWrite) {
        std::fill_n(c_.outputs[k].as<T>(), c_.outputs[k].size(), T{0});
      }
    }
  }

  // What a product has to do with a gradient that all blocks add to.
  T BetaOf(Gradient gradient, const Block& block) const {
    return block.begin == 0 && c_.reqs[gradient] == WriteReq::kWrite ? T{0} : T{1};
  }

  // Of the rows [begin, end) of a block.
  void DataGradient(const Block& block, const FcSoftmaxSlice& slice, int64_t begin,
                    int64_t end) const {
    if (!AsksFor(kDataGradient)) return;
    const bool in_place = slice.index < FirstApart();
    Gemm(false, false, end - begin, features_, slice.size(), T{1},
         scratch_.ScoresOf(slice) + begin * slice.stride, slice.stride,
         c_.inputs[kWeight].as<T>() + slice.begin * features_, features_,
         in_place && c_.reqs[kDataGradient] == WriteReq::kAdd ? T{1} : T{0},
         in_place ? DataGradientAt(block.begin + begin)
                  : DataGradientOf(slice.index) + begin * features_,
         features_);
  }

  // Not all nodes have a bias.
  bool AsksFor(size_t gradient) const {
    return gradient < c_.outputs.size() && c_.reqs[gradient] != WriteReq::kNull;
  }

  void WeightGradients(const Block& block) const {
    if (!AsksFor(kWeightGradient) && !AsksFor(kBiasGradient)) return;
    const FcSoftmaxSlices& slices = scratch_.slices;
    if (slices.count() == 1) return WeightGradients(block, slices.At(0), 0, classes_);
    slices.ForEachClasses([&](const FcSoftmaxSlice& slice, int64_t begin, int64_t end) {
      WeightGradients(block, slice, begin, end);
    });
  }

  // Of the classes [begin, end) of a slice.
  void WeightGradients(const Block& block, const FcSoftmaxSlice& slice, int64_t begin,
                       int64_t end) const {
    const T* grad = scratch_.ScoresOf(slice) + begin;
    if (AsksFor(kWeightGradient)) {
      Gemm(true, false, end - begin, features_, block.count, T{1}, grad, slice.stride, block.data,
           features_, BetaOf(kWeightGradient, block),
           c_.outputs[kWeightGradient].as<T>() + (slice.begin + begin) * features_, features_);
    }
    if (AsksFor(kBiasGradient)) {
      SumColumns(grad, slice.stride, block.count, end - begin, BetaOf(kBiasGradient, block) != T{0},
                 c_.outputs[kBiasGradient].as<T>() + slice.begin + begin);
    }
  }

  // The first slice whose data gradient is made in scratch memory: the rows of a block are
  // together, so that a product can write to them, unless they are gathered.
  int64_t FirstApart() const { return rows_.gathers() ? 0 : 1; }
  T* DataGradientOf(int64_t slice) const {
    return scratch_.data_grads + slice * scratch_.block * features_;
  }
  T* DataGradientAt(int64_t place) const {
    return c_.outputs[kDataGradient].as<T>() + rows_.RowAt(place) * features_;
  }

  // Adds what slices have made apart. Rows that are gathered were zeroed if they are to be written.
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
