#ifndef COOPER_EXECUTOR_KERNELS_LAUNCH_LAUNCH_H_
#define COOPER_EXECUTOR_KERNELS_LAUNCH_LAUNCH_H_

// Launches device code for one operator and returns errors as a Status. For .cu files. Nearly all
// GPU kernels include this header: Launch is for grids of any form, LaunchElements for loops over
// the elements of arrays. launch_rows.h is for loops over matrices.
//
//   __global__ void Scale(int64_t n, float a, float* x) {
//     for (int64_t i = FirstElement(); i < n; i += ElementStep()) x[i] *= a;
//   }
//   return LaunchElements(c, n, Scale, n, a, x);
//
// A launch only queues work, in order behind earlier work of the same queue. Errors of the device
// code itself appear at a later call that waits for the queue. No function here allocates or waits.

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

// Returns the kernel's stream; null, the default stream, if the kernel runs without a queue. The
// queue owns the stream.
inline cudaStream_t StreamOf(const KernelContext& c) {
  return c.queue == nullptr ? nullptr : static_cast<cudaStream_t>(c.queue->handle());
}

// Queues `kernel` on the stream and the device of `c`. `grid` is in blocks, `block` in threads. The
// arguments are converted to the kernel's parameters and copied, so they may be temporaries;
// pointers among them are device pointers that stay valid until the kernel has run. The grid must
// not be empty. The kernel's shared memory is static: the launch reserves no dynamic shared memory.
//
// Errors: those of CudaStatus, kInternal for a grid or a block that the device does not support.
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

// The block size, in threads, of kernels that loop over elements. A multiprocessor with room for
// 2048 threads holds up to eight such blocks.
inline constexpr int64_t kElementThreads = 256;

// Returns the number of such blocks for `count` elements: one thread per element, up to 4096 blocks
// or about a million threads, beyond which threads loop. It is limited because further blocks would
// only wait on every existing GPU. The result is 0 if `count` is 0.
inline unsigned ElementBlocks(int64_t count) {
  constexpr int64_t kMaxBlocks = 4096;
  return BlocksFor((count + kElementThreads - 1) / kElementThreads, kMaxBlocks);
}

// Launches a kernel that loops over `count` elements from FirstElement() in steps of ElementStep().
// Does nothing if `count` is 0. `count` is only used for the size of the grid: pass it among
// `arguments` too if the kernel needs it. For kernels whose threads handle several adjacent
// elements, `count` is the number of such groups.
//
// Errors: those of Launch.
template <typename... P, typename... A>
absl::Status LaunchElements(const KernelContext& c, int64_t count, void (*kernel)(P...),
                            A&&... arguments) {
  if (count == 0) return absl::OkStatus();
  return Launch(c, dim3(ElementBlocks(count)), dim3(kElementThreads), kernel,
                std::forward<A>(arguments)...);
}

// Calls fn(Index{}) with an unsigned type that holds `count`, and returns its status. 32 bits are
// used where they suffice because their divisions are several times faster. They are used up to
// INT32_MAX only, so that an index does not wrap when a loop steps beyond `count` by up to 2^31.
template <typename Fn>
absl::Status DispatchIndex(int64_t count, Fn&& fn) {
  if (count <= INT32_MAX) return fn(uint32_t{});
  return fn(uint64_t{});
}

// The position of this thread in the grid, and the number of threads in the grid, along x. Together
// they make a grid-stride loop, in which the threads of a warp access adjacent elements.
__device__ inline int64_t FirstElement() {
  return blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
}
__device__ inline int64_t ElementStep() { return gridDim.x * static_cast<int64_t>(blockDim.x); }

// Calls use(i, load(i)) for this thread's elements of [0, count), with several loads in flight,
// which a GPU needs to saturate its memory: 4 for values of up to 4 bytes, otherwise 2, before the
// first use. use(i) may write to the address that load(i) has read, but to no address that load
// reads for another i. Works in any one-dimensional grid, as that of LaunchElements.
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
