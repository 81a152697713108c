#ifndef COOPER_EXECUTOR_KERNELS_LOOPS_ELEMWISE_KERNEL_H_
#define COOPER_EXECUTOR_KERNELS_LOOPS_ELEMWISE_KERNEL_H_

// Runs ElemwiseLoops over arrays of one shape, with scalar operands, and with broadcasting, on the
// CPU. Supports all dtypes and write requests. The output may share its data with an input of its
// own shape. Most operators of executor/kernels/elemwise are one line over it; element_map.h is the
// counterpart for the GPU.
//
//   // y = x + 2
//   return RunElemwise(kElemwiseLoops<Add>, {OperandOf(x), OperandOf(2.0)}, y, WriteReq::kWrite);
//
// The compute type is that of the output's dtype (DispatchComputeType): inputs of other dtypes are
// converted block by block, and results are rounded once. Blocks are on the stack.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "executor/kernels/loops/elemwise_loop.h"
#include "executor/kernels/loops/elemwise_operand.h"
#include "executor/program/kernel.h"

namespace cooper {

// Computes output = or += f(operands...), element by element, on several threads. Scalars are
// rounded to the output's dtype first. There are loops.arity operands; arrays have as many elements
// as the output. Returns OK always. Thread-safe.
//
// Arrays of the compute type with kWrite are read and written directly; for other dtypes, kAdd and
// scalars, elements go through buffers that stay in the first-level cache.
absl::Status RunElemwise(const ElemwiseLoops& loops, absl::Span<const ElemwiseOperand> operands,
                         const ArrayView& output, WriteReq req);

// Computes output = or += f(operands...), with each operand broadcast from its shape in `shapes` to
// `full`, the output's shape. A scalar operand has the shape (). Operands that are broadcast must
// not share the output's data. If the inner axis of the plan is shorter than 64 elements, operands
// are gathered into blocks first, because starting a loop takes longer than such a run.
//
// Errors: kUnimplemented if there are too many axes, more than BroadcastPlan::kMaxRank after
// merging.
absl::Status RunBroadcast(const ElemwiseLoops& loops, absl::Span<const ElemwiseOperand> operands,
                          absl::Span<const absl::Span<const int64_t>> shapes,
                          absl::Span<const int64_t> full, const ArrayView& output, WriteReq req);

// An operand of one run of n elements: n contiguous elements of `dtype` at `data`, or one element
// for all of them if `fixed`.
struct RunOperand {
  const void* data;
  DType dtype;
  bool fixed;
};
// Computes one run on the calling thread, in blocks of kElementBlock. For loops that bring their
// own walk, as reductions do. C is float, double or int64_t, and `loop` one of ElemwiseLoops for
// it. The n elements at `output` have the type `output_dtype` and may be those of an operand.
template <typename C>
void RunElements(ElemwiseLoop<C> loop, absl::Span<const RunOperand> operands, int64_t n,
                 void* output, DType output_dtype, WriteReq req);

// Computes output 0 = or += f(all inputs), in the order of the operator's inputs, which all have
// the output's shape. A Kernel::RunFn: {"sqrt", DeviceType::kCpu, kAnyDType, ElemwiseKernel<Sqrt>}.
template <typename F>
absl::Status ElemwiseKernel(const KernelContext& c) {
  ElemwiseOperand operands[F::kArity];
  for (int i = 0; i < F::kArity; ++i) operands[i] = OperandOf(c.inputs[i]);
  return RunElemwise(kElemwiseLoops<F>, operands, c.outputs[0], c.reqs[0]);
}

// Computes output 0 = or += f(all inputs), broadcast to the output's shape. A Kernel::RunFn.
// Errors: those of RunBroadcast.
template <typename F>
absl::Status BroadcastKernel(const KernelContext& c) {
  const InputOperands<F::kArity> inputs(c.inputs);
  return RunBroadcast(kElemwiseLoops<F>, inputs.operands, inputs.shapes, c.outputs[0].shape.dims(),
                      c.outputs[0], c.reqs[0]);
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LOOPS_ELEMWISE_KERNEL_H_
