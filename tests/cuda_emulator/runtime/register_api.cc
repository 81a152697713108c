// Calls that nvcc's code makes at program start, to register kernels and variables.

#include <cstddef>

#include "cuda_runtime_api.h"
#include "tests/cuda_emulator/runtime/api_state.h"
#include "tests/cuda_emulator/runtime/program.h"
#include "vector_types.h"

namespace cooper::cuda_emulator {
namespace {

// The object that a handle of nvcc's points to.
struct Wrapper {
  int magic;
  int version;  // 2 if device code was linked separately
  const void* data;
  void* linked;
};

}  // namespace

extern "C" {

void** __cudaRegisterFatBinary(void* wrapper) {
  const ApiLock lock;
  const auto* fat = static_cast<const Wrapper*>(wrapper);
  if (fat->version != 1) {
    Fail(cudaErrorNotSupported, "device code that was linked on its own (-rdc) is not supported");
  }
  return reinterpret_cast<void**>(AddBinary(fat->data));
}

void __cudaRegisterFatBinaryEnd(void**) {}

// Does nothing, because a program may free device memory in later static destructors.
void __cudaUnregisterFatBinary(void**) {}

char __cudaInitModule(void**) { return 1; }

void __cudaRegisterFunction(void** handle, const char* host, char*, const char* name, int, uint3*,
                            uint3*, dim3*, dim3*, int*) {
  const ApiLock lock;
  AddKernel(host, reinterpret_cast<Binary*>(handle), name);
}

void __cudaRegisterVar(void** handle, char* host, char*, const char* name, int, size_t bytes, int,
                       int) {
  const ApiLock lock;
  AddVariable(host, reinterpret_cast<Binary*>(handle), name, bytes);
}

void __cudaRegisterManagedVar(void**, void**, char*, const char*, int, size_t, int, int) {
  Fail(cudaErrorNotSupported, "__managed__ variables are not supported");
}

}  // extern "C"
}  // namespace cooper::cuda_emulator
