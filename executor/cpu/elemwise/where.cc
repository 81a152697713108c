// Kernels of where and its gradient.

#include "executor/cpu/elemwise/elemwise_kernel.h"
#include "executor/kernel.h"

namespace cooper {
namespace {

// The condition takes part in the compute type of the choices: nothing but 0 must become 0. Only
// float64 conditions with float32 choices could, below float's least number.
struct Choose {
  static constexpr int kArity = 3;
  static constexpr bool kExactIntegers = true;
  template <typename C>
  static C Apply(C condition, C x, C y) {
    return condition != 0 ? x : y;
  }
};

// A condition with one element per row has the shape (rows, 1, ...).
absl::Status Run(const ArrayView& condition, const ElemwiseOperand& x, const ElemwiseOperand& y,
                 const ArrayView& output, WriteReq req) {
  Shape shape = condition.shape;
  while (shape.rank() < output.shape.rank()) shape.push_back(1);
  const absl::Span<const int64_t> full = output.shape.dims();
  return RunBroadcast(kElemwiseLoops<Choose>, {OperandOf(condition), x, y},
                      {shape.dims(), full, full}, output, req);
}

absl::Status WhereCpu(const KernelContext& c) {
  return Run(c.inputs[0], OperandOf(c.inputs[1]), OperandOf(c.inputs[2]), c.outputs[0], c.reqs[0]);
}

absl::Status WhereBackwardCpu(const KernelContext& c) {
  const ElemwiseOperand ograd = OperandOf(c.inputs[1]);
  absl::Status status = Run(c.inputs[0], ograd, OperandOf(0.0), c.outputs[0], c.reqs[0]);
  if (!status.ok()) return status;
  return Run(c.inputs[0], OperandOf(0.0), ograd, c.outputs[1], c.reqs[1]);
}

COOPER_REGISTER_KERNEL(where, DeviceType::kCpu, WhereCpu);
COOPER_REGISTER_KERNEL(_backward_where, DeviceType::kCpu, WhereBackwardCpu);

}  // namespace
}  // namespace cooper
