#include "ndarray/cuda/cuda_status.h"

#include <string>

#include "absl/strings/str_cat.h"

namespace cooper {

namespace {

// Returns whether the error may come from work of an earlier call; such an error persists until the
// program ends.
bool IsLate(cudaError_t error) {
  switch (error) {
    case cudaErrorIllegalAddress:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorIllegalInstruction:
    case cudaErrorHardwareStackError:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
      return true;
    default:
      return false;
  }
}

}  // namespace

absl::Status CudaStatus(cudaError_t error, absl::string_view call) {
  if (error == cudaSuccess) return absl::OkStatus();
  cudaGetLastError();
  const std::string message =
      absl::StrCat(call, ": ", cudaGetErrorName(error), ": ", cudaGetErrorString(error),
                   IsLate(error) ? "; it may be of work before this: with CUDA_LAUNCH_BLOCKING=1 "
                                   "and COOPER_DEVICE_GRAPHS=0 in the environment the operator "
                                   "is named"
                                 : "");
  if (error == cudaErrorMemoryAllocation) return absl::ResourceExhaustedError(message);
  return absl::InternalError(message);
}

}  // namespace cooper
