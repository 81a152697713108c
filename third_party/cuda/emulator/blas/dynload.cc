// third_party/cuda/dynload.h, for programs that are linked with the emulator: the only libraries
// that are found are the stand-ins for cuBLAS and NCCL.

#include "third_party/cuda/dynload.h"

#include <string>

#include "third_party/cuda/emulator/blas/cublas.h"
#include "third_party/cuda/emulator/nccl/nccl.h"

namespace cooper {
namespace {

bool Is(const char* library, const char* soname) {
  return std::string(soname).rfind(library, 0) == 0;
}

}  // namespace

void* LoadCudaLibrary(const char* soname) {
  static int library = 0;  // what the handle points to is nobody's business
  return Is("libcublas.so", soname) || Is("libnccl.so", soname) ? &library : nullptr;
}

void* CudaSymbol(const char* soname, const char* symbol) {
  if (Is("libcublas.so", soname)) return cuda_emulator::FindCublasFunction(symbol);
  return Is("libnccl.so", soname) ? cuda_emulator::FindNcclFunction(symbol) : nullptr;
}

}  // namespace cooper
