// Kernel of _sparse_retain for GPUs.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/launch/launch.h"
#include "executor/kernels/loops/move_rows.h"
#include "executor/program/kernel.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/index/sparse_retain_arrays.h"

namespace cooper {
namespace {

using enum SparseRetainArrays::Input;

// The workspace has a byte for each row, 1 if it is kept.
absl::StatusOr<Prepared> PrepareSparseRetain(const PrepareContext& c) {
  if (c.inputs[kData].size() == 0) return Prepared{};
  return Prepared{.workspace_bytes = c.inputs[kData].shape[0]};
}

__global__ void ClearRows(int64_t rows, char* kept) {
  for (int64_t i = FirstElement(); i < rows; i += ElementStep()) kept[i] = 0;
}

// Several threads may mark one row, with the same value.
__global__ void MarkRows(int64_t count, const DeviceIndices indices, int64_t rows, char* kept) {
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) {
    const int64_t row = indices[i];
    if (row >= 0 && row < rows) kept[row] = 1;
  }
}

// Moves kept rows, and zeros to the others.
struct KeptRow {
  const char* kept;
  __device__ RowMove operator()(int64_t row) const { return {kept[row] != 0 ? row : -1, row}; }
};

absl::Status SparseRetainGpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull || c.outputs[0].size() == 0) return absl::OkStatus();
  const ArrayView& data = c.inputs[kData];
  const int64_t rows = data.shape[0], count = c.inputs[kIndices].size();
  auto* const kept = static_cast<char*>(c.workspace);
  COOPER_RETURN_IF_ERROR(LaunchElements(c, rows, ClearRows, rows, kept));
  COOPER_RETURN_IF_ERROR(
      LaunchElements(c, count, MarkRows, count, DeviceIndices(c.inputs[kIndices]), rows, kept));
  return MoveRows(c, rows, data.size() / rows, KeptRow{kept}, data.dtype, c.reqs[0], data.data,
                  c.outputs[0].data);
}

COOPER_REGISTER_KERNEL(_sparse_retain, DeviceType::kGpu, kAnyDType, SparseRetainGpu,
                       PrepareSparseRetain);

}  // namespace
}  // namespace cooper
