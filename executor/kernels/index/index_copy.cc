// Kernel of _contrib_index_copy.

#include <cstdint>
#include <cstring>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/index/indexed_axis.h"
#include "executor/kernels/loops/index_reader.h"
#include "executor/kernels/loops/strided_copy.h"
#include "executor/program/kernel.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/index/index_copy_arrays.h"

namespace cooper {
namespace {

// Prepares the kernel. Under kAdd the result is computed in the workspace and then added.
absl::StatusOr<Prepared> PrepareIndexCopy(const PrepareContext& c) {
  return Prepared{.workspace_bytes = c.reqs[0] == WriteReq::kAdd ? c.outputs[0].size_bytes() : 0};
}

// Copies rows to their indices. Among rows with equal indices the last one is kept.
absl::Status IndexCopyCpu(const KernelContext& c) {
  using enum IndexCopyArrays::Input;
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  ArrayView target = c.outputs[0];
  if (c.reqs[0] == WriteReq::kAdd) target.data = c.workspace;
  COOPER_RETURN_IF_ERROR(CopyElements(c.inputs[kOldTensor], WriteReq::kWrite, target));
  const IndexReader index(c.inputs[kIndexVector]);
  const int64_t rows = target.shape[0];
  const int64_t row_bytes = target.shape.Product(1, target.shape.rank()) * SizeOf(target.dtype);
  for (int64_t i = 0; i < c.inputs[kIndexVector].size(); ++i) {
    if (index[i] < 0 || index[i] >= rows) return CoordinateOutOfRange(index[i], 0, target.shape);
    if (row_bytes == 0) continue;
    std::memcpy(target.as<char>() + index[i] * row_bytes,
                c.inputs[kNewTensor].as<char>() + i * row_bytes, row_bytes);
  }
  if (c.reqs[0] == WriteReq::kWrite) return absl::OkStatus();
  return CopyElements(target, WriteReq::kAdd, c.outputs[0]);
}

COOPER_REGISTER_KERNEL(_contrib_index_copy, DeviceType::kCpu, kAnyDType, IndexCopyCpu,
                       PrepareIndexCopy);

}  // namespace
}  // namespace cooper
