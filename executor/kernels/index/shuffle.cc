// Kernel of _shuffle for CPUs.

#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/index/indexed_rows.h"
#include "executor/kernels/random/random_draws.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/shape.h"
#include "symbol/ops/rules/one_input.h"

namespace cooper {
namespace {

// The workspace has the source of each row.
absl::StatusOr<Prepared> PrepareShuffle(const PrepareContext& c) {
  const ArrayView& data = c.inputs[OneInputArrays::kData];
  if (data.size() == 0) return Prepared{};
  return Prepared{.workspace_bytes = data.shape[0] * static_cast<int64_t>(sizeof(int64_t))};
}

// Draws a permutation by the method of Fisher and Yates, on one thread.
absl::Status ShuffleCpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull || c.outputs[0].size() == 0) return absl::OkStatus();
  const ArrayView& data = c.inputs[OneInputArrays::kData];
  const int64_t rows = data.shape[0];
  auto* const sources = static_cast<int64_t*>(c.workspace);
  for (int64_t i = 0; i < rows; ++i) {
    ElementRandom random(c.random, i);
    const int64_t j = DrawInteger(0, static_cast<uint64_t>(i) + 1, random);
    sources[i] = i;
    std::swap(sources[i], sources[j]);
  }
  const ArrayView indices{.data = sources, .shape = Shape({rows}), .dtype = DType::kInt64};
  CopyIndexedRows(data, /*axis=*/0, indices, IndexMode::kClip, c.reqs[0], c.outputs[0]);
  return absl::OkStatus();
}

COOPER_REGISTER_KERNEL(_shuffle, DeviceType::kCpu, kAnyDType, ShuffleCpu, PrepareShuffle);

}  // namespace
}  // namespace cooper
