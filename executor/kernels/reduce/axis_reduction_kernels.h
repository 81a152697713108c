#ifndef COOPER_EXECUTOR_KERNELS_REDUCE_AXIS_REDUCTION_KERNELS_H_
#define COOPER_EXECUTOR_KERNELS_REDUCE_AXIS_REDUCTION_KERNELS_H_

// Kernels of reductions over axes and of their gradients, as templates over a device. A device is a
// struct of static functions, whose contracts are in executor/kernels/loops/elemwise_kernel.h and
// executor/kernels/reducers/map_reduce.h:
//
//   Reduce<Reducer, Map>(c, end, full, operands, operand_shapes, output, output_shape, req,
//                        workspace)
//   ReductionWorkspace(output, req, end)
//   Broadcast<F>(c, operands, shapes, full, output, req)
//   Elementwise<F>(c, operands, output, req)
//   Convert(c, input, output, req)
//
// cpu_reduce.h and cuda_reduce.h define the devices; axis_reductions.cc and axis_reductions.cu
// register the kernels. All arrays are contiguous. Reduced axes need not be neighbours.

#include <algorithm>
#include <array>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "executor/kernels/loops/elemwise_operand.h"
#include "executor/kernels/loops/unary_functions.h"
#include "executor/kernels/reduce/reduce_functions.h"
#include "executor/kernels/reducers/reducers.h"
#include "executor/program/kernel.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/reduce/reduce_axes.h"
#include "symbol/ops/reduce/reduce_param.h"
#include "symbol/ops/rules/one_input.h"

namespace cooper {

// The extents of `shape` with 1 on the reduced axes, independent of keepdims. It owns its extents;
// spans of it are valid as long as the object.
class KeptExtents {
 public:
  // Bit k of `reduced` says whether axis k is reduced.
  KeptExtents(const Shape& shape, uint64_t reduced) : rank_(shape.rank()) {
    for (int axis = 0; axis < rank_; ++axis) {
      const bool gone = (reduced >> axis) & 1;
      extents_[axis] = gone ? 1 : shape[axis];
      if (gone) count_ *= shape[axis];
    }
  }
  // Returns the extents, as many as the shape has axes.
  absl::Span<const int64_t> span() const { return {extents_.data(), static_cast<size_t>(rank_)}; }
  // Returns the number of elements that are reduced to one.
  int64_t count() const { return count_; }

 private:
  // The first rank_ are in use.
  std::array<int64_t, 64> extents_;
  int rank_;
  // The product of the reduced extents.
  int64_t count_ = 1;
};

// Returns the extents of a reduction of `shape`. Without `axes` all axes are reduced; with
// `exclude` all axes but the given ones.
//
// Errors: those of ReducedAxes.
inline absl::StatusOr<KeptExtents> KeptOf(const Shape& shape, const OptionalAxes& axes,
                                          bool exclude) {
  COOPER_ASSIGN_OR_RETURN(const uint64_t reduced, ReducedAxes(axes, exclude, shape.rank()));
  return KeptExtents(shape, reduced);
}

inline absl::StatusOr<KeptExtents> KeptOf(const Shape& shape, const ReduceParam& param) {
  return KeptOf(shape, param.axis, param.exclude);
}

// Writes the reduction of `data` to extents `kept` to output. Map is a function of one operand that
// is applied to each element first; Same is none. Errors: those of Device::Reduce.
template <typename Device, Reducer kReducer, typename Map>
absl::Status ReduceArray(const KernelContext& c, const ReductionEnd& end, const ArrayView& data,
                         const KeptExtents& kept, const ArrayView& output, WriteReq req,
                         void* workspace) {
  const absl::Span<const int64_t> full = data.shape.dims();
  return Device::template Reduce<kReducer, Map>(c, end, full, {OperandOf(data)}, {full}, output,
                                                kept.span(), req, workspace);
}

// Reduces Map(data) over the axes of ReduceParam: the kernel of sum, prod, max, min, nansum and
// nanprod, which differ in kReducer and Map. A Kernel::RunFn.
//
// Errors: those of KeptOf and ReduceArray.
template <typename Device, Reducer kReducer, typename Map = Same>
absl::Status ReduceKernel(const KernelContext& c) {
  COOPER_ASSIGN_OR_RETURN(const auto kept,
                          KeptOf(c.inputs[OneInputArrays::kData].shape, c.param<ReduceParam>()));
  return ReduceArray<Device, kReducer, Map>(c, {}, c.inputs[OneInputArrays::kData], kept,
                                            c.outputs[0], c.reqs[0], c.workspace);
}

// Runs mean: the sum over the axes divided by the number of reduced elements. The mean of no
// elements is NaN for floats and 0 for integers.
template <typename Device>
absl::Status MeanKernel(const KernelContext& c) {
  COOPER_ASSIGN_OR_RETURN(const auto kept,
                          KeptOf(c.inputs[OneInputArrays::kData].shape, c.param<ReduceParam>()));
  // Sums of bools are bools, and the mean converts to true if it is not 0, so no division is
  // needed.
  const bool is_truth = c.outputs[0].dtype == DType::kBool;
  const ReductionEnd end = {.divisor = is_truth ? 1.0 : static_cast<double>(kept.count())};
  return ReduceArray<Device, Reducer::kSum, Same>(c, end, c.inputs[OneInputArrays::kData], kept,
                                                  c.outputs[0], c.reqs[0], c.workspace);
}

// Returns the end of a norm's reduction: a square root unless ord is 1.
inline ReductionEnd NormEnd(const NormParam& param) { return {.square_root = param.ord != 1}; }

// Runs norm: the sum of magnitudes for ord 1, else the root of the sum of squares. Norms of floats
// do not overflow unless the result does (map_reduce.h).
template <typename Device>
absl::Status NormKernel(const KernelContext& c) {
  const auto& param = c.param<NormParam>();
  COOPER_ASSIGN_OR_RETURN(const auto kept,
                          KeptOf(c.inputs[OneInputArrays::kData].shape, param.axis, false));
  const ReductionEnd end = NormEnd(param);
  const ArrayView& data = c.inputs[OneInputArrays::kData];
  if (param.ord == 1) {
    return ReduceArray<Device, Reducer::kSum, Magnitude>(c, end, data, kept, c.outputs[0],
                                                         c.reqs[0], c.workspace);
  }
  return ReduceArray<Device, Reducer::kSum, Square>(c, end, data, kept, c.outputs[0], c.reqs[0],
                                                    c.workspace);
}

// Prepares ReduceKernel and MeanKernel: only the workspace. The bytes depend on the output alone,
// not on the data's shape.
template <typename Device>
absl::StatusOr<Prepared> PrepareReduction(const PrepareContext& c) {
  return Prepared{.workspace_bytes = Device::ReductionWorkspace(c.outputs[0], c.reqs[0])};
}

// Prepares NormKernel: only the workspace.
template <typename Device>
absl::StatusOr<Prepared> PrepareNorm(const PrepareContext& c) {
  return Prepared{.workspace_bytes = Device::ReductionWorkspace(c.outputs[0], c.reqs[0],
                                                                NormEnd(c.param<NormParam>()))};
}

// Gradients of reductions. ograd and output are broadcast from the reduced shape to that of data.

// Applies F to the kernel's inputs: ograd and output in the reduced shape, data in the full one.
// The output has data's shape. Functions with fewer operands have fewer inputs.
template <typename Device, typename F>
absl::Status Expand(const KernelContext& c, const KeptExtents& kept) {
  const absl::Span<const int64_t> full = c.outputs[0].shape.dims();
  ElemwiseOperand operands[3];
  const absl::Span<const int64_t> shapes[3] = {kept.span(), full, kept.span()};
  for (size_t i = 0; i < c.inputs.size(); ++i) operands[i] = OperandOf(c.inputs[i]);
  return Device::template Broadcast<F>(c, absl::MakeConstSpan(operands, c.inputs.size()),
                                       absl::MakeConstSpan(shapes, c.inputs.size()), full,
                                       c.outputs[0], c.reqs[0]);
}

// Computes the gradient of a reduction: applies F to ograd, data and output, over the axes of
// ReduceParam. F is a function of reduce_functions.h with one operand for each input.
template <typename Device, typename F>
absl::Status ExpandKernel(const KernelContext& c) {
  COOPER_ASSIGN_OR_RETURN(const auto kept, KeptOf(c.outputs[0].shape, c.param<ReduceParam>()));
  return Expand<Device, F>(c, kept);
}

// Applies F to ograd and a number. The number is an operand of extent 1.
template <typename Device, typename F>
absl::Status ExpandWith(const KernelContext& c, const KeptExtents& kept, double number) {
  return Device::template Broadcast<F>(
      c, {OperandOf(c.inputs[OneInputGradientArrays::kOgrad]), OperandOf(number)},
      {kept.span(), {}}, c.outputs[0].shape.dims(), c.outputs[0], c.reqs[0]);
}

// Computes the gradient of sum: broadcasts ograd. The scale 1 converts ograd to the output's dtype.
template <typename Device>
absl::Status SumBackwardKernel(const KernelContext& c) {
  COOPER_ASSIGN_OR_RETURN(const auto kept, KeptOf(c.outputs[0].shape, c.param<ReduceParam>()));
  return ExpandWith<Device, Scaled>(c, kept, 1);
}

// Computes the gradient of mean: broadcasts ograd divided by the number of reduced elements.
// Integers truncate. An empty array has no elements to compute.
template <typename Device>
absl::Status MeanBackwardKernel(const KernelContext& c) {
  COOPER_ASSIGN_OR_RETURN(const auto kept, KeptOf(c.outputs[0].shape, c.param<ReduceParam>()));
  return ExpandWith<Device, DividedBy>(c, kept, static_cast<double>(kept.count()));
}

// Computes the gradient of norm. The functions are Norm1Grad for ord 1, else Norm2Grad.
template <typename Device>
absl::Status NormBackwardKernel(const KernelContext& c) {
  const auto& param = c.param<NormParam>();
  COOPER_ASSIGN_OR_RETURN(const auto kept, KeptOf(c.outputs[0].shape, param.axis, false));
  return param.ord == 1 ? Expand<Device, Norm1Grad>(c, kept) : Expand<Device, Norm2Grad>(c, kept);
}

// Moments. The variance is computed in a second pass, as the mean of the squared differences from
// the mean.

// Returns the bytes of an array of this size in the largest dtype. It is the size of one
// intermediate result in the workspace, whatever its dtype is.
inline int64_t MomentBytes(const ArrayView& array) {
  return array.size() * static_cast<int64_t>(sizeof(int64_t));
}

// Runs moments: computes the mean and the variance over the axes of MomentsParam. Both divide by
// the number n of elements, not by n - 1. The second pass avoids the cancellation of E[x^2] -
// E[x]^2.
template <typename Device>
absl::Status MomentsKernel(const KernelContext& c) {
  using enum MomentsArrays::Output;
  const ArrayView& data = c.inputs[MomentsArrays::kData];
  COOPER_ASSIGN_OR_RETURN(const auto kept, KeptOf(data.shape, c.param<MomentsParam>().axes, false));
  const double count = static_cast<double>(kept.count());
  // The mean is computed in the workspace, because output 0 may be accumulated to or not requested.
  ArrayView mean = c.outputs[kMean];
  mean.data = c.workspace;
  char* const scratch = static_cast<char*>(c.workspace) + MomentBytes(mean);
  absl::Status status = ReduceArray<Device, Reducer::kSum, Same>(c, {.divisor = count}, data, kept,
                                                                 mean, WriteReq::kWrite, scratch);
  COOPER_RETURN_IF_ERROR(status);
  const absl::Span<const int64_t> full = data.shape.dims();
  COOPER_RETURN_IF_ERROR(Device::Convert(c, mean, c.outputs[kMean], c.reqs[kMean]));
  return Device::template Reduce<Reducer::kSum, SquaredDifference>(
      c, {.divisor = count}, full, {OperandOf(data), OperandOf(mean)}, {full, kept.span()},
      c.outputs[kVar], kept.span(), c.reqs[kVar], scratch);
}

// Prepares MomentsKernel. The workspace holds the mean, then scratch memory of both reductions.
template <typename Device>
absl::StatusOr<Prepared> PrepareMoments(const PrepareContext& c) {
  using enum MomentsArrays::Output;
  return Prepared{.workspace_bytes =
                      MomentBytes(c.outputs[kMean]) +
                      std::max(Device::ReductionWorkspace(c.outputs[kMean], WriteReq::kWrite),
                               Device::ReductionWorkspace(c.outputs[kVar], c.reqs[kVar]))};
}

// Computes the gradient of moments, with n the number of reduced elements:
//
//   g_mean / n + 2 * g_var / n * (x - mean)
template <typename Device>
absl::Status MomentsBackwardKernel(const KernelContext& c) {
  using enum MomentsGradientArrays::Input;
  const absl::Span<const int64_t> full = c.outputs[0].shape.dims();
  COOPER_ASSIGN_OR_RETURN(const auto kept,
                          KeptOf(c.outputs[0].shape, c.param<MomentsParam>().axes, false));
  const double scale = 1.0 / static_cast<double>(kept.count());
  // Both gradients are scaled before they are broadcast, when they are small.
  ArrayView g[2] = {c.inputs[kMeanOgrad], c.inputs[kVarOgrad]};
  char* at = static_cast<char*>(c.workspace);
  for (ArrayView& gradient : g) {
    const ElemwiseOperand unscaled = OperandOf(gradient);
    gradient.data = at;
    at += MomentBytes(gradient);
    COOPER_RETURN_IF_ERROR(Device::template Elementwise<Scaled>(c, {unscaled, OperandOf(scale)},
                                                                gradient, WriteReq::kWrite));
  }
  return Device::template Broadcast<MomentsGrad>(
      c, {OperandOf(g[0]), OperandOf(g[1]), OperandOf(c.inputs[kData]), OperandOf(c.inputs[kMean])},
      {kept.span(), kept.span(), full, kept.span()}, full, c.outputs[0], c.reqs[0]);
}

// Prepares MomentsBackwardKernel. The workspace holds both scaled gradients.
inline absl::StatusOr<Prepared> PrepareMomentsBackward(const PrepareContext& c) {
  return Prepared{.workspace_bytes = 2 * MomentBytes(c.inputs[MomentsGradientArrays::kMeanOgrad])};
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_REDUCE_AXIS_REDUCTION_KERNELS_H_
