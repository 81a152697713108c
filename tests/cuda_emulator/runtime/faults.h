#ifndef COOPER_TESTS_CUDA_EMULATOR_RUNTIME_FAULTS_H_
#define COOPER_TESTS_CUDA_EMULATOR_RUNTIME_FAULTS_H_

// Injects device errors, for tests of how a program reports them.

#include <string>

#include "cuda_runtime_api.h"

namespace cooper::cuda_emulator {

// When an injected error occurs.
enum class FaultTime {
  kCall,  // the call that queues the work returns the error and queues nothing
  kRun,   // the call succeeds and the work fails when it runs: the error is sticky
};

// Makes the next work fail with `error` whose name (a kernel's, or that of the runtime's or
// cuBLAS's call) contains `name`. There is one fault at a time: a second call replaces the first.
// Thread-safe.
void FailNext(const std::string& name, cudaError_t error, FaultTime time);

// Returns the error with which work of this name fails at that time, and clears the fault; else
// cudaSuccess. Callers hold the ApiLock.
cudaError_t TakeFault(const std::string& name, FaultTime time);

}  // namespace cooper::cuda_emulator

#endif  // COOPER_TESTS_CUDA_EMULATOR_RUNTIME_FAULTS_H_
