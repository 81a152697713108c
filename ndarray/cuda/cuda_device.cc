// The GPU as a kind of device. Linking this file makes Context::Gpu known.
//
// All work of cooper on a device is queued on its default stream, kernels too
// (KernelContext::stream is null): it runs in the order of the calls, also where several threads
// make them, and the memory of a freed block can be used again at once. Nothing here waits except
// for copies.

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "cuda_runtime.h"
#include "ndarray/cuda/cuda_status.h"
#include "ndarray/cuda/device_scope.h"
#include "ndarray/device.h"
#include "ndarray/status_macros.h"

namespace cooper {
namespace {

int CountDevices() {
  int count = 0;
  if (cudaGetDeviceCount(&count) == cudaSuccess) return count;
  cudaGetLastError();  // no driver, or one that is too old for this toolkit
  return 0;
}

class CudaDevice : public Device {
 public:
  int Count() const override {
    static const int count = CountDevices();  // asked at each allocation
    return count;
  }

  absl::StatusOr<void*> Allocate(int device_id, int64_t bytes) override {
    const CudaDeviceScope scope(device_id);
    COOPER_RETURN_IF_ERROR(scope.status());
    // cudaMalloc aligns to 256 bytes, which is a multiple of kStorageAlignment.
    void* data = nullptr;
    COOPER_RETURN_IF_ERROR(
        CudaStatus(cudaMalloc(&data, static_cast<size_t>(bytes)),
                   absl::StrCat("cannot allocate ", bytes, " bytes on gpu(", device_id, ")")));
    return data;
  }

  void Free(int device_id, void* data, int64_t) override {
    const CudaDeviceScope scope(device_id);
    // Arrays of static duration come here when the driver is already gone, and with it the memory.
    if (cudaFree(data) != cudaSuccess) cudaGetLastError();
  }

  absl::Status Copy(void* dst, Context dst_context, const void* src, Context src_context,
                    int64_t bytes) override {
    if (dst == src) return absl::OkStatus();
    const Context here = dst_context.is_cpu() ? src_context : dst_context;
    const CudaDeviceScope scope(here.device_id);
    COOPER_RETURN_IF_ERROR(scope.status());
    COOPER_RETURN_IF_ERROR(
        CudaStatus(Queue(dst, dst_context, src, src_context, static_cast<size_t>(bytes)),
                   absl::StrCat("copying ", bytes, " bytes from ", src_context.ToString(), " to ",
                                dst_context.ToString())));
    // A copy between devices is only queued so far.
    return CudaStatus(cudaStreamSynchronize(nullptr), "waiting for a copy");
  }

  absl::Status FillZero(void* dst, Context context, int64_t bytes) override {
    const CudaDeviceScope scope(context.device_id);
    COOPER_RETURN_IF_ERROR(scope.status());
    return CudaStatus(cudaMemsetAsync(dst, 0, static_cast<size_t>(bytes), nullptr),
                      absl::StrCat("zeroing ", bytes, " bytes on ", context.ToString()));
  }

 private:
  static cudaError_t Queue(void* dst, Context dst_context, const void* src, Context src_context,
                           size_t bytes) {
    if (dst_context.is_cpu()) return cudaMemcpy(dst, src, bytes, cudaMemcpyDeviceToHost);
    if (src_context.is_cpu()) return cudaMemcpy(dst, src, bytes, cudaMemcpyHostToDevice);
    if (dst_context == src_context) return cudaMemcpy(dst, src, bytes, cudaMemcpyDeviceToDevice);
    // Waits for what is queued on both devices.
    return cudaMemcpyPeer(dst, dst_context.device_id, src, src_context.device_id, bytes);
  }
};

[[maybe_unused]] const bool kRegistered = [] {
  RegisterDevice(DeviceType::kGpu, new CudaDevice);
  return true;
}();

}  // namespace
}  // namespace cooper
