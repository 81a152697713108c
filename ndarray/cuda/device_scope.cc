#include "ndarray/cuda/device_scope.h"

#include "absl/strings/str_cat.h"
#include "cuda_runtime.h"
#include "ndarray/cuda/cuda_status.h"

namespace cooper {

CudaDeviceScope::CudaDeviceScope(int device_id) {
  int current = -1;
  status_ = CudaStatus(cudaGetDevice(&current), "cudaGetDevice");
  if (!status_.ok() || current == device_id) return;
  const cudaError_t error = cudaSetDevice(device_id);
  if (error == cudaSuccess) {
    previous_ = current;
  } else {
    status_ = CudaStatus(error, absl::StrCat("cudaSetDevice(", device_id, ")"));
  }
}

CudaDeviceScope::~CudaDeviceScope() {
  if (previous_ >= 0) cudaSetDevice(previous_);
}

}  // namespace cooper
