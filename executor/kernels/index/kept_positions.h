#ifndef COOPER_EXECUTOR_KERNELS_INDEX_KEPT_POSITIONS_H_
#define COOPER_EXECUTOR_KERNELS_INDEX_KEPT_POSITIONS_H_

// The positions that an operator keeps, as indices for CopyIndexedRows and AddIndexedRows
// (indexed_rows.h): for boolean_mask, nonzero, delete and unique, on the CPU. Positions are int64
// and lie in the kernel's workspace.

#include <cstdint>

#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/shape.h"

namespace cooper {

// Returns the first `count` positions of a workspace as an array (count,).
inline ArrayView PositionsView(void* workspace, int64_t count) {
  return {.data = workspace, .shape = Shape({count}), .dtype = DType::kInt64};
}

// Writes the positions of elements of `mask`, of any dtype, that are not 0 to `workspace`, which
// has room for all positions, and returns them. NaN is not 0.
inline ArrayView FindNonzero(const ArrayView& mask, void* workspace) {
  auto* const kept = static_cast<int64_t*>(workspace);
  const int64_t size = mask.size();
  int64_t count = 0;
  DispatchDType(mask.dtype, [&](auto tag) {
    const auto* const flags = mask.as<typename decltype(tag)::type>();
    for (int64_t i = 0; i < size; ++i) {
      kept[count] = i;
      count += ConvertElement<double>(flags[i]) != 0 ? 1 : 0;
    }
  });
  return PositionsView(workspace, count);
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_INDEX_KEPT_POSITIONS_H_
