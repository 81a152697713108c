#ifndef COOPER_EXECUTOR_KERNELS_REDUCERS_BLOCK_SUMS_H_
#define COOPER_EXECUTOR_KERNELS_REDUCERS_BLOCK_SUMS_H_

// Sums a function of all elements on a GPU, in double and without atomics: equal inputs give equal
// bits. For .cu files; executor/kernels/optimizer/sum_squares.h is the counterpart for the CPU.
//
// A first launch leaves one partial sum for each block in scratch memory, and a second launch of
// one block adds these. The result stays on the device: `finish` receives it there.

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/launch/launch.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"

namespace cooper {

// The threads of each block, a power of 2. BlockSum halves the number of active threads down to 1
// and needs exactly this many.
inline constexpr int kSumThreads = 256;
// The most blocks of the first launch. One block of the second launch reads all partial sums.
inline constexpr int64_t kMaxSumBlocks = 512;  // each stores one partial sum

// Bytes of scratch memory that SumElements needs. The size does not depend on the number of
// elements.
inline constexpr int64_t kSumScratchBytes = kMaxSumBlocks * sizeof(double);

// Returns the sum over all threads of the block to thread 0, and partial sums to the others. Adds
// in a tree of fixed shape, so the order depends on kSumThreads alone. All threads must call it, at
// most once in a kernel: the shared array may still be read when a second call writes to it.
__device__ inline double BlockSum(double value) {
  __shared__ double sums[kSumThreads];
  sums[threadIdx.x] = value;
  for (unsigned half = kSumThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) sums[threadIdx.x] = value += sums[threadIdx.x + half];
  }
  return value;
}

// Writes each block's sum of value(i) to sums, which has gridDim.x elements: the first kernel of
// SumElements. `Value` is a device function of an index that returns a number; it is called once
// for each i in [0, n). Each thread adds its own elements in ascending order.
template <typename Value>
__global__ void SumBlocks(int64_t n, Value value, double* sums) {
  double sum = 0;
  for (int64_t i = FirstElement(); i < n; i += ElementStep()) sum += static_cast<double>(value(i));
  sum = BlockSum(sum);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

// Adds the blocks' sums and calls finish(the total) in one thread: the second kernel of
// SumElements, which runs in one block. `sums` has `blocks` elements, and `finish` is a device
// function of a double.
template <typename Finish>
__global__ void SumOfBlocks(int blocks, const double* sums, Finish finish) {
  double sum = 0;
  for (int i = static_cast<int>(threadIdx.x); i < blocks; i += kSumThreads) sum += sums[i];
  sum = BlockSum(sum);
  if (threadIdx.x == 0) finish(sum);
}

// Queues kernels that call finish(the sum of value(i) over [0, n)) on the device; the sum is 0 for
// n = 0. `scratch` is device memory of kSumScratchBytes. Does not wait for the device, so `scratch`
// and all memory that `value` and `finish` refer to must stay valid until the kernels have run.
// Calls on the same stream may share `scratch`. The number of blocks depends on n alone, and so
// does the order of the sum.
//
// Errors: those of Launch.
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

// Returns the square of element i, computed in C: a `Value` of SumElements. With C = float a square
// above about 3.4e38 is infinite, although the sum is computed in double.
template <typename C, typename T>
struct SquareOf {
  // Device memory, not owned.
  const T* values;
  __device__ C operator()(int64_t i) const {
    const C value = static_cast<C>(ConvertElement<C>(values[i]));
    return value * value;
  }
};

// Stores the sum in *to: a `Finish` of SumElements. `to` is device memory, not owned.
struct StoreSum {
  double* to;
  __device__ void operator()(double sum) const { *to = sum; }
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_REDUCERS_BLOCK_SUMS_H_
