#ifndef COOPER_EXECUTOR_KERNELS_LOSS_FC_SOFTMAX_ROWS_CUDA_H_
#define COOPER_EXECUTOR_KERNELS_LOSS_FC_SOFTMAX_ROWS_CUDA_H_

// Declares blocks of rows, and the softmax of a row of scores to which a bias is still to be added,
// for the GPU kernels of a classifier and its loss. For .cu files.
//
// A row whose label is ignored gets no softmax and a gradient of zeros. Its products are computed
// nevertheless: only the device knows which rows are ignored, and the host does not wait for it.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/loss/fc_softmax_block_bytes.h"
#include "executor/kernels/reducers/set_reduce.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/cuda/cublas.h"
#include "symbol/ops/loss/fc_softmax_output_param.h"

namespace cooper {

// Returns the rows of a block: whole tiles of a product, with about FcSoftmaxGpuBlockBytes() of
// scores. `row_bytes` are the bytes of a row's scores. The result is at least 1 and at most
// max(rows, 1).
inline int64_t FcSoftmaxGpuBlockRows(int64_t rows, int64_t row_bytes) {
  constexpr int64_t kTile = 128;
  const int64_t tiles = FcSoftmaxGpuBlockBytes() / std::max<int64_t>(row_bytes, 1) / kTile;
  return std::clamp<int64_t>(std::max<int64_t>(tiles, 1) * kTile, 1, std::max<int64_t>(rows, 1));
}

// The state of a bound kernel: cuBLAS, not owned, and the rows of a block. Immutable after
// preparation, so runs on several threads may share it.
struct FcSoftmaxGpuState : KernelState {
  Cublas* cublas = nullptr;
  int64_t block = 0;
};

// Returns the state with which PrepareFcSoftmaxGpu prepared the kernel.
inline const FcSoftmaxGpuState& FcSoftmaxStateOf(const KernelContext& c) {
  return *static_cast<const FcSoftmaxGpuState*>(c.state);
}

// Returns a prepared state, with a workspace of `extra_bytes` and, if `has_scores`, a block of rows
// of `classes` scores. Errors: those of Cublas::Of.
inline absl::StatusOr<Prepared> PrepareFcSoftmaxGpu(const PrepareContext& c, DType dtype,
                                                    int64_t rows, int64_t classes, bool has_scores,
                                                    int64_t extra_bytes) {
  auto state = std::make_unique<FcSoftmaxGpuState>();
  COOPER_ASSIGN_OR_RETURN(state->cublas, Cublas::Of(c.context.device_id));
  const int64_t row_bytes = classes * SizeOf(dtype);
  state->block = FcSoftmaxGpuBlockRows(rows, row_bytes);
  const int64_t scores = has_scores ? state->block * row_bytes : 0;
  return Prepared{.state = std::move(state), .workspace_bytes = extra_bytes + scores};
}

// Labels of rows, converted to integers. Device memory, not owned. The label of a row may be
// outside the classes.
template <typename T>
struct RowLabels {
  // One label for each row.
  const T* label;
  int64_t ignored;
  // Whether rows with the label `ignored` get no gradient.
  bool use_ignore;

  RowLabels(const FcSoftmaxOutputParam& param, const T* labels)
      : label(labels),
        ignored(IntegerOf<int64_t>(param.ignore_label)),
        use_ignore(param.use_ignore) {}

  // Return the label of a row as an integer, and whether the row gets no gradient.
  __device__ int64_t At(int64_t row) const { return IntegerOf<int64_t>(label[row]); }
  __device__ bool Ignores(int64_t row) const { return use_ignore && At(row) == ignored; }
};

// The softmax of scores[j] + bias[j] in one row; bias may be null. Reduce must run before Exp. One
// thread has one of these for each set; the sets are the rows of the scores.
template <typename T>
struct RowSoftmax {
  // The products of the whole block, (rows, classes).
  const T* scores;
  // One number for each class, or null.
  const T* bias;
  // The largest sum, at least the lowest finite number, so that -infinity in all classes gives no
  // NaN here.
  T top = std::numeric_limits<T>::lowest();
  // The sum of Exp over the row.
  T sum = 0;

  // Returns exp(scores[i] + bias[j] - top), where i is the element of the block and j its class.
  // The probability is Exp / sum.
  __device__ T Exp(int64_t i, int64_t j) const {
    return exp((bias == nullptr ? scores[i] : scores[i] + bias[j]) - top);
  }
  // Computes top and sum of the set. All threads of a block must call it; threads without a set
  // pass -1.
  __device__ void Reduce(const SetThread& thread, int64_t set) {
    thread.ForEach(set, [&](int64_t i, int64_t j) {
      const T x = bias == nullptr ? scores[i] : scores[i] + bias[j];
      if (x > top) top = x;
    });
    top = thread.Max(top);
    sum = thread.template SumOver<T>(set, [&](int64_t i, int64_t j) { return Exp(i, j); });
  }
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LOSS_FC_SOFTMAX_ROWS_CUDA_H_
