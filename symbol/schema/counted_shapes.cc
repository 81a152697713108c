#include "symbol/schema/counted_shapes.h"

#include <cstdint>

namespace cooper {

absl::Status SetShapesOutput(ShapeContext& c) {
  const int last = c.num_outputs() - 1;
  int64_t extents = 0;
  for (int k = 0; k < last; ++k) {
    if (!c.output(k).rank_known()) return absl::OkStatus();
    extents += c.output(k).rank();
  }
  return c.SetOutput(last, {extents}, "(extents of the other outputs,)");
}

}  // namespace cooper
