#ifndef COOPER_EXECUTOR_KERNELS_RNN_RNN_STATE_H_
#define COOPER_EXECUTOR_KERNELS_RNN_RNN_STATE_H_

// The prepared state of the GPU kernels of RNN and _rnn_layer: cuBLAS, which computes their
// products.
//
// rnn_forward.cu and rnn_backward.cu share this state. It is prepared once, when a node is bound.

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "executor/program/kernel.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/cuda/cublas.h"
#include "symbol/ops/rnn/rnn_param.h"

namespace cooper {

// cuBLAS is looked up when the node is bound, so that a missing library is reported then. Not
// owned.
struct RNNGpuState : KernelState {
  Cublas* cublas = nullptr;
};

// Returns a prepared state. `workspace_bytes` is the workspace that the node's kernel computed for
// itself.
//
// Errors: kUnimplemented if the node has a projection; those of Cublas::Of.
inline absl::StatusOr<Prepared> PrepareRNNGpu(const PrepareContext& c, int64_t workspace_bytes) {
  if (const auto& projection = c.param<RNNParam>().projection_size; projection.has_value()) {
    return absl::UnimplementedError(
        absl::StrCat("no gpu kernel for projection_size ", *projection, ", only for None"));
  }
  auto state = std::make_unique<RNNGpuState>();
  COOPER_ASSIGN_OR_RETURN(state->cublas, Cublas::Of(c.context.device_id));
  return Prepared{.state = std::move(state), .workspace_bytes = workspace_bytes};
}

// Returns the cuBLAS of a node that PrepareRNNGpu has prepared.
inline Cublas& RNNCublas(const KernelContext& c) {
  return *static_cast<const RNNGpuState*>(c.state)->cublas;
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_RNN_RNN_STATE_H_
