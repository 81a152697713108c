#ifndef COOPER_EXECUTOR_KERNELS_SHAPE_DIAG_KERNELS_H_
#define COOPER_EXECUTOR_KERNELS_SHAPE_DIAG_KERNELS_H_

// Kernels of diag and its gradient. Device copies elements: CpuMover
// (executor/kernels/loops/strided_copy.h) or CudaMover.
//
// Reading and writing are inverse to each other, so each is the gradient of the other. Shapes have
// been checked when they were inferred.

#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/loops/strided_loop.h"
#include "executor/program/kernel.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/shape/diag_param.h"

namespace cooper {

// Loops between the diagonals within `full` and a contiguous array of them, in both directions.
// `begin` is the offset, in elements, of the first element of the diagonal in `full`. Along a
// diagonal both coordinates grow, so its stride is the sum of those of rows and columns.
struct Diagonals {
  // The loop with `full` as the source, and the one with it as the destination.
  StridedLoop from_full;
  StridedLoop to_full;
  int64_t begin = 0;

  // Adds an axis with these strides, in elements, to both loops.
  void Add(int64_t extent, int64_t full, int64_t dense) {
    from_full.Add(extent, full, dense);
    to_full.Add(extent, dense, full);
  }
};

// Returns the loops for `matrices`, with axes rows and columns, and `dense`, which has all other
// axes and then the diagonal. `k` is the number of the diagonal: above the main one if positive,
// below it if negative.
inline Diagonals DiagonalsOf(const Shape& matrices, const Shape& dense, int rows, int columns,
                             int64_t k) {
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

// Copies the diagonals of input 0 to output 0. `rows` and `columns` are axes of input 0. Errors:
// those of Device::Copy.
template <typename Device>
absl::Status ReadDiagonals(const KernelContext& c, int rows, int columns) {
  if (c.outputs[0].size() == 0) return absl::OkStatus();
  const Diagonals d =
      DiagonalsOf(c.inputs[0].shape, c.outputs[0].shape, rows, columns, c.param<DiagParam>().k);
  return Device::Copy(c, d.from_full, c.outputs[0].dtype, c.reqs[0],
                      ElementAt(c.inputs[0], d.begin), c.outputs[0].data);
}

// Writes input 0 to the diagonals of output 0, and zeros elsewhere. With kAdd the elements outside
// the diagonals are unchanged. Errors: those of Device::Zero and Device::Copy.
template <typename Device>
absl::Status WriteDiagonals(const KernelContext& c, int rows, int columns) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  COOPER_RETURN_IF_ERROR(Device::Zero(c, c.reqs[0], c.outputs[0]));
  if (c.inputs[0].size() == 0) return absl::OkStatus();
  const Diagonals d =
      DiagonalsOf(c.outputs[0].shape, c.inputs[0].shape, rows, columns, c.param<DiagParam>().k);
  return Device::Copy(c, d.to_full, c.outputs[0].dtype, c.reqs[0], c.inputs[0].data,
                      ElementAt(c.outputs[0], d.begin));
}

// Returns `axis` as a number from 0 on; a negative one counts from the end.
inline int DiagonalAxis(int axis, int rank) { return axis < 0 ? axis + rank : axis; }

// Runs diag: writes a vector to the diagonal of a matrix of zeros, or reads the diagonals of an
// array of higher rank. A Kernel::RunFn.
template <typename Device>
absl::Status DiagKernel(const KernelContext& c) {
  const auto& param = c.param<DiagParam>();
  const int rank = c.inputs[0].shape.rank();
  if (rank == 1) return WriteDiagonals<Device>(c, 0, 1);
  return ReadDiagonals<Device>(c, DiagonalAxis(param.axis1, rank), DiagonalAxis(param.axis2, rank));
}

// Computes the gradient of diag: writes to diagonals what DiagKernel reads, and reads what it
// writes. A Kernel::RunFn.
template <typename Device>
absl::Status DiagBackwardKernel(const KernelContext& c) {
  const auto& param = c.param<DiagParam>();
  const int rank = c.outputs[0].shape.rank();
  if (rank == 1) return ReadDiagonals<Device>(c, 0, 1);
  return WriteDiagonals<Device>(c, DiagonalAxis(param.axis1, rank),
                                DiagonalAxis(param.axis2, rank));
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_SHAPE_DIAG_KERNELS_H_
