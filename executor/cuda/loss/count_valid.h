#ifndef COOPER_EXECUTOR_CUDA_LOSS_COUNT_VALID_H_
#define COOPER_EXECUTOR_CUDA_LOSS_COUNT_VALID_H_

// The divisor of normalization "valid", which the device counts. For .cu files.

#include <cstdint>

#include "absl/status/status.h"
#include "executor/cuda/launch.h"
#include "executor/cuda/reduce/set_reduce.h"
#include "executor/kernel.h"
#include "ndarray/dtype.h"

namespace cooper {

// The number of labels that are not `ignored`, at least 1: one block.
template <typename T>
__global__ void CountValid(const T* label, int64_t n, int64_t ignored, double* count) {
  const SetPlan plan{
      .outer = 1, .n = n, .inner = 1, .channels = false, .lanes = kSetThreads, .adjacent = true};
  const SetThread thread(plan);
  const double sum = thread.SumOver<double>(0, [&](int64_t i, int64_t) {
    return ConvertElement<int64_t>(label[i]) != ignored ? 1.0 : 0.0;
  });
  if (thread.IsFirst()) *count = sum > 1 ? sum : 1.0;
}

// Queues the counting of the labels of `label` into `count`, which lies on the device.
template <typename T>
absl::Status LaunchCountValid(const KernelContext& c, const T* label, int64_t n, int64_t ignored,
                              double* count) {
  return Launch(c, dim3(1), dim3(kSetThreads), CountValid<T>, label, n, ignored, count);
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_CUDA_LOSS_COUNT_VALID_H_
