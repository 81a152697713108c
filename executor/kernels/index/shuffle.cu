// Kernel of _shuffle for GPUs. Rows are sorted by random keys, so the permutation is another than a
// CPU's for the same seed.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/index/radix_sort.h"
#include "executor/kernels/launch/device_random.h"
#include "executor/kernels/launch/launch.h"
#include "executor/kernels/loops/move_rows.h"
#include "executor/program/kernel.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/rules/one_input.h"

namespace cooper {
namespace {

absl::StatusOr<Prepared> PrepareShuffle(const PrepareContext& c) {
  const ArrayView& data = c.inputs[OneInputArrays::kData];
  if (data.size() == 0) return Prepared{};
  COOPER_ASSIGN_OR_RETURN(const int64_t bytes, PairSort::WorkspaceBytes(c.context, data.shape[0]));
  return Prepared{.workspace_bytes = bytes};
}

__global__ void DrawKeys(int64_t rows, DeviceRandom source, uint64_t* keys, int32_t* values) {
  const Philox random = source.Get();
  for (int64_t i = FirstElement(); i < rows; i += ElementStep()) {
    const auto words = random.At(i);
    keys[i] = uint64_t{words[0]} << 32 | words[1];
    values[i] = static_cast<int32_t>(i);
  }
}

struct SortedRow {
  const int32_t* sources;
  __device__ RowMove operator()(int64_t row) const { return {sources[row], row}; }
};

absl::Status ShuffleGpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull || c.outputs[0].size() == 0) return absl::OkStatus();
  const ArrayView& data = c.inputs[OneInputArrays::kData];
  const int64_t rows = data.shape[0];
  PairSort sort(c, rows);
  COOPER_RETURN_IF_ERROR(
      LaunchElements(c, rows, DrawKeys, rows, DeviceRandomOf(c), sort.keys(), sort.values()));
  COOPER_RETURN_IF_ERROR(sort.Sort(64));
  return MoveRows(c, rows, data.size() / rows, SortedRow{sort.values()}, data.dtype, c.reqs[0],
                  data.data, c.outputs[0].data);
}

COOPER_REGISTER_KERNEL(_shuffle, DeviceType::kGpu, kAnyDType, ShuffleGpu, PrepareShuffle);

}  // namespace
}  // namespace cooper
