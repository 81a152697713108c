#ifndef COOPER_EXECUTOR_KERNELS_LAUNCH_CUBLAS_STATE_H_
#define COOPER_EXECUTOR_KERNELS_LAUNCH_CUBLAS_STATE_H_

// The kernel state for kernels that use cuBLAS: batched matrix products, triangular solves and LU
// factorizations of linalg, dot and attention. For .cu files. Such a kernel registers
// PrepareCublas, or calls it from its own Prepare to add a workspace, and gets the library by
// CublasOf while it runs.

#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "executor/program/kernel.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/cuda/cublas.h"

namespace cooper {

// Holds the library of the node's device. Created when the node is bound, which reports a missing
// library at that time rather than in the first run. `cublas` is not owned: the instance of a
// device lives as long as the process. Immutable, so several runs may use a state at the same time.
struct CublasState : KernelState {
  Cublas* cublas = nullptr;
};

// Prepares a kernel that uses cuBLAS without a workspace. The first call for a device creates the
// library's handle, which is slow and takes device memory; later calls find it.
//
// Errors: those of Cublas::Of, such as kFailedPrecondition if cuBLAS is not installed.
inline absl::StatusOr<Prepared> PrepareCublas(const PrepareContext& c) {
  auto state = std::make_unique<CublasState>();
  COOPER_ASSIGN_OR_RETURN(state->cublas, Cublas::Of(c.context.device_id));
  return Prepared{.state = std::move(state)};
}

// Returns the cuBLAS of a kernel whose state is a CublasState, or is derived from it. The state's
// type is not checked. The caller selects the device by a CudaDeviceScope before it calls the
// library.
inline Cublas& CublasOf(const KernelContext& c) {
  return *static_cast<const CublasState*>(c.state)->cublas;
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LAUNCH_CUBLAS_STATE_H_
