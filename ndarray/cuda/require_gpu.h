#ifndef COOPER_NDARRAY_CUDA_REQUIRE_GPU_H_
#define COOPER_NDARRAY_CUDA_REQUIRE_GPU_H_

// COOPER_REQUIRE_GPU(): skips the rest of a test where there is no GPU, with CUDA's reason.

#include <string>

#include "cuda_runtime.h"
#include "gtest/gtest.h"

namespace cooper {

// Empty if there is a GPU.
inline std::string WhyNoGpu() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaSuccess && count > 0) return "";
  cudaGetLastError();
  return error == cudaSuccess ? "none is visible" : cudaGetErrorString(error);
}

}  // namespace cooper

#define COOPER_REQUIRE_GPU() \
  if (const std::string why = ::cooper::WhyNoGpu(); !why.empty()) GTEST_SKIP() << "no GPU: " << why

#endif  // COOPER_NDARRAY_CUDA_REQUIRE_GPU_H_
