#ifndef COOPER_NDARRAY_CUDA_REQUIRE_GPU_H_
#define COOPER_NDARRAY_CUDA_REQUIRE_GPU_H_

// Defines COOPER_REQUIRE_GPU(), which skips the rest of a test where there is no GPU and prints
// CUDA's reason, and COOPER_REQUIRE_GPUS(n), which skips it where there are fewer than n.
//
// COOPER_EMULATE(DEVICES, "2"), at namespace scope of a test, sets COOPER_CUDA_EMULATOR_DEVICES for
// the emulator (tests/cuda_emulator), which reads it at the first CUDA call, unless the
// environment has it already. It has no effect on a real GPU.

#include <cstdlib>
#include <string>

#include "cuda_runtime.h"
#include "gtest/gtest.h"

namespace cooper {

// Returns an empty string if there are at least `wanted` GPUs, else the reason why a test cannot
// run.
inline std::string NoGpuReason(int wanted = 1) {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaSuccess && count >= wanted) return "";
  cudaGetLastError();
  if (error != cudaSuccess) return cudaGetErrorString(error);
  return count == 0 ? "none is visible" : "only " + std::to_string(count) + " visible";
}

}  // namespace cooper

#define COOPER_REQUIRE_GPUS(wanted)                                        \
  if (const std::string why = ::cooper::NoGpuReason(wanted); !why.empty()) \
  GTEST_SKIP() << "no GPU: " << why

#define COOPER_REQUIRE_GPU() COOPER_REQUIRE_GPUS(1)

#define COOPER_EMULATE(name, value)                   \
  [[maybe_unused]] static const int kEmulated##name = \
      setenv("COOPER_CUDA_EMULATOR_" #name, value, /*overwrite=*/0)

#endif  // COOPER_NDARRAY_CUDA_REQUIRE_GPU_H_
