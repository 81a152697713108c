#ifndef COOPER_EXECUTOR_KERNELS_LOOPS_COUNTED_SHAPES_H_
#define COOPER_EXECUTOR_KERNELS_LOOPS_COUNTED_SHAPES_H_

// For kernels of operators whose outputs have shapes that depend on values
// (symbol/schema/counted_shapes.h), on the CPU.

#include <algorithm>
#include <cstdint>

#include "absl/types/span.h"
#include "executor/program/kernel.h"
#include "ndarray/base/shape.h"

namespace cooper {

// Writes the true shapes of all outputs before the last one to the last one.
inline void WriteShapes(const KernelContext& c, absl::Span<const Shape> shapes) {
  if (c.reqs.back() == WriteReq::kNull) return;
  auto* to = c.outputs.back().as<int64_t>();
  for (const Shape& shape : shapes) to = std::copy(shape.begin(), shape.end(), to);
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LOOPS_COUNTED_SHAPES_H_
