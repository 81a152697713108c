#ifndef COOPER_EXECUTOR_CUDA_FLOAT32_ONLY_H_
#define COOPER_EXECUTOR_CUDA_FLOAT32_ONLY_H_

// The prepare function of kernels that know float32 alone, so that binding fails, not running.

#include <memory>

#include "absl/status/statusor.h"
#include "executor/kernel.h"

namespace cooper {

// kUnimplemented, naming operator and dtype, unless all inputs and outputs are float32. The state
// is null.
absl::StatusOr<std::unique_ptr<KernelState>> RequireFloat32(const PrepareContext& c);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_CUDA_FLOAT32_ONLY_H_
