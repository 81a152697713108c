#include "executor/kernels/launch/kernel_queue.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "cuda_runtime.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/cuda/cuda_status.h"
#include "ndarray/cuda/device_scope.h"

namespace cooper {
namespace {

class KernelQueue : public DeviceQueue {
 public:
  explicit KernelQueue(int device_id) : device_id_(device_id) {}

  absl::Status Open() {
    const CudaDeviceScope scope(device_id_);
    COOPER_RETURN_IF_ERROR(scope.status());
    COOPER_RETURN_IF_ERROR(CudaStatus(cudaDeviceSynchronize(), "cudaDeviceSynchronize"));
    return CudaStatus(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking),
                      "cudaStreamCreateWithFlags");
  }

  ~KernelQueue() override {
    const CudaDeviceScope scope(device_id_);
    if (stream_ != nullptr && cudaStreamDestroy(stream_) != cudaSuccess) cudaGetLastError();
  }

  void* handle() const override { return stream_; }

  absl::Status WaitFor(DeviceQueue& other) override { return other.Synchronize(); }

  absl::Status Copy(void* dst, Context /*dst_context*/, const void* src, Context /*src_context*/,
                    int64_t bytes) override {
    const CudaDeviceScope scope(device_id_);
    COOPER_RETURN_IF_ERROR(scope.status());
    return CudaStatus(
        cudaMemcpyAsync(dst, src, static_cast<size_t>(bytes), cudaMemcpyDefault, stream_),
        "cudaMemcpyAsync");
  }

  absl::Status Synchronize() override {
    const CudaDeviceScope scope(device_id_);
    COOPER_RETURN_IF_ERROR(scope.status());
    return CudaStatus(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
  }

 private:
  const int device_id_;
  cudaStream_t stream_ = nullptr;
};

}  // namespace

absl::StatusOr<std::unique_ptr<DeviceQueue>> MakeKernelQueue(const Context& context) {
  if (context.is_cpu()) return nullptr;
  auto queue = std::make_unique<KernelQueue>(context.device_id);
  COOPER_RETURN_IF_ERROR(queue->Open());
  return std::unique_ptr<DeviceQueue>(std::move(queue));
}

absl::StatusOr<NDArray> CopyAfter(DeviceQueue* queue, const NDArray& array) {
  if (queue == nullptr) return array.CopyTo(Context::Cpu());
  COOPER_ASSIGN_OR_RETURN(NDArray copy, NDArray::Empty(array.shape(), array.dtype()));
  const int64_t bytes = array.shape().num_elements() * SizeOf(array.dtype());
  if (bytes > 0) {
    COOPER_RETURN_IF_ERROR(
        queue->Copy(copy.raw_data(), copy.context(), array.raw_data(), array.context(), bytes));
  }
  COOPER_RETURN_IF_ERROR(queue->Synchronize());
  return copy;
}

}  // namespace cooper
