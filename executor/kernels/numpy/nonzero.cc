// Kernel of _npx_nonzero for CPUs.

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/index/kept_positions.h"
#include "executor/kernels/loops/counted_shapes.h"
#include "executor/program/kernel.h"
#include "symbol/ops/numpy/nonzero_arrays.h"

namespace cooper {
namespace {

using enum NonzeroArrays::Input;
using enum NonzeroArrays::Output;

absl::Status NonzeroCpu(const KernelContext& c) {
  const ArrayView& x = c.inputs[kX];
  const int64_t count =
      WriteNonzeroIndices(x, c.reqs[kPositions], c.outputs[kPositions].as<int64_t>());
  WriteShapes(c, {Shape({count, std::max(x.shape.rank(), 1)})});
  return absl::OkStatus();
}

COOPER_REGISTER_KERNEL(_npx_nonzero, DeviceType::kCpu, kAnyDType, NonzeroCpu);

}  // namespace
}  // namespace cooper
