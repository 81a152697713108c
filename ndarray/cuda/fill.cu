// Fills arrays on a GPU (fill.h). Work is queued on the default stream, as the copies and fills of
// cuda_device.cc are.

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "cuda_runtime.h"
#include "ndarray/array/fill.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/cuda/cuda_status.h"
#include "ndarray/cuda/device_scope.h"
#include "ndarray/random/random_values.h"

namespace cooper {
namespace {

constexpr int64_t kThreads = 256;
// More blocks would only wait for one another.
constexpr int64_t kMaxBlocks = 4096;

template <typename T>
__global__ void FillKernel(T* out, int64_t count, T value) {
  const int64_t step = gridDim.x * static_cast<int64_t>(blockDim.x);
  for (int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x; i < count;
       i += step) {
    out[i] = value;
  }
}

template <typename T>
__global__ void RandomKernel(T* out, int64_t count, bool uniform, double scale, uint64_t seed,
                             uint64_t stream) {
  const Philox random(seed, stream);
  const int64_t step = gridDim.x * static_cast<int64_t>(blockDim.x);
  for (int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x; i < count;
       i += step) {
    const auto position = static_cast<uint64_t>(i);
    out[i] = ConvertElement<T>(uniform ? UniformValue(random, position, static_cast<float>(scale))
                                       : NormalValue(random, position, scale));
  }
}

// Launches a kernel over the target's elements.
template <typename... P, typename... A>
absl::Status LaunchFill(const FillTarget& target, void (*kernel)(P...), A... arguments) {
  const CudaDeviceScope scope(target.context.device_id);
  COOPER_RETURN_IF_ERROR(scope.status());
  const int64_t blocks = std::min(kMaxBlocks, (target.count + kThreads - 1) / kThreads);
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(static_cast<unsigned>(blocks));
  config.blockDim = dim3(static_cast<unsigned>(kThreads));
  return CudaStatus(cudaLaunchKernelEx(&config, kernel, arguments...),
                    absl::StrCat("filling ", target.count, " ", DTypeName(target.dtype), " on ",
                                 target.context.ToString()));
}

absl::Status FillGpu(const FillTarget& target, double value) {
  return DispatchDType(target.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return LaunchFill(target, FillKernel<T>, static_cast<T*>(target.data), target.count,
                      ConvertElement<T>(value));
  });
}

absl::Status FillRandomGpu(const FillTarget& target, RandomType type, double scale,
                           const Philox& random) {
  return DispatchDType(target.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return LaunchFill(target, RandomKernel<T>, static_cast<T*>(target.data), target.count,
                      type == RandomType::kUniform, scale, random.seed(), random.stream());
  });
}

[[maybe_unused]] const bool kRegistered = [] {
  RegisterFill(DeviceType::kGpu, FillFunctions{FillGpu, FillRandomGpu});
  return true;
}();

}  // namespace
}  // namespace cooper
