#ifndef COOPER_EXECUTOR_CUDA_FLOAT32_ONLY_H_
#define COOPER_EXECUTOR_CUDA_FLOAT32_ONLY_H_

// What kernels that know float32 alone check in Prepare, so that binding fails, not running.

#include <memory>

#include "absl/status/statusor.h"
#include "executor/kernel.h"

namespace cooper {

// kUnimplemented, naming operator and dtype, unless all inputs and outputs are float32. There is
// nothing else to prepare.
absl::StatusOr<Prepared> RequireFloat32(const PrepareContext& c);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_CUDA_FLOAT32_ONLY_H_
