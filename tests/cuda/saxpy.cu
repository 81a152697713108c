#include "tests/cuda/saxpy.h"

namespace cooper {
namespace {

__global__ void SaxpyKernel(float a, const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}

}  // namespace

int Saxpy(float a, absl::Span<const float> x, absl::Span<float> y) {
  constexpr int kThreads = 256;
  const int n = static_cast<int>(x.size());
  const size_t bytes = x.size() * sizeof(float);
  float* buffer = nullptr;  // x, then y
  if (cudaError_t error = cudaMalloc(&buffer, 2 * bytes)) return error;
  float* device_y = buffer + n;
  cudaMemcpy(buffer, x.data(), bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(device_y, y.data(), bytes, cudaMemcpyHostToDevice);
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3((n + kThreads - 1) / kThreads);
  config.blockDim = dim3(kThreads);
  const cudaError_t error = cudaLaunchKernelEx(&config, SaxpyKernel, a, buffer, device_y, n);
  cudaMemcpy(y.data(), device_y, bytes, cudaMemcpyDeviceToHost);
  cudaFree(buffer);
  return error;
}

}  // namespace cooper
