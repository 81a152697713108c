#ifndef COOPER_EXECUTOR_CPU_LOSS_FC_SOFTMAX_GRADIENT_H_
#define COOPER_EXECUTOR_CPU_LOSS_FC_SOFTMAX_GRADIENT_H_

// The gradients of a fully connected layer whose output goes to a softmax with cross entropy, block
// of rows by block of rows: what the gradient of a block's scores is, the products with it use up
// before the next block. Where it comes from is the caller's: from probabilities that were kept, or
// made anew.

#include <algorithm>
#include <cstdint>

#include "absl/functional/function_ref.h"
#include "executor/cpu/loss/fc_softmax_blocks.h"
#include "executor/cpu/scratch_cursor.h"
#include "executor/kernel.h"
#include "ndarray/gemm.h"
#include "ndarray/parallel.h"
#include "symbol/ops/loss/fc_softmax_output_param.h"

namespace cooper {

// Scratch memory of FcSoftmaxGradient.
template <typename T>
struct FcSoftmaxScratch {
  // For blocks of about `block_bytes`. `skips`: whether some rows may be ignored.
  FcSoftmaxScratch(int64_t block_bytes, int64_t rows, int64_t classes, int64_t features, bool skips,
                   ScratchCursor& cursor) {
    block = FcSoftmaxBlockRows(block_bytes, rows, classes * static_cast<int64_t>(sizeof(T)));
    grad = cursor.Take<T>(block * classes);
    if (!skips) return;
    active = cursor.Take<int64_t>(rows);
    data = cursor.Take<T>(block * features);
    data_grad = cursor.Take<T>(block * features);
  }

  int64_t block = 0;
  T* grad = nullptr;  // of the scores of a block's rows
  // Where rows may be ignored: those that are not, and their data and its gradient, row after row.
  int64_t* active = nullptr;
  T* data = nullptr;
  T* data_grad = nullptr;
};

// Inputs of the kernel, of which not all have the last one, and its outputs.
struct FcSoftmaxGradientArrays {
  enum Input { kLabel, kProbability, kData, kWeight, kBias };
  enum Gradient { kDataGradient, kWeightGradient, kBiasGradient };
};

// The gradients with respect to data, weight and bias, over the rows whose label counts.
template <typename T>
class FcSoftmaxGradient : public FcSoftmaxGradientArrays {
 public:
  // A block: the rows that stand in the places [begin, begin + count) of those that count.
  struct Block {
    int64_t begin;
    int64_t count;
    const T* data;  // (count, features)
  };
  // Writes the gradients of a block's scores, (count, classes).
  using ScoreGradientsFn = absl::FunctionRef<void(const Block& block, T* grad)>;

  FcSoftmaxGradient(const KernelContext& c, const FcSoftmaxScratch<T>& scratch)
      : c_(c),
        param_(c.param<FcSoftmaxOutputParam>()),
        rows_(c.inputs[kData].shape[0]),
        classes_(c.inputs[kWeight].shape[0]),
        features_(c.inputs[kData].shape[1]),
        label_(c.inputs[kLabel].as<T>()),
        scratch_(scratch) {}

  int64_t classes() const { return classes_; }
  int64_t features() const { return features_; }
  // Valid while Run runs: what the gradient is multiplied by, and the row in a place.
  T scale() const { return scale_; }
  int64_t RowAt(int64_t place) const { return gathers_ ? scratch_.active[place] : place; }
  int64_t LabelAt(int64_t place) const { return static_cast<int64_t>(label_[RowAt(place)]); }

  void Run(ScoreGradientsFn score_gradients) {
    scale_ = Scale();
    const int64_t count = FindActiveRows();
    // Without ignored rows everything is where it is needed.
    gathers_ = count < rows_;
    if (gathers_ && c_.reqs[kDataGradient] == WriteReq::kWrite) {
      std::fill_n(c_.outputs[kDataGradient].as<T>(), rows_ * features_, T(0));
    }
    if (count == 0) ClearWhatIsWritten();
    for (int64_t begin = 0; begin < count; begin += scratch_.block) {
      const int64_t rows = std::min(scratch_.block, count - begin);
      const Block block = {begin, rows, DataOf(begin, rows)};
      score_gradients(block, scratch_.grad);
      AddGradients(block);
    }
  }

 private:
  int64_t FindActiveRows() const {
    if (!param_.use_ignore) return rows_;
    int64_t count = 0;
    for (int64_t i = 0; i < rows_; ++i) {
      if (!IsIgnoreLabel(param_, label_[i])) scratch_.active[count++] = i;
    }
    return count;
  }

  T Scale() const {
    double divisor = 1;
    if (param_.normalization == Normalization::kBatch) {
      divisor = static_cast<double>(rows_);
    } else if (param_.normalization == Normalization::kValid) {
      int64_t valid = 0;
      for (int64_t i = 0; i < rows_; ++i) valid += IsIgnoreLabel(param_, label_[i]) ? 0 : 1;
      divisor = static_cast<double>(std::max<int64_t>(valid, 1));
    }
    return static_cast<T>(param_.grad_scale / divisor);
  }

  void ClearWhatIsWritten() const {
    for (size_t k = kWeightGradient; k < c_.outputs.size(); ++k) {
      if (c_.reqs[k] == WriteReq::kWrite) {
        std::fill_n(c_.outputs[k].as<T>(), c_.outputs[k].size(), T(0));
      }
    }
  }

  const T* DataOf(int64_t begin, int64_t count) const {
    const T* data = c_.inputs[kData].as<T>();
    if (!gathers_) return data + begin * features_;
    for (int64_t i = 0; i < count; ++i) {
      std::copy_n(data + RowAt(begin + i) * features_, features_, scratch_.data + i * features_);
    }
    return scratch_.data;
  }

  // What a product has to do with a gradient that all blocks add to.
  T BetaOf(Gradient gradient, const Block& block) const {
    return block.begin == 0 && c_.reqs[gradient] == WriteReq::kWrite ? T(0) : T(1);
  }

  void AddGradients(const Block& block) const {
    if (c_.reqs[kDataGradient] != WriteReq::kNull) DataGradient(block);
    if (c_.reqs[kWeightGradient] != WriteReq::kNull) {
      Gemm(true, false, classes_, features_, block.count, T(1), scratch_.grad, classes_, block.data,
           features_, BetaOf(kWeightGradient, block), c_.outputs[kWeightGradient].as<T>(),
           features_);
    }
    if (c_.outputs.size() > kBiasGradient && c_.reqs[kBiasGradient] != WriteReq::kNull) {
      BiasGradient(block);
    }
  }

  void DataGradient(const Block& block) const {
    const WriteReq req = c_.reqs[kDataGradient];
    T* grad = c_.outputs[kDataGradient].as<T>();
    T* out = gathers_ ? scratch_.data_grad : grad + block.begin * features_;
    const T beta = !gathers_ && req == WriteReq::kAdd ? T(1) : T(0);
    Gemm(false, false, block.count, features_, classes_, T(1), scratch_.grad, classes_,
         c_.inputs[kWeight].as<T>(), features_, beta, out, features_);
    if (!gathers_) return;
    // Rows were zeroed where they are to be written.
    for (int64_t i = 0; i < block.count; ++i) {
      T* row = grad + RowAt(block.begin + i) * features_;
      for (int64_t j = 0; j < features_; ++j) row[j] += out[i * features_ + j];
    }
  }

  // Columns are split over threads, rows are summed in order: the same bits for any split.
  void BiasGradient(const Block& block) const {
    T* grad = c_.outputs[kBiasGradient].as<T>();
    if (BetaOf(kBiasGradient, block) == T(0)) std::fill_n(grad, classes_, T(0));
    ParallelFor(classes_, std::max<int64_t>(16, 16384 / std::max<int64_t>(block.count, 1)),
                [&](int64_t from, int64_t to) {
                  for (int64_t i = 0; i < block.count; ++i) {
                    const T* row = scratch_.grad + i * classes_;
                    for (int64_t j = from; j < to; ++j) grad[j] += row[j];
                  }
                });
  }

  const KernelContext& c_;
  const FcSoftmaxOutputParam& param_;
  const int64_t rows_, classes_, features_;
  const T* label_;
  const FcSoftmaxScratch<T>& scratch_;
  T scale_ = T(1);
  bool gathers_ = false;  // whether only some rows count
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_CPU_LOSS_FC_SOFTMAX_GRADIENT_H_
