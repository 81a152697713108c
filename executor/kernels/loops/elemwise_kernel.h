#ifndef COOPER_EXECUTOR_KERNELS_LOOPS_ELEMWISE_KERNEL_H_
#define COOPER_EXECUTOR_KERNELS_LOOPS_ELEMWISE_KERNEL_H_

// Kernels made of ElemwiseLoops: for arrays of one shape, with a scalar parameter, and with
// broadcasting. All dtypes and write requests are served; the output may lie over an input of its
// own shape.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "executor/kernels/loops/elemwise_loop.h"
#include "executor/kernels/loops/elemwise_operand.h"
#include "executor/program/kernel.h"

namespace cooper {

// output = f(operands...), element by element. Scalars are rounded to the output's dtype first.
absl::Status RunElemwise(const ElemwiseLoops& loops, absl::Span<const ElemwiseOperand> operands,
                         const ArrayView& output, WriteReq req);

// As RunElemwise, each operand broadcast from its own shape to `full`, the output's.
absl::Status RunBroadcast(const ElemwiseLoops& loops, absl::Span<const ElemwiseOperand> operands,
                          absl::Span<const absl::Span<const int64_t>> shapes,
                          absl::Span<const int64_t> full, const ArrayView& output, WriteReq req);

// One run of n elements; each operand is n elements, or one for all where `fixed` is set.
struct RunOperand {
  const void* data;
  DType dtype;
  bool fixed;
};
template <typename C>
void RunElements(ElemwiseLoop<C> loop, absl::Span<const RunOperand> operands, int64_t n,
                 void* output, DType output_dtype, WriteReq req);

// output 0 = f(all inputs).
template <typename F>
absl::Status ElemwiseKernel(const KernelContext& c) {
  ElemwiseOperand operands[F::kArity];
  for (int i = 0; i < F::kArity; ++i) operands[i] = OperandOf(c.inputs[i]);
  return RunElemwise(kElemwiseLoops<F>, operands, c.outputs[0], c.reqs[0]);
}

// output 0 = f(all inputs), broadcast to the output's shape.
template <typename F>
absl::Status BroadcastKernel(const KernelContext& c) {
  ElemwiseOperand operands[F::kArity];
  absl::Span<const int64_t> shapes[F::kArity];
  for (int i = 0; i < F::kArity; ++i) {
    operands[i] = OperandOf(c.inputs[i]);
    shapes[i] = c.inputs[i].shape.dims();
  }
  return RunBroadcast(kElemwiseLoops<F>, operands, shapes, c.outputs[0].shape.dims(), c.outputs[0],
                      c.reqs[0]);
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LOOPS_ELEMWISE_KERNEL_H_
