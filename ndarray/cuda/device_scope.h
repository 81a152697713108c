#ifndef COOPER_NDARRAY_CUDA_DEVICE_SCOPE_H_
#define COOPER_NDARRAY_CUDA_DEVICE_SCOPE_H_

// Makes a device current for the CUDA calls of the calling thread during a scope, and then restores
// the previous device, on which the program around cooper may rely. It restores only a device that
// the process has used: since CUDA 12 cudaSetDevice creates a context where there is none, which
// takes hundreds of megabytes and fails where another process has exclusive use of the device.

#include "absl/status/status.h"

namespace cooper {

// Affects the calling thread only. The device is current if status() is OK. Scopes may be nested.
class CudaDeviceScope {
 public:
  explicit CudaDeviceScope(int device_id);
  ~CudaDeviceScope();
  CudaDeviceScope(const CudaDeviceScope&) = delete;
  CudaDeviceScope& operator=(const CudaDeviceScope&) = delete;

  // Returns kInternal, naming the device, if it could not be made current.
  const absl::Status& status() const { return status_; }

 private:
  int previous_ = -1;  // the device to restore; -1 if nothing was changed
  absl::Status status_;
};

// Returns whether this process has the device's primary context, the one that the CUDA runtime
// uses. True if the driver cannot be asked.
bool HasCudaContext(int device_id);

}  // namespace cooper

#endif  // COOPER_NDARRAY_CUDA_DEVICE_SCOPE_H_
