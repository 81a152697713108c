// Kernels of _contrib_boolean_mask and its gradient.

#include <cstdint>
#include <cstring>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/index/indexed_rows.h"
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

// Writes the positions of elements of `mask` that are not 0 into `workspace` and returns them as an
// int64 array.
ArrayView FindKept(const ArrayView& mask, void* workspace) {
  auto* const kept = static_cast<int64_t*>(workspace);
  int64_t count = 0;
  DispatchDType(mask.dtype, [&](auto tag) {
    const auto* const flags = mask.as<typename decltype(tag)::type>();
    for (int64_t i = 0; i < mask.size(); ++i) {
      if (ConvertElement<double>(flags[i]) != 0) kept[count++] = i;
    }
  });
  return {.data = kept, .shape = Shape({count}), .dtype = DType::kInt64};
}

// Returns a view of the first rows of `array`.
ArrayView FirstRows(ArrayView array, int64_t rows) {
  array.shape[0] = rows;
  return array;
}

absl::Status BooleanMaskCpu(const KernelContext& c) {
  using enum BooleanMaskArrays::Input;
  using enum BooleanMaskArrays::Output;
  const ArrayView kept = FindKept(c.inputs[kIndex], c.workspace);
  const int64_t count = kept.size();
  if (c.reqs[kCount] == WriteReq::kWrite) *c.outputs[kCount].as<int64_t>() = count;
  if (c.reqs[kCount] == WriteReq::kAdd) *c.outputs[kCount].as<int64_t>() += count;
  if (c.reqs[kRows] == WriteReq::kNull) return absl::OkStatus();
  const ArrayView rows = FirstRows(c.outputs[kRows], count);
  CopyIndexedRows(c.inputs[kData], /*axis=*/0, kept, IndexMode::kClip, c.reqs[kRows], rows);
  if (c.reqs[kRows] == WriteReq::kAdd || c.outputs[kRows].size() == 0) return absl::OkStatus();
  std::memset(rows.as<char>() + rows.size_bytes(), 0,
              static_cast<size_t>(c.outputs[kRows].size_bytes() - rows.size_bytes()));
  return absl::OkStatus();
}

// Computes the gradient of the data. Rows of ograd after those that the mask keeps are ignored.
absl::Status BooleanMaskBackwardCpu(const KernelContext& c) {
  using enum BooleanMaskGradientArrays::Input;
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  const ArrayView kept = FindKept(c.inputs[kIndex], c.workspace);
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
