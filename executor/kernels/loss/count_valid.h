#ifndef COOPER_EXECUTOR_KERNELS_LOSS_COUNT_VALID_H_
#define COOPER_EXECUTOR_KERNELS_LOSS_COUNT_VALID_H_

// The divisor of normalization "valid", which the device counts. For .cu files.

#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/reducers/block_sums.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"

namespace cooper {

// What counting needs as scratch, the count in front; a multiple of 64.
inline constexpr int64_t kCountValidBytes = 64 + kSumScratchBytes;

template <typename T>
struct IsValid {
  const T* label;
  int64_t ignored;
  __device__ double operator()(int64_t i) const {
    return ConvertElement<int64_t>(label[i]) != ignored ? 1.0 : 0.0;
  }
};

struct PutAtLeastOne {
  double* to;
  __device__ void operator()(double sum) const { *to = sum > 1 ? sum : 1.0; }
};

// Queues the counting of the labels that are not `ignored`: their number, at least 1, is put where
// `scratch`, of the device, begins.
template <typename T>
absl::Status LaunchCountValid(const KernelContext& c, const T* label, int64_t n, int64_t ignored,
                              double* scratch) {
  return SumElements(c, n, IsValid<T>{label, ignored}, scratch + 64 / sizeof(double),
                     PutAtLeastOne{scratch});
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LOSS_COUNT_VALID_H_
