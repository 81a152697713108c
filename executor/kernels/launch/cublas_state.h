#ifndef COOPER_EXECUTOR_KERNELS_LAUNCH_CUBLAS_STATE_H_
#define COOPER_EXECUTOR_KERNELS_LAUNCH_CUBLAS_STATE_H_

// cuBLAS for kernels that are prepared by PrepareCublas. For .cu files.

#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "executor/program/kernel.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/cuda/cublas.h"

namespace cooper {

// Found when the node is bound, where a missing library is reported.
struct CublasState : KernelState {
  Cublas* cublas = nullptr;
};

inline absl::StatusOr<Prepared> PrepareCublas(const PrepareContext& c) {
  auto state = std::make_unique<CublasState>();
  COOPER_ASSIGN_OR_RETURN(state->cublas, Cublas::Of(c.context.device_id));
  return Prepared{.state = std::move(state)};
}

inline Cublas& CublasOf(const KernelContext& c) {
  return *static_cast<const CublasState*>(c.state)->cublas;
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LAUNCH_CUBLAS_STATE_H_
