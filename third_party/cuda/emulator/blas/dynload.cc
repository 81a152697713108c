// third_party/cuda/dynload.h, for programs that are linked with the emulator: the only library that
// is found is the stand-in for cuBLAS.

#include "third_party/cuda/dynload.h"

#include <string>

#include "third_party/cuda/emulator/blas/cublas.h"

namespace cooper {
namespace {

bool IsCublas(const char* soname) { return std::string(soname).rfind("libcublas.so", 0) == 0; }

}  // namespace

void* LoadCudaLibrary(const char* soname) {
  static int library = 0;  // what the handle points to is nobody's business
  return IsCublas(soname) ? &library : nullptr;
}

void* CudaSymbol(const char* soname, const char* symbol) {
  return IsCublas(soname) ? cuda_emulator::FindCublasFunction(symbol) : nullptr;
}

}  // namespace cooper
