#ifndef COOPER_THIRD_PARTY_CUDA_EMULATOR_HOST_DEVICE_CODE_H_
#define COOPER_THIRD_PARTY_CUDA_EMULATOR_HOST_DEVICE_CODE_H_

// CUDA C++ for a compiler that knows only C++: comes before a .cu file that g++ or clang compiles
// for the host (cuda_library in ../../defs.bzl). The runtime's types and calls are the toolkit's.
//
// Two things cannot be said in C++ alone: kernels are launched by cudaLaunchKernelEx, not by
// <<<>>>, and dynamic shared memory is DynamicShared() of thread.h, not an `extern __shared__`
// array.

#include <source_location>

#include "cuda_runtime.h"
#include "third_party/cuda/emulator/host/device_atomics.h"
#include "third_party/cuda/emulator/host/device_bits.h"
#include "third_party/cuda/emulator/host/device_launch.h"
#include "third_party/cuda/emulator/host/device_math.h"
#include "third_party/cuda/emulator/host/device_warp.h"
#include "third_party/cuda/emulator/host/thread.h"

// The toolkit makes nothing of __global__, __device__ and their like for this compiler. Blocks run
// one after the other, so that they can use one array in turn.
#undef __shared__
#define __shared__ static
// It says how many registers a thread may have, of which there are none here.
#undef __launch_bounds__
#define __launch_bounds__(...)

#define threadIdx (::cooper::cuda_emulator::ThreadIndex())
#define blockIdx (::cooper::cuda_emulator::BlockIndex())

// No macros: cudaLaunchConfig_t has members of these names.
inline constexpr const dim3& blockDim = ::cooper::cuda_emulator::g_block_shape;
inline constexpr const dim3& gridDim = ::cooper::cuda_emulator::g_grid_shape;
inline constexpr int warpSize = 32;

inline void __syncthreads(std::source_location where = std::source_location::current()) {
  ::cooper::cuda_emulator::WaitForBlock(where);
}

// Order between threads is that of barriers here; a fence alone makes none.
inline void __threadfence() {}
inline void __threadfence_block() {}

[[noreturn]] inline void __trap(std::source_location where = std::source_location::current()) {
  ::cooper::cuda_emulator::FailThread("trap", where);
}

#endif  // COOPER_THIRD_PARTY_CUDA_EMULATOR_HOST_DEVICE_CODE_H_
