#ifndef COOPER_TESTS_CUDA_DEVICE_GRADIENTS_H_
#define COOPER_TESTS_CUDA_DEVICE_GRADIENTS_H_

// Fixtures for tests of gradients on three GPUs.

#include <cstdint>
#include <string>
#include <vector>

#include "cuda_runtime.h"
#include "gtest/gtest.h"
#include "module/kvstore/gradient_buckets.h"
#include "ndarray/array/device.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/array/queue_of.h"
#include "ndarray/base/context.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/cuda/device_scope.h"
#include "ndarray/random/random.h"

namespace cooper {

inline const std::vector<Context> kGpus = {Context::Gpu(0), Context::Gpu(1), Context::Gpu(2)};

// Returns the values of a float32 array.
inline std::vector<float> Of(const NDArray& array) { return *array.ToVector<float>(); }

// Returns whether GPU 0 is emulated. Queued work then runs only when something waits for it.
inline bool IsEmulated() {
  cudaDeviceProp properties;
  return cudaGetDeviceProperties(&properties, 0) == cudaSuccess &&
         std::string(properties.name).find("emulator") != std::string::npos;
}

// Work in the queue of each GPU that has not run until something waits for it. Only meaningful
// under the emulator, where work does not run on its own.
class Unwaited {
 public:
  Unwaited() {
    for (const Context& gpu : kGpus) {
      arrays_.push_back(*NDArray::Zeros({1}, DType::kFloat32, gpu));
      const CudaDeviceScope scope(gpu.device_id);
      DeviceQueue& queue = **GetQueue(gpu);
      COOPER_EXPECT_OK(queue.Synchronize());
      COOPER_EXPECT_OK(
          queue.Copy(arrays_.back().raw_data(), gpu, arrays_.back().raw_data(), gpu, 4));
      EXPECT_EQ(cudaEventCreate(&events_.emplace_back()), cudaSuccess);
      EXPECT_EQ(cudaEventRecord(events_.back(), static_cast<cudaStream_t>(queue.handle())),
                cudaSuccess);
    }
  }
  ~Unwaited() {
    for (cudaEvent_t event : events_) cudaEventDestroy(event);
  }
  Unwaited(const Unwaited&) = delete;
  Unwaited& operator=(const Unwaited&) = delete;

  // Returns whether all the work is still pending; always true on a real GPU.
  bool holds() const {
    if (!IsEmulated()) return true;
    bool holds = true;
    for (cudaEvent_t event : events_) {
      holds = holds && cudaEventQuery(event) == cudaErrorNotReady;
      cudaGetLastError();
    }
    return holds;
  }

 private:
  std::vector<NDArray> arrays_;
  std::vector<cudaEvent_t> events_;
};

// Returns random gradients: for each key, an array on each GPU.
inline std::vector<DeviceGradient> Gradients(const std::vector<int64_t>& sizes, uint64_t seed) {
  RandomGenerator random(seed);
  std::vector<DeviceGradient> gradients;
  for (size_t k = 0; k < sizes.size(); ++k) {
    DeviceGradient& gradient = gradients.emplace_back();
    gradient.key = "g" + std::to_string(k);
    for (const Context& gpu : kGpus) {
      std::vector<float> values(static_cast<size_t>(sizes[k]));
      for (float& value : values) value = static_cast<float>(random.NextNormal());
      gradient.arrays.push_back(*NDArray::FromVector<float>({sizes[k]}, values)->CopyTo(gpu));
    }
  }
  return gradients;
}

// Returns the sum in the order of devices, in float32.
inline std::vector<float> SumOf(const std::vector<NDArray>& arrays) {
  std::vector<float> sum = Of(arrays[0]);
  for (size_t i = 1; i < arrays.size(); ++i) {
    const std::vector<float> more = Of(arrays[i]);
    for (size_t k = 0; k < sum.size(); ++k) sum[k] += more[k];
  }
  return sum;
}

}  // namespace cooper

#endif  // COOPER_TESTS_CUDA_DEVICE_GRADIENTS_H_
