#ifndef COOPER_EXECUTOR_KERNELS_NUMPY_REDUCTION_KERNELS_H_
#define COOPER_EXECUTOR_KERNELS_NUMPY_REDUCTION_KERNELS_H_

// Kernels of NumPy reductions and of their gradients, over the templates and the devices of
// executor/kernels/reduce/axis_reduction_kernels.h, for reductions.cc and .cu. They convert data to
// the output's dtype before they reduce, so means of integers are means of floats; all and any read
// data of any dtype as it is.

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "executor/kernels/loops/unary_functions.h"
#include "executor/kernels/reduce/axis_reduction_kernels.h"
#include "executor/kernels/reduce/reduce_functions.h"
#include "executor/kernels/reducers/reducers.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/numpy/reduction_param.h"
#include "symbol/ops/rules/one_input.h"

namespace cooper {

// The kernels of one device D, as Kernel::RunFn and Kernel::PrepareFn functions. The order of the
// axes in the attribute has no meaning. The mean of no floats is NaN. Errors besides those named
// below: those of D::Reduce.
template <typename D>
struct NumpyReductionKernels {
  // Returns the extents of the node's reduction of an array of this shape. Errors: those of
  // NumpyReducedAxes.
  template <typename Param>
  static absl::StatusOr<KeptExtents> KeptBy(const KernelContext& c, const Shape& shape) {
    COOPER_ASSIGN_OR_RETURN(const uint64_t reduced,
                            NumpyReducedAxes(c.param<Param>().axis, shape.rank()));
    return KeptExtents(shape, reduced);
  }

  // Reduces a: the kernel of _np_sum, _np_prod, _np_max and _np_min.
  template <typename Param, Reducer kReducer>
  static absl::Status Reduce(const KernelContext& c) {
    const ArrayView& a = c.inputs[OneInputArrays::kData];
    COOPER_ASSIGN_OR_RETURN(const auto kept, KeptBy<Param>(c, a.shape));
    return ReduceArray<D, kReducer, Same>(c, {}, a, kept, c.outputs[0], c.reqs[0], c.workspace);
  }

  // Runs _np_all (a product) and _np_any (a sum) of 1 for each element that is not 0, so for NaN
  // too, and 0 for others.
  template <Reducer kReducer>
  static absl::Status Truth(const KernelContext& c) {
    const ArrayView& a = c.inputs[OneInputArrays::kData];
    COOPER_ASSIGN_OR_RETURN(const auto kept, KeptBy<NumpyTruthParam>(c, a.shape));
    return ReduceArray<D, kReducer, IsTrue>(c, {}, a, kept, c.outputs[0], c.reqs[0], c.workspace);
  }

  // Runs _npi_mean: the sum in the output's dtype, divided by the number of reduced elements.
  static absl::Status Mean(const KernelContext& c) {
    const ArrayView& a = c.inputs[OneInputArrays::kData];
    COOPER_ASSIGN_OR_RETURN(const auto kept, KeptBy<NumpySumParam>(c, a.shape));
    return ReduceArray<D, Reducer::kSum, Same>(c, {.divisor = static_cast<double>(kept.count())}, a,
                                               kept, c.outputs[0], c.reqs[0], c.workspace);
  }

  // Prepares Reduce, Truth and Mean. The bytes depend on the output alone: at most 8 for each of
  // its elements.
  static absl::StatusOr<Prepared> PrepareReduce(const PrepareContext& c) {
    return Prepared{.workspace_bytes = D::ReductionWorkspace(c.outputs[0], c.reqs[0])};
  }

  // Runs _npi_var, or _npi_std if kRoot: the mean first, in the workspace, then the sum of squared
  // differences from it, divided by n - ddof. Two passes avoid the cancellation of E[x^2] - E[x]^2.
  template <bool kRoot>
  static absl::Status Moments(const KernelContext& c) {
    const auto& param = c.param<NumpyMomentsParam>();
    const ArrayView& a = c.inputs[OneInputArrays::kData];
    COOPER_ASSIGN_OR_RETURN(const auto kept, KeptBy<NumpyMomentsParam>(c, a.shape));
    const double count = static_cast<double>(kept.count());
    ArrayView mean = c.outputs[0];
    mean.data = c.workspace;
    char* const scratch = static_cast<char*>(c.workspace) + MomentBytes(mean);
    absl::Status status = ReduceArray<D, Reducer::kSum, Same>(c, {.divisor = count}, a, kept, mean,
                                                              WriteReq::kWrite, scratch);
    COOPER_RETURN_IF_ERROR(status);
    const absl::Span<const int64_t> full = a.shape.dims();
    return D::template Reduce<Reducer::kSum, SquaredDifference>(
        c, {.divisor = count - param.ddof, .square_root = kRoot}, full,
        {OperandOf(a), OperandOf(mean)}, {full, kept.span()}, c.outputs[0], kept.span(), c.reqs[0],
        scratch);
  }

  // Prepares Moments. The workspace holds the mean, then scratch memory of both reductions. Fails
  // with kUnimplemented for an integer output: MXNet computes the root of a truncated mean.
  template <bool kRoot>
  static absl::StatusOr<Prepared> PrepareMoments(const PrepareContext& c) {
    const ArrayView& out = c.outputs[0];
    if (!IsFloating(out.dtype)) {
      return absl::UnimplementedError(absl::StrCat("the output is ", DTypeName(out.dtype),
                                                   ", expected floats: set dtype to float32"));
    }
    return Prepared{.workspace_bytes =
                        MomentBytes(out) +
                        std::max(D::ReductionWorkspace(out, WriteReq::kWrite),
                                 D::ReductionWorkspace(out, c.reqs[0], {.square_root = kRoot}))};
  }

  // Runs _npi_norm. The sum of magnitudes, or the root of the sum of squares, which does not
  // overflow unless the norm does (map_reduce.h).
  static absl::Status Norm(const KernelContext& c) {
    const auto& param = c.param<NumpyNormParam>();
    const ArrayView& data = c.inputs[OneInputArrays::kData];
    COOPER_ASSIGN_OR_RETURN(const auto kept, KeptBy<NumpyNormParam>(c, data.shape));
    if (param.is_sum()) {
      return ReduceArray<D, Reducer::kSum, Magnitude>(c, {}, data, kept, c.outputs[0], c.reqs[0],
                                                      c.workspace);
    }
    return ReduceArray<D, Reducer::kSum, Square>(c, {.square_root = true}, data, kept, c.outputs[0],
                                                 c.reqs[0], c.workspace);
  }

  // Prepares Norm: a root needs a workspace for float32 too, in which the sum of squares is kept.
  static absl::StatusOr<Prepared> PrepareNorm(const PrepareContext& c) {
    const bool root = !c.param<NumpyNormParam>().is_sum();
    return Prepared{.workspace_bytes =
                        D::ReductionWorkspace(c.outputs[0], c.reqs[0], {.square_root = root})};
  }

  // Gradients. Each broadcasts ograd, and the output if F needs it, to the shape of a.

  // Computes F, a function of reduce_functions.h, of ograd, a and the output. The result has a's
  // shape and is written in one pass without a workspace. Param has the reduced axes.
  template <typename Param, typename F>
  static absl::Status Gradient(const KernelContext& c) {
    COOPER_ASSIGN_OR_RETURN(const auto kept, KeptBy<Param>(c, c.outputs[0].shape));
    return Expand<D, F>(c, kept);
  }

  // Broadcasts ograd; the factor 1 converts it to the dtype of a.
  static absl::Status SumGradient(const KernelContext& c) {
    COOPER_ASSIGN_OR_RETURN(const auto kept, KeptBy<NumpySumParam>(c, c.outputs[0].shape));
    return ExpandWith<D, Scaled>(c, kept, 1);
  }

  // Broadcasts ograd divided by the number of reduced elements. Integers truncate.
  static absl::Status MeanGradient(const KernelContext& c) {
    COOPER_ASSIGN_OR_RETURN(const auto kept, KeptBy<NumpySumParam>(c, c.outputs[0].shape));
    return ExpandWith<D, DividedBy>(c, kept, static_cast<double>(kept.count()));
  }

  // Computes g * sign(a), or g * a / norm, which is 0 where the norm is 0.
  static absl::Status NormGradient(const KernelContext& c) {
    return c.param<NumpyNormParam>().is_sum() ? Gradient<NumpyNormParam, Norm1Grad>(c)
                                              : Gradient<NumpyNormParam, Norm2Grad>(c);
  }

  // Registers the kernels. Call it from a static initializer, once for each device.
  static bool Register(DeviceType device) {
    using Extreme = NumpyReduceParam;
    using Sum = NumpySumParam;
    [[maybe_unused]] const KernelRegistrar kernels[] = {
        {"_np_all", device, kAnyDType, Truth<Reducer::kProduct>, PrepareReduce},
        {"_np_any", device, kAnyDType, Truth<Reducer::kSum>, PrepareReduce},
        {"_np_sum", device, kAnyDType, Reduce<Sum, Reducer::kSum>, PrepareReduce},
        {"_np_prod", device, kAnyDType, Reduce<Sum, Reducer::kProduct>, PrepareReduce},
        {"_np_max", device, kAnyDType, Reduce<Extreme, Reducer::kMax>, PrepareReduce},
        {"_np_min", device, kAnyDType, Reduce<Extreme, Reducer::kMin>, PrepareReduce},
        {"_npi_mean", device, kAnyDType, Mean, PrepareReduce},
        {"_npi_var", device, kAnyDType, Moments<false>, PrepareMoments<false>},
        {"_npi_std", device, kAnyDType, Moments<true>, PrepareMoments<true>},
        {"_npi_norm", device, kAnyDType, Norm, PrepareNorm},
        {"_backward_np_sum", device, kAnyDType, SumGradient},
        {"_backward_npi_mean", device, kAnyDType, MeanGradient},
        {"_backward_np_prod", device, kAnyDType, Gradient<Sum, ProdGrad>},
        {"_backward_np_max", device, kAnyDType, Gradient<Extreme, ExtremeGrad>},
        {"_backward_np_min", device, kAnyDType, Gradient<Extreme, ExtremeGrad>},
        {"_backward_npi_norm", device, kAnyDType, NormGradient},
    };
    return true;
  }
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_NUMPY_REDUCTION_KERNELS_H_
