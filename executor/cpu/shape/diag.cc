// Kernels of diag and its gradient.

#include <cstdint>

#include "absl/status/status.h"
#include "executor/cpu/shape/strided_copy.h"
#include "executor/kernel.h"
#include "symbol/ops/shape/diag_param.h"

namespace cooper {
namespace {

// The diagonals within `full`, as the loop's source or destination, against a dense array of them.
struct Diagonals {
  StridedLoop from_full;
  StridedLoop to_full;
  int64_t begin = 0;

  void Add(int64_t extent, int64_t full, int64_t dense) {
    from_full.Add(extent, full, dense);
    to_full.Add(extent, dense, full);
  }
};

// `matrices` has axes rows and columns, `dense` all others and then the diagonal.
Diagonals DiagonalsOf(const Shape& matrices, const Shape& dense, int rows, int columns, int64_t k) {
  Diagonals d;
  int at = 0;
  for (int i = 0; i < matrices.rank(); ++i) {
    if (i == rows || i == columns) continue;
    d.Add(matrices[i], StrideOf(matrices, i), StrideOf(dense, at++));
  }
  const int64_t down = StrideOf(matrices, rows), right = StrideOf(matrices, columns);
  d.Add(dense[dense.rank() - 1], down + right, 1);
  d.begin = k >= 0 ? k * right : -k * down;
  return d;
}

absl::Status TakeDiagonals(const KernelContext& c, int rows, int columns) {
  if (c.outputs[0].size() == 0) return absl::OkStatus();
  const Diagonals d =
      DiagonalsOf(c.inputs[0].shape, c.outputs[0].shape, rows, columns, c.param<DiagParam>().k);
  return StridedCopy(d.from_full, c.outputs[0].dtype, c.reqs[0], ElementAt(c.inputs[0], d.begin),
                     c.outputs[0].data);
}

absl::Status PutDiagonals(const KernelContext& c, int rows, int columns) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  ZeroIfWrite(c.reqs[0], c.outputs[0]);
  if (c.inputs[0].size() == 0) return absl::OkStatus();
  const Diagonals d =
      DiagonalsOf(c.outputs[0].shape, c.inputs[0].shape, rows, columns, c.param<DiagParam>().k);
  return StridedCopy(d.to_full, c.outputs[0].dtype, c.reqs[0], c.inputs[0].data,
                     ElementAt(c.outputs[0], d.begin));
}

int Axis(int axis, int rank) { return axis < 0 ? axis + rank : axis; }

absl::Status DiagCpu(const KernelContext& c) {
  const auto& param = c.param<DiagParam>();
  const int rank = c.inputs[0].shape.rank();
  if (rank == 1) return PutDiagonals(c, 0, 1);
  return TakeDiagonals(c, Axis(param.axis1, rank), Axis(param.axis2, rank));
}

absl::Status DiagBackwardCpu(const KernelContext& c) {
  const auto& param = c.param<DiagParam>();
  const int rank = c.outputs[0].shape.rank();
  if (rank == 1) return TakeDiagonals(c, 0, 1);
  return PutDiagonals(c, Axis(param.axis1, rank), Axis(param.axis2, rank));
}

COOPER_REGISTER_KERNEL(diag, DeviceType::kCpu, kAnyDType, DiagCpu);
COOPER_REGISTER_KERNEL(_backward_diag, DeviceType::kCpu, kAnyDType, DiagBackwardCpu);

}  // namespace
}  // namespace cooper
