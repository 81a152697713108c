#ifndef COOPER_THIRD_PARTY_CUDA_EMULATOR_RUNTIME_FAULTS_H_
#define COOPER_THIRD_PARTY_CUDA_EMULATOR_RUNTIME_FAULTS_H_

// Work that fails as if the device had failed, for tests of how a program tells of errors.

#include <string>

#include "cuda_runtime_api.h"

namespace cooper::cuda_emulator {

enum class FaultTime {
  kCall,  // the call that puts the work in returns the error, and nothing is put in
  kRun,   // the call succeeds, the work fails when it runs: the error stays until the program ends
};

// The next work whose name (a kernel's, or that of the call of the runtime or of cuBLAS) contains
// `name` fails with `error`. One at a time: a second call takes the place of the first.
// Thread-safe.
void FailNext(const std::string& name, cudaError_t error, FaultTime time);

// cudaSuccess, or the error that work of this name fails with at that time: then the fault is over.
// Callers hold the ApiLock.
cudaError_t TakeFault(const std::string& name, FaultTime time);

}  // namespace cooper::cuda_emulator

#endif  // COOPER_THIRD_PARTY_CUDA_EMULATOR_RUNTIME_FAULTS_H_
