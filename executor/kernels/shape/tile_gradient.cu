// GPU kernels of the gradients of tile and repeat. If elements are repeated often, they are
// reductions over the repeated axes, because one thread might otherwise sum millions of elements.

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "executor/kernels/loops/elemwise_operand.h"
#include "executor/kernels/loops/strided_copy_cuda.h"
#include "executor/kernels/loops/strided_loop.h"
#include "executor/kernels/loops/unary_functions.h"
#include "executor/kernels/reducers/element_reduce.h"
#include "executor/kernels/reducers/reducers.h"
#include "executor/kernels/shape/tile_kernels.h"
#include "executor/program/kernel.h"
#include "symbol/ops/shape/tile_param.h"

namespace cooper {
namespace {

// Implements Device of TileBackwardKernel.
struct TileReducer {
  // Sums `src` to `dst`. The loop visits `src` in memory order.
  static absl::Status Sum(const KernelContext& c, const StridedLoop& loop, WriteReq req,
                          const void* src, const ArrayView& dst) {
    // One thread sums a few elements faster.
    constexpr int64_t kFew = 32;
    int64_t summands = 1;
    for (int i = 0; i < loop.rank(); ++i) summands *= loop[i].dst_stride == 0 ? loop[i].extent : 1;
    if (loop.empty() || loop.too_deep() || summands <= kFew) {
      return CudaMover::Sum(c, loop, req, src, dst);
    }
    std::array<int64_t, StridedLoop::kMaxRank> extents = {1}, kept = {1};
    for (int i = 0; i < loop.rank(); ++i) {
      extents[i] = loop[i].extent;
      kept[i] = loop[i].dst_stride == 0 ? 1 : loop[i].extent;
    }
    const size_t rank = loop.rank() == 0 ? 1 : static_cast<size_t>(loop.rank());
    const absl::Span<const int64_t> full(extents.data(), rank);
    return RunElementReduce(c, ElementReduceOf<Reducer::kSum, Same>(), {}, full,
                            {ElemwiseOperand{src, dst.dtype}}, {full}, dst, {kept.data(), rank},
                            req, c.workspace);
  }
};

absl::StatusOr<Prepared> PrepareTileBackward(const PrepareContext& c) {
  return Prepared{.workspace_bytes = ElementReduceWorkspace(c.outputs[0], c.reqs[0])};
}

COOPER_REGISTER_KERNEL(_backward_tile, DeviceType::kGpu, kAnyDType,
                       TileBackwardKernel<TileReducer, TileParam>, PrepareTileBackward);
COOPER_REGISTER_KERNEL(_backward_repeat, DeviceType::kGpu, kAnyDType,
                       TileBackwardKernel<TileReducer, RepeatParam>, PrepareTileBackward);

}  // namespace
}  // namespace cooper
