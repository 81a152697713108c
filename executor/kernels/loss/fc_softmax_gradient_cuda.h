#ifndef COOPER_EXECUTOR_KERNELS_LOSS_FC_SOFTMAX_GRADIENT_CUDA_H_
#define COOPER_EXECUTOR_KERNELS_LOSS_FC_SOFTMAX_GRADIENT_CUDA_H_

// Computes the gradients of a fully connected layer followed by a softmax with cross entropy, one
// block of rows at a time: the products consume the gradient of a block's scores before the next
// block begins. For .cu files.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"
#include "executor/kernels/loss/count_valid.h"
#include "executor/kernels/loss/fc_softmax_rows_cuda.h"
#include "executor/kernels/reducers/sum_channels.h"
#include "executor/program/kernel.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/cuda/cublas.h"
#include "symbol/ops/loss/fc_softmax_output_param.h"

namespace cooper {

// The factor of the gradient. For normalization "valid" the divisor is a count of labels that is
// computed on the device. Kernels read it there, so that the host does not wait for it. A plain
// value, which kernels take as an argument.
struct FcSoftmaxScale {
  double scale;           // before the division by *divisor
  const double* divisor;  // null: 1

  template <typename T>
  __device__ T Get() const {
    return static_cast<T>(divisor == nullptr ? scale : scale / *divisor);
  }
};

// Computes the gradients with respect to data, weight and bias. Refers to `c`, which must outlive
// it. fc_softmax_gradient.h is the counterpart for the CPU and has the formulas. Unlike it, rows
// with an ignored label take part, with scores' gradients of 0. T is float or double. The scores
// (rows, classes) never exist as a whole: memory is that of one block.
template <typename T>
class FcSoftmaxGpuGradient : public FcSoftmaxGradientArrays {
 public:
  // The rows [begin, begin + count) of the data. The last block may have fewer rows than the
  // others.
  struct Block {
    int64_t begin, count;
    T* scores;  // (count, classes), in scratch memory
    // Receives the sums of the scores' gradients over the block's rows; may be null.
    T* sums;
    bool is_first;  // whether this block runs first
  };

  // `makes_sums` says that the caller's kernel, which turns a block's scores into their gradients,
  // also writes their sums over rows to Block::sums.
  FcSoftmaxGpuGradient(const KernelContext& c, bool makes_sums)
      : c_(c),
        makes_sums_(makes_sums),
        rows_(c.inputs[kData].shape[0]),
        classes_(c.inputs[kWeight].shape[0]),
        features_(c.inputs[kData].shape[1]) {}

  // Prepares a kernel that calls Run: its workspace holds the count of valid labels and one block
  // of scores. Errors: those of PrepareFcSoftmaxGpu.
  static absl::StatusOr<Prepared> Prepare(const PrepareContext& c) {
    return PrepareFcSoftmaxGpu(c, c.inputs[kData].dtype, c.inputs[kData].shape[0],
                               c.inputs[kWeight].shape[0], /*has_scores=*/true, kCountValidBytes);
  }

  // Returns the number of classes.
  int64_t classes() const { return classes_; }
  // Returns the block's rows of the data, (count, features), on the device.
  const T* data(const Block& block) const {
    return c_.inputs[kData].as<T>() + block.begin * features_;
  }
  // Returns the number of features of a row of data.
  int64_t features() const { return features_; }

  // Returns whether a block's part of a requested sum over rows is added to the output. It is added
  // for all blocks but the first, and for kAdd.
  bool Adds(const Block& block, Gradient gradient) const {
    return !block.is_first || c_.reqs[gradient] == WriteReq::kAdd;
  }

  // Calls score_gradients(block, scale) for each block, which queues a kernel that turns
  // block.scores into the gradients of the scores and returns a status; then queues the products.
  // Does not wait for the device.
  //
  // Errors: those of score_gradients, of cuBLAS and of Launch.
  template <typename Fn>
  absl::Status Run(Fn&& score_gradients) const {
    FcSoftmaxScale scale;
    COOPER_RETURN_IF_ERROR(MakeScale(scale));
    T* scores = reinterpret_cast<T*>(static_cast<char*>(c_.workspace) + kCountValidBytes);
    const int64_t step = FcSoftmaxStateOf(c_).block;
    // Without rows one empty block runs, whose products without terms write zeros.
    const int64_t last = rows_ == 0 ? 0 : (rows_ - 1) / step * step;
    // Blocks run from last to first, because the cache still holds the last block of a forward
    // pass.
    for (int64_t begin = last; begin >= 0; begin -= step) {
      const Block block = {.begin = begin,
                           .count = std::min(step, rows_ - begin),
                           .scores = scores,
                           .sums = makes_sums_ && IsRequested(kBiasGradient)
                                       ? c_.outputs[kBiasGradient].as<T>()
                                       : nullptr,
                           .is_first = begin == last};
      if (block.count > 0) COOPER_RETURN_IF_ERROR(score_gradients(block, scale));
      COOPER_RETURN_IF_ERROR(Products(block));
    }
    return absl::OkStatus();
  }

 private:
  // Sets the factor of the gradient. For normalization "valid", queues the count of labels first.
  absl::Status MakeScale(FcSoftmaxScale& scale) const {
    const auto& param = c_.param<FcSoftmaxOutputParam>();
    scale = {.scale = param.grad_scale, .divisor = nullptr};
    if (param.normalization == Normalization::kBatch && rows_ > 0) {
      scale.scale /= static_cast<double>(rows_);
    }
    if (param.normalization != Normalization::kValid) return absl::OkStatus();
    auto* count = static_cast<double*>(c_.workspace);
    scale.divisor = count;
    return LaunchCountValid(c_, c_.inputs[kLabel].as<T>(), rows_,
                            IntegerOf<int64_t>(param.ignore_label), count);
  }

  // Returns whether a gradient is requested. A node without a bias has no bias gradient.
  bool IsRequested(size_t gradient) const {
    return gradient < c_.outputs.size() && c_.reqs[gradient] != WriteReq::kNull;
  }

  // Queues to (m, n) = or += op(a) (m, k) * b (k, n), with contiguous rows of `to`.
  absl::Status Gemm(bool transpose_a, int64_t m, int64_t n, int64_t k, const T* a, int64_t lda,
                    const T* b, int64_t ldb, bool add, T* to) const {
    return FcSoftmaxStateOf(c_).cublas->Gemm(StreamOf(c_), DTypeOf<T>(), transpose_a, false, m, n,
                                             k, a, lda, b, ldb, add, to, n);
  }

  // Queues the requested gradients of a block, whose scores hold the scores' gradients.
  absl::Status Products(const Block& block) const {
    if (IsRequested(kDataGradient)) {
      COOPER_RETURN_IF_ERROR(Gemm(false, block.count, features_, classes_, block.scores, classes_,
                                  c_.inputs[kWeight].as<T>(), features_,
                                  c_.reqs[kDataGradient] == WriteReq::kAdd,
                                  c_.outputs[kDataGradient].as<T>() + block.begin * features_));
    }
    if (IsRequested(kWeightGradient)) {
      COOPER_RETURN_IF_ERROR(Gemm(true, classes_, features_, block.count, block.scores, classes_,
                                  data(block), features_, Adds(block, kWeightGradient),
                                  c_.outputs[kWeightGradient].as<T>()));
    }
    if (!IsRequested(kBiasGradient) || (makes_sums_ && block.count > 0)) return absl::OkStatus();
    return SumChannels(c_, block.count, classes_, 1, block.scores,
                       c_.outputs[kBiasGradient].as<T>(), Adds(block, kBiasGradient));
  }

  const KernelContext& c_;
  const bool makes_sums_;
  const int64_t rows_, classes_, features_;
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LOSS_FC_SOFTMAX_GRADIENT_CUDA_H_
