// Kernels of _npi_delete and its gradient for CPUs.

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/index/indexed_rows.h"
#include "executor/kernels/index/kept_positions.h"
#include "executor/kernels/loops/counted_shapes.h"
#include "executor/kernels/loops/index_reader.h"
#include "executor/kernels/loops/strided_copy.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/numpy/delete_param.h"
#include "symbol/schema/op.h"

namespace cooper {
namespace {

// Returns an array as it is cut: flattened without an axis.
ArrayView Cut(const ArrayView& array, const DeleteParam& param) {
  ArrayView view = array;
  if (!param.axis.has_value()) view.shape = Shape({array.size()});
  return view;
}

// Returns the axis that is cut; -1 if there is none, of a scalar that stays as it is.
int AxisOf(const ArrayView& cut, const DeleteParam& param) {
  const int axis = param.axis.value_or(0);
  return axis < 0 ? axis + cut.shape.rank() : std::min(axis, cut.shape.rank() - 1);
}

// Prepares a kernel whose array of arr's shape is `arr`: the workspace holds the positions that are
// kept.
Prepared PrepareKept(const ArrayView& arr, const DeleteParam& param) {
  const ArrayView cut = Cut(arr, param);
  const int axis = AxisOf(cut, param);
  return {.workspace_bytes = (axis < 0 ? 1 : cut.shape[axis]) * SizeOf(DType::kInt64)};
}

// Writes the positions of an axis of extent `len` that are kept to the workspace, which first holds
// a 1 for each position that is left out, and returns them.
absl::StatusOr<ArrayView> FindKept(const KernelContext& c, int obj, int64_t len) {
  const auto& param = c.param<DeleteParam>();
  auto* const kept = static_cast<int64_t*>(c.workspace);
  std::fill_n(kept, len, 0);
  if (param.takes_positions()) {
    const IndexReader positions(c.inputs[obj]);
    const int64_t size = c.inputs[obj].size();
    for (int64_t i = 0; i < size; ++i) {
      const int64_t position = positions[i];
      if (position >= 0 && position < len) kept[position] = 1;
    }
  } else {
    COOPER_ASSIGN_OR_RETURN(const SliceRange range, param.range(len));
    for (int64_t i = 0; i < range.extent; ++i) kept[range.begin + i * range.step] = 1;
  }
  int64_t count = 0;
  for (int64_t i = 0; i < len; ++i) {
    if (kept[i] == 0) kept[count++] = i;
  }
  return PositionsView(kept, count);
}

absl::Status DeleteCpu(const KernelContext& c) {
  using enum DeleteArrays::Input;
  using enum DeleteArrays::Output;
  const auto& param = c.param<DeleteParam>();
  const ArrayView arr = Cut(c.inputs[kArr], param);
  const int axis = AxisOf(arr, param);
  ArrayView out = c.outputs[kOutput];
  out.shape = arr.shape;
  ArrayView kept;
  if (axis >= 0) {
    COOPER_ASSIGN_OR_RETURN(kept, FindKept(c, kObj, arr.shape[axis]));
    out.shape[axis] = kept.size();
  }
  if (param.takes_positions()) WriteShapes(c, {out.shape});
  if (c.reqs[kOutput] == WriteReq::kNull) return absl::OkStatus();
  if (axis < 0) return CopyElements(arr, c.reqs[kOutput], out);
  CopyIndexedRows(arr, axis, kept, IndexMode::kClip, c.reqs[kOutput], out);
  return absl::OkStatus();
}

absl::Status DeleteBackwardCpu(const KernelContext& c) {
  using enum DeleteGradientArrays::Input;
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  const auto& param = c.param<DeleteParam>();
  const ArrayView grad = Cut(c.outputs[0], param);
  const int axis = AxisOf(grad, param);
  ArrayView ograd = c.inputs[kOgrad];
  ograd.shape = grad.shape;
  if (axis < 0) return CopyElements(ograd, c.reqs[0], grad);
  COOPER_ASSIGN_OR_RETURN(const ArrayView kept, FindKept(c, kObj, grad.shape[axis]));
  ograd.shape[axis] = kept.size();
  AddIndexedRows(ograd, kept, IndexMode::kClip, c.reqs[0], axis, grad);
  return absl::OkStatus();
}

COOPER_REGISTER_KERNEL(_npi_delete, DeviceType::kCpu, kAnyDType, DeleteCpu,
                       [](const PrepareContext& c) -> absl::StatusOr<Prepared> {
                         return PrepareKept(c.inputs[DeleteArrays::kArr], c.param<DeleteParam>());
                       });
COOPER_REGISTER_KERNEL(_backward_npi_delete, DeviceType::kCpu, kAnyDType, DeleteBackwardCpu,
                       [](const PrepareContext& c) -> absl::StatusOr<Prepared> {
                         return PrepareKept(c.outputs[0], c.param<DeleteParam>());
                       });

}  // namespace
}  // namespace cooper
