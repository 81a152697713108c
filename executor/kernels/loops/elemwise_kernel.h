#ifndef COOPER_EXECUTOR_KERNELS_LOOPS_ELEMWISE_KERNEL_H_
#define COOPER_EXECUTOR_KERNELS_LOOPS_ELEMWISE_KERNEL_H_

// Runs ElemwiseLoops over arrays of one shape, with scalar operands, and with broadcasting.
// Supports all dtypes and write requests. The output may share its data with an input of its own
// shape.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "executor/kernels/loops/elemwise_loop.h"
#include "executor/kernels/loops/elemwise_operand.h"
#include "executor/program/kernel.h"

namespace cooper {

// Computes output = or += f(operands...), element by element, on several threads. Scalars are
// rounded to the output's dtype first.
absl::Status RunElemwise(const ElemwiseLoops& loops, absl::Span<const ElemwiseOperand> operands,
                         const ArrayView& output, WriteReq req);

// Does the same with each operand broadcast from its shape in `shapes` to `full`, the output's
// shape. Errors: kUnimplemented if there are too many axes.
absl::Status RunBroadcast(const ElemwiseLoops& loops, absl::Span<const ElemwiseOperand> operands,
                          absl::Span<const absl::Span<const int64_t>> shapes,
                          absl::Span<const int64_t> full, const ArrayView& output, WriteReq req);

// An operand of one run of n elements: n elements, or one for all of them if `fixed`.
struct RunOperand {
  const void* data;
  DType dtype;
  bool fixed;
};
// Computes one run on the calling thread, in blocks of kElementBlock.
template <typename C>
void RunElements(ElemwiseLoop<C> loop, absl::Span<const RunOperand> operands, int64_t n,
                 void* output, DType output_dtype, WriteReq req);

// Computes output 0 = f(all inputs).
template <typename F>
absl::Status ElemwiseKernel(const KernelContext& c) {
  ElemwiseOperand operands[F::kArity];
  for (int i = 0; i < F::kArity; ++i) operands[i] = OperandOf(c.inputs[i]);
  return RunElemwise(kElemwiseLoops<F>, operands, c.outputs[0], c.reqs[0]);
}

// Computes output 0 = f(all inputs), broadcast to the output's shape.
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
