// Kernels of linalg_extractdiag, makediag, extracttrian and maketrian, which only move elements.

#include <cstdint>
#include <cstdlib>

#include "absl/status/status.h"
#include "executor/kernels/loops/strided_copy.h"
#include "executor/program/kernel.h"
#include "symbol/ops/linalg/la_param.h"

namespace cooper {
namespace {

using enum LaFactorArrays::Input;

int64_t Side(const ArrayView& matrices) { return matrices.shape[matrices.shape.rank() - 1]; }

int64_t Batch(const ArrayView& matrices) {
  return matrices.shape.Product(0, matrices.shape.rank() - 2);
}

// Copies `size` elements of each matrix, `stride` apart from element `at` on, to its packed vector
// from element `packed_at` on; with `make`, copies in the opposite direction.
absl::Status CopyRun(const ArrayView& matrices, int64_t at, int64_t stride, const ArrayView& packed,
                     int64_t packed_at, int64_t size, bool make, WriteReq req) {
  const int64_t side = Side(matrices), length = Side(packed);
  StridedLoop loop;
  if (make) {
    loop.Add(Batch(matrices), length, side * side);
    loop.Add(size, 1, stride);
    return StridedCopy(loop, packed.dtype, req, ElementAt(packed, packed_at),
                       ElementAt(matrices, at));
  }
  loop.Add(Batch(matrices), side * side, length);
  loop.Add(size, stride, 1);
  return StridedCopy(loop, packed.dtype, req, ElementAt(matrices, at),
                     ElementAt(packed, packed_at));
}

template <bool kMake>
absl::Status DiagCpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  const ArrayView& matrices = kMake ? c.outputs[0] : c.inputs[kA];
  const ArrayView& packed = kMake ? c.inputs[kA] : c.outputs[0];
  if (kMake) ZeroIfWrite(c.reqs[0], matrices);
  if (packed.size() == 0) return absl::OkStatus();
  const int64_t side = Side(matrices), k = c.param<LaDiagParam>().offset;
  return CopyRun(matrices, k >= 0 ? k : -k * side, side + 1, packed, 0, Side(packed), kMake,
                 c.reqs[0]);
}

// Copies triangles to packed vectors, or with kMake back. Row r of a packed triangle holds r + 1
// elements, which are a row of a lower triangle or a column of an upper one.
template <bool kMake>
absl::Status TrianCpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  const ArrayView& matrices = kMake ? c.outputs[0] : c.inputs[kA];
  const ArrayView& packed = kMake ? c.inputs[kA] : c.outputs[0];
  if (kMake) ZeroIfWrite(c.reqs[0], matrices);
  if (packed.size() == 0) return absl::OkStatus();
  const auto& param = c.param<LaTrianParam>();
  const int64_t side = Side(matrices), offset = std::abs(param.offset);
  for (int64_t row = 0; row < side - offset; ++row) {
    const int64_t at = row + offset;
    absl::Status status =
        CopyRun(matrices, param.is_upper() ? at : at * side, param.is_upper() ? side : 1, packed,
                row * (row + 1) / 2, row + 1, kMake, c.reqs[0]);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

COOPER_REGISTER_KERNEL(_linalg_extractdiag, DeviceType::kCpu, kAnyDType, DiagCpu<false>);
COOPER_REGISTER_KERNEL(_linalg_makediag, DeviceType::kCpu, kAnyDType, DiagCpu<true>);
COOPER_REGISTER_KERNEL(_linalg_extracttrian, DeviceType::kCpu, kAnyDType, TrianCpu<false>);
COOPER_REGISTER_KERNEL(_linalg_maketrian, DeviceType::kCpu, kAnyDType, TrianCpu<true>);

}  // namespace
}  // namespace cooper
