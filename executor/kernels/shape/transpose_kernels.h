#ifndef COOPER_EXECUTOR_KERNELS_SHAPE_TRANSPOSE_KERNELS_H_
#define COOPER_EXECUTOR_KERNELS_SHAPE_TRANSPOSE_KERNELS_H_

// Kernels of transpose and SwapAxis. Device copies elements: CpuMover
// (executor/kernels/loops/strided_copy.h) or CudaMover.
//
// The gradient of a permutation is the inverse permutation, so it needs no kernel of its own.

#include "absl/status/status.h"
#include "executor/kernels/loops/strided_loop.h"
#include "executor/program/kernel.h"
#include "symbol/ops/shape/transpose_param.h"

namespace cooper {

// Runs transpose or SwapAxis: output axis i is input axis param.source_axis(i, rank). Param is the
// parameter struct of transpose or SwapAxis. Errors: those of Device::Copy. A permutation that
// moves no axis of more than one element is one contiguous copy.
template <typename Device, typename Param>
absl::Status PermuteKernel(const KernelContext& c) {
  const auto& param = c.param<Param>();
  const Shape& in = c.inputs[0].shape;
  const Shape& out = c.outputs[0].shape;
  StridedLoop loop;
  for (int i = 0; i < out.rank(); ++i) {
    loop.Add(out[i], StrideOf(in, param.source_axis(i, in.rank())), StrideOf(out, i));
  }
  return Device::Copy(c, loop, c.outputs[0].dtype, c.reqs[0], c.inputs[0].data, c.outputs[0].data);
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_SHAPE_TRANSPOSE_KERNELS_H_
