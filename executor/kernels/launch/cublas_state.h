#ifndef COOPER_EXECUTOR_KERNELS_LAUNCH_CUBLAS_STATE_H_
#define COOPER_EXECUTOR_KERNELS_LAUNCH_CUBLAS_STATE_H_

// The kernel state for kernels that use cuBLAS. For .cu files.

#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "executor/program/kernel.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/cuda/cublas.h"

namespace cooper {

// Created when the node is bound, which reports a missing library.
struct CublasState : KernelState {
  Cublas* cublas = nullptr;
};

// Prepares a kernel that uses cuBLAS without a workspace. Errors: those of Cublas::Of.
inline absl::StatusOr<Prepared> PrepareCublas(const PrepareContext& c) {
  auto state = std::make_unique<CublasState>();
  COOPER_ASSIGN_OR_RETURN(state->cublas, Cublas::Of(c.context.device_id));
  return Prepared{.state = std::move(state)};
}

// Returns the cuBLAS of a kernel whose state is a CublasState.
inline Cublas& CublasOf(const KernelContext& c) {
  return *static_cast<const CublasState*>(c.state)->cublas;
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LAUNCH_CUBLAS_STATE_H_
