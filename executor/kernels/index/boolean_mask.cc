// Kernels of _contrib_boolean_mask and its gradient.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/index/indexed_rows.h"
#include "executor/kernels/index/kept_positions.h"
#include "executor/kernels/loops/counted_shapes.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "symbol/ops/index/boolean_mask_param.h"

namespace cooper {
namespace {

// Prepares both kernels, whose workspace holds the indices of the rows that the mask keeps.
absl::StatusOr<Prepared> PrepareKeptRows(const PrepareContext& c) {
  return Prepared{.workspace_bytes =
                      c.inputs[BooleanMaskArrays::kIndex].size() * SizeOf(DType::kInt64)};
}

// Returns a view of the first rows of `array`.
ArrayView FirstRows(ArrayView array, int64_t rows) {
  array.shape[0] = rows;
  return array;
}

absl::Status BooleanMaskCpu(const KernelContext& c) {
  using enum BooleanMaskArrays::Input;
  using enum BooleanMaskArrays::Output;
  const ArrayView kept = FindNonzero(c.inputs[kIndex], c.workspace);
  const ArrayView rows = FirstRows(c.outputs[kRows], kept.size());
  WriteShapes(c, {rows.shape});
  if (c.reqs[kRows] == WriteReq::kNull) return absl::OkStatus();
  CopyIndexedRows(c.inputs[kData], /*axis=*/0, kept, IndexMode::kClip, c.reqs[kRows], rows);
  return absl::OkStatus();
}

// Computes the gradient of the data. Rows of ograd after those that the mask keeps are ignored.
absl::Status BooleanMaskBackwardCpu(const KernelContext& c) {
  using enum BooleanMaskGradientArrays::Input;
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  const ArrayView kept = FindNonzero(c.inputs[kIndex], c.workspace);
  AddIndexedRows(FirstRows(c.inputs[kOgrad], kept.size()), kept, IndexMode::kClip, c.reqs[0],
                 /*axis=*/0, c.outputs[0]);
  return absl::OkStatus();
}

COOPER_REGISTER_KERNEL(_contrib_boolean_mask, DeviceType::kCpu, kAnyDType, BooleanMaskCpu,
                       PrepareKeptRows);
COOPER_REGISTER_KERNEL(_backward_contrib_boolean_mask, DeviceType::kCpu, kAnyDType,
                       BooleanMaskBackwardCpu, PrepareKeptRows);

}  // namespace
}  // namespace cooper
