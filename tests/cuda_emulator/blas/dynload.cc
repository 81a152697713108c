// Implements ndarray/cuda/dynload.h for programs that link the emulator. It finds only the
// stand-ins for cuBLAS, cuSOLVER and NCCL.

#include "ndarray/cuda/dynload.h"

#include <string_view>

#include "tests/cuda_emulator/blas/cublas.h"
#include "tests/cuda_emulator/nccl/nccl.h"
#include "tests/cuda_emulator/solver/cusolver.h"

namespace cooper {
namespace {

struct StandIn {
  const char* library;
  void* (*find)(std::string_view name);
};
constexpr StandIn kStandIns[] = {
    {"libcublas.so", cuda_emulator::FindCublasFunction},
    {"libcusolver.so", cuda_emulator::FindCusolverFunction},
    {"libnccl.so", cuda_emulator::FindNcclFunction},
};

const StandIn* StandInFor(std::string_view soname) {
  for (const StandIn& known : kStandIns) {
    if (soname.starts_with(known.library)) return &known;
  }
  return nullptr;
}

}  // namespace

void* LoadCudaLibrary(const char* soname) {
  static int library = 0;  // the handle must not be null; its target is not used
  return StandInFor(soname) != nullptr ? &library : nullptr;
}

void* CudaSymbol(const char* soname, const char* symbol) {
  const StandIn* const stand_in = StandInFor(soname);
  return stand_in == nullptr ? nullptr : stand_in->find(symbol);
}

}  // namespace cooper
