#ifndef COOPER_EXECUTOR_KERNELS_NUMPY_WHERE_KERNELS_H_
#define COOPER_EXECUTOR_KERNELS_NUMPY_WHERE_KERNELS_H_

// Kernels of _npi_where, of its relatives with numbers and of their gradients, over the devices of
// executor/kernels/reduce/axis_reduction_kernels.h, for where.cc and .cu.

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "executor/kernels/loops/elemwise_operand.h"
#include "executor/kernels/reduce/reduce_functions.h"
#include "executor/kernels/reducers/reducers.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/host_device.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/numpy/where_param.h"

namespace cooper {

// x if the condition is not 0, else y. NaN is not 0.
struct ChooseByCondition : ReduceFunction<3> {
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C condition, C x, C y) {
    return condition != 0 ? x : y;
  }
};
// The head gradient where the condition is not 0, and where it is 0; else 0.
struct TakeIfTrue : ReduceFunction<2> {
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C condition, C g) {
    return condition != 0 ? g : C{0};
  }
};
struct TakeIfFalse : ReduceFunction<2> {
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C condition, C g) {
    return condition != 0 ? C{0} : g;
  }
};

// The kernels of one device D, as Kernel::RunFn and Kernel::PrepareFn functions. Condition, x and y
// are broadcast together; x and y have the output's dtype, the condition any. The gradient of the
// condition is not computed. Errors: those of D's functions.
template <typename D>
struct WhereKernels {
  // Returns whether the condition must become bools first: functions convert it to the compute type
  // of `dtype`, in which a fraction may become 0.
  static bool NeedsTruth(const ArrayView& condition, DType dtype) {
    return IsFloating(condition.dtype) && condition.dtype != dtype && dtype != DType::kFloat64;
  }
  // Returns the bytes of these bools in the workspace, a multiple of 64.
  static int64_t TruthBytes(const ArrayView& condition, DType dtype) {
    return NeedsTruth(condition, dtype) ? (condition.size() + 63) / 64 * 64 : 0;
  }
  // Returns the condition, or its bools at the begin of the workspace. Errors: those of Convert.
  // The bools have the condition's shape. They are written again in each run.
  static absl::StatusOr<ArrayView> Truth(const KernelContext& c, DType dtype) {
    const ArrayView& condition = c.inputs[NumpyWhereArrays::kCondition];
    if (!NeedsTruth(condition, dtype)) return condition;
    const ArrayView truth{.data = c.workspace, .shape = condition.shape, .dtype = DType::kBool};
    COOPER_RETURN_IF_ERROR(D::Convert(c, condition, truth, WriteReq::kWrite));
    return truth;
  }

  // Chooses from x and y, which are broadcast from x_shape and y_shape, () for numbers. Reads both
  // x and y everywhere, so neither costs less where the other is chosen.
  static absl::Status Choose(const KernelContext& c, const ElemwiseOperand& x,
                             absl::Span<const int64_t> x_shape, const ElemwiseOperand& y,
                             absl::Span<const int64_t> y_shape) {
    const ArrayView& out = c.outputs[0];
    if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
    COOPER_ASSIGN_OR_RETURN(const ArrayView truth, Truth(c, out.dtype));
    return D::template Broadcast<ChooseByCondition>(c, {OperandOf(truth), x, y},
                                                    {truth.shape.dims(), x_shape, y_shape},
                                                    out.shape.dims(), out, c.reqs[0]);
  }

  // Runs _npi_where: two arrays to choose from.
  static absl::Status Arrays(const KernelContext& c) {
    using enum NumpyWhereArrays::Input;
    return Choose(c, OperandOf(c.inputs[kX]), c.inputs[kX].shape.dims(), OperandOf(c.inputs[kY]),
                  c.inputs[kY].shape.dims());
  }

  // Runs _npi_where_lscalar (kNumberIfTrue) and _npi_where_rscalar: a number and an array to choose
  // from.
  template <bool kNumberIfTrue>
  static absl::Status Scalar(const KernelContext& c) {
    const ArrayView& array = c.inputs[NumpyWhereScalarArrays::kArray];
    const ElemwiseOperand number = OperandOf(c.param<NumpyWhereScalarParam>().scalar);
    return kNumberIfTrue ? Choose(c, number, {}, OperandOf(array), array.shape.dims())
                         : Choose(c, OperandOf(array), array.shape.dims(), number, {});
  }

  // Runs _npi_where_scalar2: two numbers to choose from, so that the output has the condition's
  // shape.
  static absl::Status Scalars(const KernelContext& c) {
    const auto& param = c.param<NumpyWhereScalar2Param>();
    return Choose(c, OperandOf(param.x), {}, OperandOf(param.y), {});
  }

  // Prepares the kernels that choose: the workspace holds the condition's bools, if it needs them.
  static absl::StatusOr<Prepared> Prepare(const PrepareContext& c) {
    return Prepared{.workspace_bytes =
                        TruthBytes(c.inputs[NumpyWhereArrays::kCondition], c.outputs[0].dtype)};
  }

  // Sums F of condition and head gradient into an output, over the axes along which that output's
  // array was repeated. Does nothing for an output that is not requested. The workspace holds the
  // condition's bools, then the scratch memory of the reduction, which the outputs use one after
  // the other.
  template <typename F>
  static absl::Status SumTaken(const KernelContext& c, int output) {
    const ArrayView& out = c.outputs[output];
    if (c.reqs[output] == WriteReq::kNull) return absl::OkStatus();
    const ArrayView& ograd = c.inputs[NumpyWhereGradientArrays::kOgrad];
    COOPER_ASSIGN_OR_RETURN(const ArrayView truth, Truth(c, out.dtype));
    char* const scratch = static_cast<char*>(c.workspace) +
                          TruthBytes(c.inputs[NumpyWhereArrays::kCondition], out.dtype);
    return D::template Reduce<Reducer::kSum, F>(
        c, {}, ograd.shape.dims(), {OperandOf(truth), OperandOf(ograd)},
        {truth.shape.dims(), ograd.shape.dims()}, out, out.shape.dims(), c.reqs[output], scratch);
  }

  // Computes the gradients of x (output 0) and y (output 1) in two passes over ograd.
  static absl::Status ArraysGradient(const KernelContext& c) {
    COOPER_RETURN_IF_ERROR(SumTaken<TakeIfTrue>(c, 0));
    return SumTaken<TakeIfFalse>(c, 1);
  }

  // Computes the gradient of the array; the number has none.
  template <bool kNumberIfTrue>
  static absl::Status ScalarGradient(const KernelContext& c) {
    return kNumberIfTrue ? SumTaken<TakeIfFalse>(c, 0) : SumTaken<TakeIfTrue>(c, 0);
  }

  // Prepares the gradients: the condition's bools, and the largest workspace of the outputs'
  // reductions.
  static absl::StatusOr<Prepared> PrepareGradient(const PrepareContext& c) {
    int64_t scratch = 0;
    for (size_t i = 0; i < c.outputs.size(); ++i) {
      scratch = std::max(scratch, D::ReductionWorkspace(c.outputs[i], c.reqs[i]));
    }
    return Prepared{.workspace_bytes =
                        TruthBytes(c.inputs[NumpyWhereArrays::kCondition], c.outputs[0].dtype) +
                        scratch};
  }

  // Registers the kernels. Call it from a static initializer, once for each device.
  static bool Register(DeviceType device) {
    [[maybe_unused]] const KernelRegistrar kernels[] = {
        {"_npi_where", device, kAnyDType, Arrays, Prepare},
        {"_npi_where_lscalar", device, kAnyDType, Scalar<true>, Prepare},
        {"_npi_where_rscalar", device, kAnyDType, Scalar<false>, Prepare},
        {"_npi_where_scalar2", device, kAnyDType, Scalars, Prepare},
        {"_backward_np_where", device, kAnyDType, ArraysGradient, PrepareGradient},
        {"_backward_np_where_lscalar", device, kAnyDType, ScalarGradient<true>, PrepareGradient},
        {"_backward_np_where_rscalar", device, kAnyDType, ScalarGradient<false>, PrepareGradient},
    };
    return true;
  }
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_NUMPY_WHERE_KERNELS_H_
