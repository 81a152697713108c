#include "tests/cuda_emulator/runtime/faults.h"

#include <string>

#include "cuda_runtime_api.h"
#include "tests/cuda_emulator/runtime/api_state.h"

namespace cooper::cuda_emulator {
namespace {

struct Fault {
  std::string name;
  cudaError_t error = cudaSuccess;
  FaultTime time = FaultTime::kCall;
};

Fault& TheFault() {
  static auto* fault = new Fault;
  return *fault;
}

}  // namespace

void FailNext(const std::string& name, cudaError_t error, FaultTime time) {
  const ApiLock lock;
  TheFault() = {name, error, time};
}

cudaError_t TakeFault(const std::string& name, FaultTime time) {
  Fault& fault = TheFault();
  if (fault.error == cudaSuccess || fault.time != time) return cudaSuccess;
  if (name.find(fault.name) == std::string::npos) return cudaSuccess;
  const cudaError_t error = fault.error;
  fault = {};
  return error;
}

}  // namespace cooper::cuda_emulator
