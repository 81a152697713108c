// Calls of the driver, which programs look up through the runtime.

#include <cstring>

#include "absl/strings/str_cat.h"
#include "cuda.h"
#include "cuda_runtime_api.h"
#include "tests/cuda_emulator/runtime/api_state.h"
#include "tests/cuda_emulator/runtime/settings.h"

namespace cooper::cuda_emulator {
namespace {

CUresult CUDAAPI GetPrimaryContextState(CUdevice device, unsigned* flags, int* active) {
  if (device < 0 || device >= GetSettings().devices) return CUDA_ERROR_INVALID_DEVICE;
  *flags = 0;
  *active = HasContext(device) ? 1 : 0;
  return CUDA_SUCCESS;
}

}  // namespace

extern "C" cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function,
                                                        unsigned, unsigned long long,
                                                        cudaDriverEntryPointQueryResult* result) {
  const bool found = std::strcmp(symbol, "cuDevicePrimaryCtxGetState") == 0;
  *function = found ? reinterpret_cast<void*>(&GetPrimaryContextState) : nullptr;
  if (result != nullptr) {
    *result = found ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  }
  if (found) return cudaSuccess;
  return Fail(cudaErrorNotSupported,
              absl::StrCat("cudaGetDriverEntryPointByVersion: ", symbol, " is not supported"));
}

}  // namespace cooper::cuda_emulator
