#ifndef COOPER_EXECUTOR_KERNELS_NUMPY_BINARY_KERNELS_H_
#define COOPER_EXECUTOR_KERNELS_NUMPY_BINARY_KERNELS_H_

// Kernels of functions of two elements that only NumPy operators have, on two arrays or on an array
// and a number, and of their gradients, over the devices of
// executor/kernels/reduce/axis_reduction_kernels.h, for binary.cc and .cu.

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/loops/elemwise_operand.h"
#include "executor/kernels/loops/unary_functions.h"
#include "executor/kernels/numpy/numpy_functions.h"
#include "executor/kernels/reducers/reducers.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "symbol/ops/elemwise/scalar_param.h"
#include "symbol/ops/rules/one_input.h"

namespace cooper {

// The kernels of one device D, as Kernel::RunFn and Kernel::PrepareFn functions. F is a function of
// numpy_functions.h. Elements are computed in the compute type of the output's dtype, to which
// inputs of other dtypes are converted first. Errors are those of D's functions: kUnimplemented for
// arrays of too many axes that cannot be merged.
template <typename D>
struct NumpyBinaryKernels {
  // Computes F of all inputs, broadcast to the output's shape. F has as many operands as the
  // operator has inputs.
  template <typename F>
  static absl::Status Arrays(const KernelContext& c) {
    return Broadcast<F>(c, InputOperands<F::kArity>(c.inputs), c.outputs[0]);
  }
  // Computes an F of bits. Those of int32 are passed as float, whose loops need no conversion.
  template <typename F>
  static absl::Status Bits(const KernelContext& c) {
    const auto is_int32 = [](const ArrayView& array) { return array.dtype == DType::kInt32; };
    if (c.reqs[0] != WriteReq::kWrite || !is_int32(c.outputs[0]) ||
        !absl::c_all_of(c.inputs, is_int32)) {
      return Arrays<F>(c);
    }
    InputOperands<F::kArity> inputs(c.inputs);
    for (ElemwiseOperand& operand : inputs.operands) operand.dtype = DType::kFloat32;
    ArrayView out = c.outputs[0];
    out.dtype = DType::kFloat32;
    return Broadcast<F>(c, inputs, out);
  }

  // Computes the gradient of one side of a binary operator: F of ograd, lhs and rhs, summed over
  // the axes along which that side was repeated. Output 0 has the side's shape; ograd has the shape
  // to which both sides were broadcast. The sum needs the workspace of PrepareSide.
  template <typename F>
  static absl::Status Side(const KernelContext& c) {
    const InputOperands<F::kArity> inputs(c.inputs);
    return D::template Reduce<Reducer::kSum, F>(c, {}, inputs.shapes[0], inputs.operands,
                                                inputs.shapes, c.outputs[0],
                                                c.outputs[0].shape.dims(), c.reqs[0], c.workspace);
  }
  static absl::StatusOr<Prepared> PrepareSide(const PrepareContext& c) {
    return Prepared{.workspace_bytes = D::ReductionWorkspace(c.outputs[0], c.reqs[0])};
  }

  // Computes F(data, number), where the number is the attribute `scalar`, rounded to the output's
  // dtype. ScalarGradient computes F(ograd, data, number), the gradient of data; the number has
  // none.
  template <typename F>
  static absl::Status Scalar(const KernelContext& c) {
    return D::template Elementwise<F>(
        c, {OperandOf(c.inputs[OneInputArrays::kData]), OperandOf(c.param<ScalarParam>().scalar)},
        c.outputs[0], c.reqs[0]);
  }
  template <typename F>
  static absl::Status ScalarGradient(const KernelContext& c) {
    using enum ScalarGradientArrays::Input;
    return D::template Elementwise<F>(c,
                                      {OperandOf(c.inputs[kOgrad]), OperandOf(c.inputs[kData]),
                                       OperandOf(c.param<ScalarParam>().scalar)},
                                      c.outputs[0], c.reqs[0]);
  }

  // Inverts every bit of integers. A bool has one bit, so it is negated: inverting the bits of its
  // byte would give a bool that is neither 0 nor 1.
  static absl::Status Not(const KernelContext& c) {
    const ArrayView& x = c.inputs[OneInputArrays::kData];
    if (x.dtype == DType::kBool) {
      return D::template Elementwise<LogicalNot>(c, {OperandOf(x)}, c.outputs[0], c.reqs[0]);
    }
    return D::template Elementwise<BitNot>(c, {OperandOf(x)}, c.outputs[0], c.reqs[0]);
  }

  // Registers the kernels. Call it from a static initializer, once for each device.
  static bool Register(DeviceType device) {
    [[maybe_unused]] const KernelRegistrar kernels[] = {
        {"_npi_bitwise_not", device, kAnyDType, Not},
        {"_npi_bitwise_and", device, kAnyDType, Bits<BitAnd>},
        {"_npi_bitwise_or", device, kAnyDType, Bits<BitOr>},
        {"_npi_bitwise_xor", device, kAnyDType, Bits<BitXor>},
        {"_npi_lcm", device, kAnyDType, Arrays<LeastCommonMultiple>},
        {"_npi_arctan2", device, kAnyDType, Arrays<Arctan2>},
        {"_npi_copysign", device, kAnyDType, Arrays<CopySign>},
        {"_npi_ldexp", device, kAnyDType, Arrays<Ldexp>},
        {"_npi_bitwise_and_scalar", device, kAnyDType, Scalar<BitAnd>},
        {"_npi_bitwise_or_scalar", device, kAnyDType, Scalar<BitOr>},
        {"_npi_bitwise_xor_scalar", device, kAnyDType, Scalar<BitXor>},
        {"_npi_lcm_scalar", device, kAnyDType, Scalar<LeastCommonMultiple>},
        {"_npi_arctan2_scalar", device, kAnyDType, Scalar<Arctan2>},
        {"_npi_rarctan2_scalar", device, kAnyDType, Scalar<Swapped<Arctan2>>},
        {"_npi_copysign_scalar", device, kAnyDType, Scalar<CopySign>},
        {"_npi_rcopysign_scalar", device, kAnyDType, Scalar<Swapped<CopySign>>},
        {"_npi_ldexp_scalar", device, kAnyDType, Scalar<Ldexp>},
        {"_npi_rldexp_scalar", device, kAnyDType, Scalar<Swapped<Ldexp>>},
        {"_backward_npi_arctan2_lhs", device, kAnyDType, Side<Arctan2GradLhs>, PrepareSide},
        {"_backward_npi_arctan2_rhs", device, kAnyDType, Side<Arctan2GradRhs>, PrepareSide},
        {"_backward_npi_copysign_lhs", device, kAnyDType, Side<CopySignGradLhs>, PrepareSide},
        {"_backward_npi_ldexp_lhs", device, kAnyDType, Side<LdexpGradLhs>, PrepareSide},
        {"_backward_npi_ldexp_rhs", device, kAnyDType, Side<LdexpGradRhs>, PrepareSide},
        {"_backward_npi_arctan2_scalar", device, kAnyDType, ScalarGradient<Arctan2GradLhs>},
        {"_backward_npi_rarctan2_scalar", device, kAnyDType,
         ScalarGradient<SwappedGrad<Arctan2GradRhs>>},
        {"_backward_npi_copysign_scalar", device, kAnyDType, ScalarGradient<CopySignGradLhs>},
        {"_backward_npi_ldexp_scalar", device, kAnyDType, ScalarGradient<LdexpGradLhs>},
        {"_backward_npi_rldexp_scalar", device, kAnyDType,
         ScalarGradient<SwappedGrad<LdexpGradRhs>>},
    };
    return true;
  }

 private:
  template <typename F>
  static absl::Status Broadcast(const KernelContext& c, const InputOperands<F::kArity>& inputs,
                                const ArrayView& out) {
    return D::template Broadcast<F>(c, inputs.operands, inputs.shapes, c.outputs[0].shape.dims(),
                                    out, c.reqs[0]);
  }
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_NUMPY_BINARY_KERNELS_H_
