#include "executor/kernels/loops/strided_loop.h"

namespace cooper {

void StridedLoop::Add(int64_t extent, int64_t src_stride, int64_t dst_stride) {
  if (extent == 0) empty_ = true;
  if (extent <= 1) return;
  if (rank_ > 0) {
    Level& outer = levels_[rank_ - 1];
    if (outer.src_stride == src_stride * extent && outer.dst_stride == dst_stride * extent) {
      outer = {outer.extent * extent, src_stride, dst_stride};
      return;
    }
  }
  if (rank_ == kMaxRank) {
    too_deep_ = true;
    return;
  }
  levels_[rank_++] = {extent, src_stride, dst_stride};
}

}  // namespace cooper
