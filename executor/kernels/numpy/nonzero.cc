// Kernel of _npx_nonzero for CPUs.

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/index/kept_positions.h"
#include "executor/kernels/launch/row_grain.h"
#include "executor/kernels/loops/counted_shapes.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/numpy/nonzero_arrays.h"

namespace cooper {
namespace {

using enum NonzeroArrays::Input;
using enum NonzeroArrays::Output;

absl::StatusOr<Prepared> PrepareNonzero(const PrepareContext& c) {
  return Prepared{.workspace_bytes = c.inputs[kX].size() * SizeOf(DType::kInt64)};
}

absl::Status NonzeroCpu(const KernelContext& c) {
  const ArrayView& x = c.inputs[kX];
  const ArrayView kept = FindNonzero(x, c.workspace);
  const int rank = std::max(x.shape.rank(), 1);
  WriteShapes(c, {Shape({kept.size(), rank})});
  if (c.reqs[kPositions] == WriteReq::kNull) return absl::OkStatus();
  const bool add = c.reqs[kPositions] == WriteReq::kAdd;
  auto* const out = c.outputs[kPositions].as<int64_t>();
  ParallelForPlain(kept.size(), RowGrain(4 * rank), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t rest = kept.as<int64_t>()[i];
      for (int axis = rank - 1; axis >= 0; --axis) {
        const int64_t extent = axis > 0 ? x.shape[axis] : rest + 1;
        int64_t& to = out[i * rank + axis];
        to = (add ? to : 0) + rest % extent;
        rest /= extent;
      }
    }
  });
  return absl::OkStatus();
}

COOPER_REGISTER_KERNEL(_npx_nonzero, DeviceType::kCpu, kAnyDType, NonzeroCpu, PrepareNonzero);

}  // namespace
}  // namespace cooper
