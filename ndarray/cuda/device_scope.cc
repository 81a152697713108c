#include "ndarray/cuda/device_scope.h"

#include <atomic>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "cuda.h"
#include "cuda_runtime.h"
#include "ndarray/cuda/cuda_status.h"

namespace cooper {
namespace {

using GetState = decltype(&cuDevicePrimaryCtxGetState);

// Looks the function up through the runtime, since programs do not link the driver. Null if there
// is no driver.
GetState FindGetState() {
  void* function = nullptr;
#if CUDART_VERSION >= 12050
  const cudaError_t error = cudaGetDriverEntryPointByVersion("cuDevicePrimaryCtxGetState",
                                                             &function, 7000, cudaEnableDefault);
#else
  const cudaError_t error =
      cudaGetDriverEntryPoint("cuDevicePrimaryCtxGetState", &function, cudaEnableDefault);
#endif
  if (error == cudaSuccess) return reinterpret_cast<GetState>(function);
  cudaGetLastError();
  return nullptr;
}

}  // namespace

bool HasCudaContext(int device_id) {
  // Called at each launch, so the result is cached: a context exists until the program resets the
  // device.
  static std::atomic<uint64_t> known = 0;
  const uint64_t bit = device_id < 64 ? uint64_t{1} << device_id : 0;
  if ((known.load(std::memory_order_relaxed) & bit) != 0) return true;
  static const GetState get_state = FindGetState();
  unsigned flags = 0;
  int active = 0;
  if (get_state == nullptr || get_state(device_id, &flags, &active) != CUDA_SUCCESS) return true;
  if (active != 0) known.fetch_or(bit, std::memory_order_relaxed);
  return active != 0;
}

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
  if (previous_ < 0 || !HasCudaContext(previous_)) return;
  // A failure here must not be reported by the next launch.
  if (cudaSetDevice(previous_) != cudaSuccess) cudaGetLastError();
}

}  // namespace cooper
