#ifndef COOPER_NDARRAY_CUDA_DEVICE_SCOPE_H_
#define COOPER_NDARRAY_CUDA_DEVICE_SCOPE_H_

// CUDA calls go to the calling thread's current device. A scope makes one current while it lives
// and then the one from before, which the program around cooper may count on; but only if the
// process has used that one: since CUDA 12 cudaSetDevice makes a context where there is none, which
// takes hundreds of megabytes, and fails where another process has the device for itself.

#include "absl/status/status.h"

namespace cooper {

class CudaDeviceScope {
 public:
  explicit CudaDeviceScope(int device_id);
  ~CudaDeviceScope();
  CudaDeviceScope(const CudaDeviceScope&) = delete;
  CudaDeviceScope& operator=(const CudaDeviceScope&) = delete;

  // kInternal, naming the device, if it could not be made current.
  const absl::Status& status() const { return status_; }

 private:
  int previous_ = -1;  // what to go back to; -1 if nothing was changed
  absl::Status status_;
};

// Whether this process has a context on the device, by the runtime's own (the primary one): true
// where the driver does not tell.
bool HasCudaContext(int device_id);

}  // namespace cooper

#endif  // COOPER_NDARRAY_CUDA_DEVICE_SCOPE_H_
