#ifndef COOPER_EXECUTOR_KERNELS_REDUCERS_BLOCK_SUMS_H_
#define COOPER_EXECUTOR_KERNELS_REDUCERS_BLOCK_SUMS_H_

// Sums over all elements of a function of them, in double and without atomics: equal input gives
// equal bits. For .cu files; executor/kernels/optimizer/sum_squares.h is the CPU's.

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/launch/launch.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"

namespace cooper {

inline constexpr int kSumThreads = 256;
inline constexpr int64_t kMaxSumBlocks = 512;  // each leaves one number

// What SumElements needs as scratch.
inline constexpr int64_t kSumScratchBytes = kMaxSumBlocks * sizeof(double);

// The sum of what all threads of the block give, for thread 0; the others get a part of it.
__device__ inline double BlockSum(double value) {
  __shared__ double sums[kSumThreads];
  sums[threadIdx.x] = value;
  for (unsigned half = kSumThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) sums[threadIdx.x] = value += sums[threadIdx.x + half];
  }
  return value;
}

// Each block's sum of value(i).
template <typename Value>
__global__ void SumBlocks(int64_t n, Value value, double* sums) {
  double sum = 0;
  for (int64_t i = FirstElement(); i < n; i += ElementStep()) sum += static_cast<double>(value(i));
  sum = BlockSum(sum);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

// finish(their sum), in one thread.
template <typename Finish>
__global__ void SumOfBlocks(int blocks, const double* sums, Finish finish) {
  double sum = 0;
  for (int i = static_cast<int>(threadIdx.x); i < blocks; i += kSumThreads) sum += sums[i];
  sum = BlockSum(sum);
  if (threadIdx.x == 0) finish(sum);
}

// Calls finish(the sum of value(i) over [0, n)) on the device; 0 for no elements.
template <typename Value, typename Finish>
absl::Status SumElements(const KernelContext& c, int64_t n, Value value, double* scratch,
                         Finish finish) {
  constexpr int64_t kPerThread = 4;
  const int64_t blocks = std::clamp<int64_t>(n / (kSumThreads * kPerThread), 1, kMaxSumBlocks);
  COOPER_RETURN_IF_ERROR(Launch(c, dim3(static_cast<unsigned>(blocks)), dim3(kSumThreads),
                                SumBlocks<Value>, n, value, scratch));
  return Launch(c, dim3(1), dim3(kSumThreads), SumOfBlocks<Finish>, static_cast<int>(blocks),
                scratch, finish);
}

// The square of element i, squared in C, the type of the arithmetic.
template <typename C, typename T>
struct SquareOf {
  const T* values;
  __device__ C operator()(int64_t i) const {
    const C value = static_cast<C>(ConvertElement<C>(values[i]));
    return value * value;
  }
};

struct PutDouble {
  double* to;
  __device__ void operator()(double sum) const { *to = sum; }
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_REDUCERS_BLOCK_SUMS_H_
