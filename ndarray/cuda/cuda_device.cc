// Implements Device for GPUs. Linking this file registers DeviceType::kGpu.
//
// Copies and fills of the device itself run on its default stream. A queue's stream is a blocking
// one: it and the default stream wait for each other. So copies and fills see what kernels have
// written before, and kernels see what earlier copies and fills have written.

#include <cstdint>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "cuda_runtime.h"
#include "ndarray/array/device.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/cuda/cuda_queue.h"
#include "ndarray/cuda/cuda_status.h"
#include "ndarray/cuda/device_scope.h"
#include "ndarray/cuda/peer_access.h"

namespace cooper {
namespace {

int CountDevices() {
  int count = 0;
  if (cudaGetDeviceCount(&count) == cudaSuccess) return count;
  cudaGetLastError();  // no driver, or one that is too old for this toolkit
  return 0;
}

// Describes the free memory of the current device: ", where 100 of 200 are free".
std::string DescribeFree() {
  size_t available = 0, total = 0;
  if (cudaMemGetInfo(&available, &total) == cudaSuccess) {
    return absl::StrCat(", where ", available, " of ", total, " are free");
  }
  cudaGetLastError();
  return "";
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
    const cudaError_t error = cudaMalloc(&data, static_cast<size_t>(bytes));
    if (error == cudaSuccess) return data;
    return CudaStatus(error, absl::StrCat("cannot allocate ", bytes, " bytes on gpu(", device_id,
                                          ")", DescribeFree()));
  }

  void Free(int device_id, void* data, int64_t) override {
    const CudaDeviceScope scope(device_id);
    // The driver may be unloaded, and the memory released, before arrays of static duration are
    // freed.
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
                   DescribeCudaCopy(dst_context, src_context, bytes)));
    // Later work on this device runs after the copy; work on other devices may not wait for it.
    const bool two_devices = !dst_context.is_cpu() && !src_context.is_cpu() &&
                             dst_context.device_id != src_context.device_id;
    const bool read_later = src_context.is_cpu() &&
                            (AccessesPageableMemory(here.device_id) || IsPinned(src_context, src));
    if (!two_devices && !read_later) return absl::OkStatus();
    return CudaStatus(cudaStreamSynchronize(nullptr), "waiting for a copy");
  }

  absl::Status FillZero(void* dst, Context context, int64_t bytes) override {
    const CudaDeviceScope scope(context.device_id);
    COOPER_RETURN_IF_ERROR(scope.status());
    return CudaStatus(cudaMemsetAsync(dst, 0, static_cast<size_t>(bytes), nullptr),
                      absl::StrCat("zeroing ", bytes, " bytes on ", context.ToString()));
  }

  absl::StatusOr<std::unique_ptr<DeviceQueue>> MakeQueue(int device_id) override {
    return CudaQueue::Create(device_id);
  }

 private:
  static cudaError_t Queue(void* dst, Context dst_context, const void* src, Context src_context,
                           size_t bytes) {
    // A copy from a CPU need not wait for the device's pending work if the memory is read within
    // the call (IsPinned, AccessesPageableMemory). A copy to a CPU waits and returns when the
    // memory is written.
    if (dst_context.is_cpu() || src_context.is_cpu() || dst_context == src_context) {
      const cudaMemcpyKind kind = CudaCopyKind(dst_context, src_context);
      return dst_context.is_cpu() ? cudaMemcpy(dst, src, bytes, kind)
                                  : cudaMemcpyAsync(dst, src, bytes, kind, nullptr);
    }
    EnablePeerAccess(dst_context.device_id, src_context.device_id);
    // Waits for the queued work of both devices.
    return cudaMemcpyPeer(dst, dst_context.device_id, src, src_context.device_id, bytes);
  }
};

[[maybe_unused]] const bool kRegistered = [] {
  RegisterDevice(DeviceType::kGpu, new CudaDevice);
  return true;
}();

}  // namespace
}  // namespace cooper
