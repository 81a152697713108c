// Kernel of _sparse_retain for CPUs.

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/index/indexed_rows.h"
#include "executor/kernels/launch/row_grain.h"
#include "executor/kernels/loops/index_reader.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/index/sparse_retain_arrays.h"

namespace cooper {
namespace {

using enum SparseRetainArrays::Input;

// The workspace has a byte for each row, 1 if it is kept.
absl::StatusOr<Prepared> PrepareSparseRetain(const PrepareContext& c) {
  if (c.inputs[kData].size() == 0) return Prepared{};
  return Prepared{.workspace_bytes = c.inputs[kData].shape[0]};
}

absl::Status SparseRetainCpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull || c.outputs[0].size() == 0) return absl::OkStatus();
  const ArrayView& data = c.inputs[kData];
  const int64_t rows = data.shape[0], inner = data.size() / rows;
  auto* const kept = static_cast<char*>(c.workspace);
  std::memset(kept, 0, rows);
  const IndexReader indices(c.inputs[kIndices]);
  for (int64_t i = 0; i < c.inputs[kIndices].size(); ++i) {
    if (indices[i] >= 0 && indices[i] < rows) kept[indices[i]] = 1;
  }
  return DispatchDType(data.dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    const T* const in = data.as<T>();
    T* const out = c.outputs[0].as<T>();
    ParallelForPlain(rows, RowGrain(inner), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        T* const to = out + row * inner;
        if (kept[row] == 0) {
          if (c.reqs[0] == WriteReq::kWrite) std::fill_n(to, inner, T());
        } else if (to != in + row * inner || c.reqs[0] == WriteReq::kAdd) {
          MoveRow(inner, in + row * inner, c.reqs[0], to);
        }
      }
    });
    return absl::OkStatus();
  });
}

COOPER_REGISTER_KERNEL(_sparse_retain, DeviceType::kCpu, kAnyDType, SparseRetainCpu,
                       PrepareSparseRetain);

}  // namespace
}  // namespace cooper
