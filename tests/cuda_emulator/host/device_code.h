#ifndef COOPER_TESTS_CUDA_EMULATOR_HOST_DEVICE_CODE_H_
#define COOPER_TESTS_CUDA_EMULATOR_HOST_DEVICE_CODE_H_

// CUDA C++ for a compiler that supports only C++. It is included before a .cu file that g++ or
// clang compiles for the host (cuda_library in third_party/cuda/defs.bzl). The runtime's types and
// calls are the toolkit's.
//
// Two features have no C++ equivalent: kernels are launched by cudaLaunchKernelEx instead of
// <<<>>>, and dynamic shared memory is DynamicShared() of thread.h instead of an `extern
// __shared__` array.

#include <source_location>

#include "cuda_runtime.h"
#include "tests/cuda_emulator/host/device_atomics.h"
#include "tests/cuda_emulator/host/device_bits.h"
#include "tests/cuda_emulator/host/device_launch.h"
#include "tests/cuda_emulator/host/device_math.h"
#include "tests/cuda_emulator/host/device_warp.h"
#include "tests/cuda_emulator/host/thread.h"

// The toolkit defines __global__, __device__ and others as empty for this compiler. Blocks run one
// after another, so they can share one static array.
#undef __shared__
#define __shared__ static
// Limits the registers of a thread, which has no meaning here.
#undef __launch_bounds__
#define __launch_bounds__(...)

#define threadIdx (::cooper::cuda_emulator::ThreadIndex())
#define blockIdx (::cooper::cuda_emulator::BlockIndex())

// These are not macros, because cudaLaunchConfig_t has members of these names.
inline constexpr const dim3& blockDim = ::cooper::cuda_emulator::g_block_shape;
inline constexpr const dim3& gridDim = ::cooper::cuda_emulator::g_grid_shape;
inline constexpr int warpSize = 32;

// Waits for all threads of the block. `where` names the barrier in messages.
inline void __syncthreads(std::source_location where = std::source_location::current()) {
  ::cooper::cuda_emulator::WaitForBlock(where);
}

// Barriers order threads here; a fence alone does not.
inline void __threadfence() {}
inline void __threadfence_block() {}

[[noreturn]] inline void __trap(std::source_location where = std::source_location::current()) {
  ::cooper::cuda_emulator::FailThread("trap", where);
}

#endif  // COOPER_TESTS_CUDA_EMULATOR_HOST_DEVICE_CODE_H_
