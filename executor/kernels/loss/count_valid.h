#ifndef COOPER_EXECUTOR_KERNELS_LOSS_COUNT_VALID_H_
#define COOPER_EXECUTOR_KERNELS_LOSS_COUNT_VALID_H_

// Counts, on the device, the labels that normalization "valid" divides by. For .cu files.
//
// softmax_output.cu and the GPU kernels of the fused classifier read the count on the device, so
// the host does not wait for it.

#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/reducers/block_sums.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"

namespace cooper {

// Bytes of scratch memory that LaunchCountValid needs: 64 for the count, then those of SumElements.
// A multiple of 64.
inline constexpr int64_t kCountValidBytes = 64 + kSumScratchBytes;

// Returns 1 for a label that is not `ignored`, else 0. Compares labels as integers. Device memory,
// not owned.
template <typename T>
struct IsValid {
  const T* label;
  int64_t ignored;
  __device__ double operator()(int64_t i) const {
    return ConvertElement<int64_t>(label[i]) != ignored ? 1.0 : 0.0;
  }
};

// Stores max(sum, 1) in *to. The divisor is 1 if all labels are ignored.
struct StoreAtLeastOne {
  double* to;
  __device__ void operator()(double sum) const { *to = sum > 1 ? sum : 1.0; }
};

// Queues a count of the n labels that differ from `ignored`, which is ignore_label as an integer,
// and stores max(count, 1) in scratch[0]. `scratch` is device memory of kCountValidBytes. Does not
// wait. The count is exact: a double holds integers up to 2^53.
//
// Errors: those of SumElements.
//
// Errors: those of SumElements.
template <typename T>
absl::Status LaunchCountValid(const KernelContext& c, const T* label, int64_t n, int64_t ignored,
                              double* scratch) {
  return SumElements(c, n, IsValid<T>{label, ignored}, scratch + 64 / sizeof(double),
                     StoreAtLeastOne{scratch});
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LOSS_COUNT_VALID_H_
