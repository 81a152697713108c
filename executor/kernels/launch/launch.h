#ifndef COOPER_EXECUTOR_KERNELS_LAUNCH_LAUNCH_H_
#define COOPER_EXECUTOR_KERNELS_LAUNCH_LAUNCH_H_

// Launches device code for one operator and returns errors as a Status. For .cu files.
//
//   __global__ void Scale(int64_t n, float a, float* x) {
//     for (int64_t i = FirstElement(); i < n; i += ElementStep()) x[i] *= a;
//   }
//   return LaunchElements(c, n, Scale, n, a, x);

#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "cuda_runtime.h"
#include "executor/kernels/launch/block_limit.h"
#include "executor/program/kernel.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/cuda/cuda_status.h"
#include "ndarray/cuda/device_scope.h"

namespace cooper {

// Whether to lower launch bounds and the number of loads in flight: for compute capability 10.0 and
// later nvcc uses more registers for the same source, and would spill.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000
inline constexpr bool kNeedsMoreRegisters = true;
#else
inline constexpr bool kNeedsMoreRegisters = false;
#endif

// Returns the kernel's stream; null, the default stream, if the kernel runs without a queue.
inline cudaStream_t StreamOf(const KernelContext& c) {
  return c.queue == nullptr ? nullptr : static_cast<cudaStream_t>(c.queue->handle());
}

// Queues `kernel` on the stream and the device of `c`. The arguments are converted to the kernel's
// parameters. The grid must not be empty.
template <typename... P, typename... A>
absl::Status Launch(const KernelContext& c, dim3 grid, dim3 block, void (*kernel)(P...),
                    A&&... arguments) {
  const CudaDeviceScope scope(c.context.device_id);
  COOPER_RETURN_IF_ERROR(scope.status());
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = block;
  config.stream = StreamOf(c);
  return CudaStatus(cudaLaunchKernelEx(&config, kernel, std::forward<A>(arguments)...), "launch");
}

// The block size of kernels that loop over elements.
inline constexpr int64_t kElementThreads = 256;

// Returns the number of such blocks for `count` elements. It is limited because further blocks
// would only wait on every existing GPU.
inline unsigned ElementBlocks(int64_t count) {
  constexpr int64_t kMaxBlocks = 4096;
  return BlocksFor((count + kElementThreads - 1) / kElementThreads, kMaxBlocks);
}

// Launches a kernel that loops over `count` elements from FirstElement() in steps of ElementStep().
// Does nothing if `count` is 0.
template <typename... P, typename... A>
absl::Status LaunchElements(const KernelContext& c, int64_t count, void (*kernel)(P...),
                            A&&... arguments) {
  if (count == 0) return absl::OkStatus();
  return Launch(c, dim3(ElementBlocks(count)), dim3(kElementThreads), kernel,
                std::forward<A>(arguments)...);
}

// Calls fn(Index{}) with an unsigned type that holds `count`, and returns its status. 32 bits are
// used where they suffice because their divisions are several times faster.
template <typename Fn>
absl::Status DispatchIndex(int64_t count, Fn&& fn) {
  if (count <= INT32_MAX) return fn(uint32_t{});
  return fn(uint64_t{});
}

// The position of this thread in the grid, and the number of threads in the grid, along x.
__device__ inline int64_t FirstElement() {
  return blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
}
__device__ inline int64_t ElementStep() { return gridDim.x * static_cast<int64_t>(blockDim.x); }

// Calls use(i, load(i)) for this thread's elements of [0, count), with several loads in flight,
// which a GPU needs to saturate its memory. use(i) may write to the address that load(i) has read.
template <typename Load, typename Use>
__device__ void ForEachLoaded(int64_t count, Load&& load, Use&& use) {
  using Value = decltype(load(int64_t{0}));
  constexpr int kLoads = sizeof(Value) <= 4 ? 4 : 2;
  const int64_t step = ElementStep();
  for (int64_t first = FirstElement(); first < count; first += kLoads * step) {
    Value values[kLoads];
#pragma unroll
    for (int k = 0; k < kLoads; ++k) {
      if (first + k * step < count) values[k] = load(first + k * step);
    }
#pragma unroll
    for (int k = 0; k < kLoads; ++k) {
      if (first + k * step < count) use(first + k * step, values[k]);
    }
  }
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LAUNCH_LAUNCH_H_
