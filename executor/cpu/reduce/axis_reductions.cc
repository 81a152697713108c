// Kernels of reductions over axes and of their gradients.

#include <array>
#include <cmath>

#include "absl/status/statusor.h"
#include "executor/cpu/elemwise/convert.h"
#include "executor/cpu/elemwise/elemwise_kernel.h"
#include "executor/cpu/reduce/map_reduce.h"
#include "executor/elements/is_nan.h"
#include "executor/kernel.h"
#include "ndarray/status_macros.h"
#include "symbol/ops/one_input.h"
#include "symbol/ops/reduce/reduce_axes.h"
#include "symbol/ops/reduce/reduce_param.h"

namespace cooper {
namespace {

using enum OneInputArrays::Input;
using enum OneInputGradientArrays::Input;

// The extents of `shape` with 1 on the reduced axes, whatever keepdims says of the array itself.
class KeptExtents {
 public:
  KeptExtents(const Shape& shape, uint64_t reduced) : rank_(shape.rank()) {
    for (int axis = 0; axis < rank_; ++axis) {
      const bool gone = (reduced >> axis) & 1;
      extents_[axis] = gone ? 1 : shape[axis];
      if (gone) count_ *= shape[axis];
    }
  }
  absl::Span<const int64_t> span() const { return {extents_.data(), static_cast<size_t>(rank_)}; }
  // Elements that are reduced to one.
  int64_t count() const { return count_; }

 private:
  std::array<int64_t, 64> extents_;
  int rank_;
  int64_t count_ = 1;
};

absl::StatusOr<KeptExtents> KeptOf(const Shape& shape, const OptionalAxes& axes, bool exclude) {
  COOPER_ASSIGN_OR_RETURN(const uint64_t reduced, ReducedAxes(axes, exclude, shape.rank()));
  return KeptExtents(shape, reduced);
}

absl::StatusOr<KeptExtents> KeptOf(const Shape& shape, const ReduceParam& param) {
  return KeptOf(shape, param.axis, param.exclude);
}

absl::Status ReduceArray(const Reduction& reduction, const ArrayView& data, const KeptExtents& kept,
                         const ArrayView& output, WriteReq req, void* workspace) {
  const absl::Span<const int64_t> full = data.shape.dims();
  return RunReduction(reduction, full, {OperandOf(data)}, {full}, output, kept.span(), req,
                      workspace);
}

struct Function1 {
  static constexpr int kArity = 1;
  static constexpr bool kExactIntegers = true;
};
struct Abs : Function1 {
  template <typename C>
  static C Apply(C x) {
    return x < 0 ? -x : x;
  }
};
struct Square : Function1 {
  template <typename C>
  static C Apply(C x) {
    return x * x;
  }
};
struct NanToZero : Function1 {
  template <typename C>
  static C Apply(C x) {
    return IsNan(x) ? C{0} : x;
  }
};
struct NanToOne : Function1 {
  template <typename C>
  static C Apply(C x) {
    return IsNan(x) ? C{1} : x;
  }
};

template <Reducer kReducer>
absl::Status Plain(const KernelContext& c) {
  COOPER_ASSIGN_OR_RETURN(const auto kept, KeptOf(c.inputs[kData].shape, c.param<ReduceParam>()));
  return ReduceArray({.reducer = kReducer}, c.inputs[kData], kept, c.outputs[0], c.reqs[0],
                     c.workspace);
}

template <Reducer kReducer, typename Map>
absl::Status Mapped(const KernelContext& c) {
  COOPER_ASSIGN_OR_RETURN(const auto kept, KeptOf(c.inputs[kData].shape, c.param<ReduceParam>()));
  return ReduceArray({.reducer = kReducer, .map = &kElemwiseLoops<Map>}, c.inputs[kData], kept,
                     c.outputs[0], c.reqs[0], c.workspace);
}

absl::Status MeanCpu(const KernelContext& c) {
  COOPER_ASSIGN_OR_RETURN(const auto kept, KeptOf(c.inputs[kData].shape, c.param<ReduceParam>()));
  return ReduceArray({.divisor = static_cast<double>(kept.count())}, c.inputs[kData], kept,
                     c.outputs[0], c.reqs[0], c.workspace);
}

absl::Status NormCpu(const KernelContext& c) {
  const auto& param = c.param<NormParam>();
  COOPER_ASSIGN_OR_RETURN(const auto kept, KeptOf(c.inputs[kData].shape, param.axis, false));
  const Reduction reduction = param.ord == 1
                                  ? Reduction{.map = &kElemwiseLoops<Abs>}
                                  : Reduction{.map = &kElemwiseLoops<Square>, .square_root = true};
  return ReduceArray(reduction, c.inputs[kData], kept, c.outputs[0], c.reqs[0], c.workspace);
}

absl::StatusOr<Prepared> PrepareOutput0(const PrepareContext& c) {
  return Prepared{.workspace_bytes = ReductionWorkspace(c.outputs[0], c.reqs[0])};
}

// Gradients: functions of ograd and others, each broadcast from the reduced shape to data's.

template <int arity>
struct Gradient {
  static constexpr int kArity = arity;
  static constexpr bool kExactIntegers = true;
};
struct Scaled : Gradient<2> {
  template <typename C>
  static C Apply(C g, C scale) {
    return g * scale;
  }
};
struct NansumGrad : Gradient<2> {
  template <typename C>
  static C Apply(C g, C x) {
    return IsNan(x) ? C{0} : g;
  }
};
struct ProdGrad : Gradient<3> {
  static constexpr bool kExactIntegers = false;
  template <typename C>
  static C Apply(C g, C x, C y) {
    return g * (y / x);
  }
};
struct NanprodGrad : Gradient<3> {
  static constexpr bool kExactIntegers = false;
  template <typename C>
  static C Apply(C g, C x, C y) {
    return IsNan(x) ? C{0} : g * (y / x);
  }
};
// Every element that is tied for the extreme one gets the whole gradient.
struct ExtremeGrad : Gradient<3> {
  template <typename C>
  static C Apply(C g, C x, C y) {
    return x == y ? g : C{0};
  }
};
struct Norm1Grad : Gradient<3> {
  template <typename C>
  static C Apply(C g, C x, C) {
    return x > 0 ? g : (x < 0 ? -g : C{0});
  }
};
// At 0, where the norm has a kink, the gradient is taken as 0.
struct Norm2Grad : Gradient<3> {
  static constexpr bool kExactIntegers = false;
  template <typename C>
  static C Apply(C g, C x, C y) {
    return y == 0 ? C{0} : g * (x / y);
  }
};

// Inputs of the kernel: ograd and output in the reduced shape, data in the full one.
absl::Status Expand(const ElemwiseLoops& loops, const KernelContext& c, const KeptExtents& kept) {
  const absl::Span<const int64_t> full = c.outputs[0].shape.dims();
  ElemwiseOperand operands[3];
  const absl::Span<const int64_t> shapes[3] = {kept.span(), full, kept.span()};
  for (size_t i = 0; i < c.inputs.size(); ++i) operands[i] = OperandOf(c.inputs[i]);
  return RunBroadcast(loops, {operands, c.inputs.size()}, {shapes, c.inputs.size()}, full,
                      c.outputs[0], c.reqs[0]);
}

template <typename F>
absl::Status ExpandCpu(const KernelContext& c) {
  COOPER_ASSIGN_OR_RETURN(const auto kept, KeptOf(c.outputs[0].shape, c.param<ReduceParam>()));
  return Expand(kElemwiseLoops<F>, c, kept);
}

// ograd times a factor.
absl::Status ExpandScaled(const KernelContext& c, const KeptExtents& kept, double scale) {
  return RunBroadcast(kElemwiseLoops<Scaled>, {OperandOf(c.inputs[kOgrad]), OperandOf(scale)},
                      {kept.span(), {}}, c.outputs[0].shape.dims(), c.outputs[0], c.reqs[0]);
}

absl::Status SumBackwardCpu(const KernelContext& c) {
  COOPER_ASSIGN_OR_RETURN(const auto kept, KeptOf(c.outputs[0].shape, c.param<ReduceParam>()));
  return ExpandScaled(c, kept, 1);
}

absl::Status MeanBackwardCpu(const KernelContext& c) {
  COOPER_ASSIGN_OR_RETURN(const auto kept, KeptOf(c.outputs[0].shape, c.param<ReduceParam>()));
  return ExpandScaled(c, kept, 1.0 / static_cast<double>(kept.count()));
}

absl::Status NormBackwardCpu(const KernelContext& c) {
  const auto& param = c.param<NormParam>();
  COOPER_ASSIGN_OR_RETURN(const auto kept, KeptOf(c.outputs[0].shape, param.axis, false));
  return Expand(param.ord == 1 ? kElemwiseLoops<Norm1Grad> : kElemwiseLoops<Norm2Grad>, c, kept);
}

// Moments. The variance is that of the differences from the mean, in a second pass.

struct SquaredDifference : Gradient<2> {
  template <typename C>
  static C Apply(C x, C mean) {
    return (x - mean) * (x - mean);
  }
};
// Of a mean's and a variance's gradients, both divided by the number of elements.
struct MomentsGrad : Gradient<4> {
  template <typename C>
  static C Apply(C g_mean, C g_var, C x, C mean) {
    return g_mean + 2 * g_var * (x - mean);
  }
};

absl::Status MomentsCpu(const KernelContext& c) {
  using enum MomentsArrays::Output;
  const ArrayView& data = c.inputs[kData];
  COOPER_ASSIGN_OR_RETURN(const auto kept, KeptOf(data.shape, c.param<MomentsParam>().axes, false));
  const double count = static_cast<double>(kept.count());
  // The mean by itself, since output 0 may be asked for as a sum with what it holds, or not at all.
  ArrayView mean = c.outputs[kMean];
  mean.data = c.workspace;
  char* const scratch =
      static_cast<char*>(c.workspace) + mean.size() * static_cast<int64_t>(sizeof(int64_t));
  COOPER_RETURN_IF_ERROR(
      ReduceArray({.divisor = count}, data, kept, mean, WriteReq::kWrite, scratch));
  const absl::Span<const int64_t> full = data.shape.dims();
  ConvertArray(mean, c.outputs[kMean], c.reqs[kMean]);
  return RunReduction({.map = &kElemwiseLoops<SquaredDifference>, .divisor = count}, full,
                      {OperandOf(data), OperandOf(mean)}, {full, kept.span()}, c.outputs[kVar],
                      kept.span(), c.reqs[kVar], scratch);
}

absl::StatusOr<Prepared> PrepareMoments(const PrepareContext& c) {
  return Prepared{.workspace_bytes =
                      2 * c.outputs[0].size() * static_cast<int64_t>(sizeof(int64_t))};
}

absl::Status MomentsBackwardCpu(const KernelContext& c) {
  using enum MomentsGradientArrays::Input;
  const absl::Span<const int64_t> full = c.outputs[0].shape.dims();
  COOPER_ASSIGN_OR_RETURN(const auto kept,
                          KeptOf(c.outputs[0].shape, c.param<MomentsParam>().axes, false));
  const double scale = 1.0 / static_cast<double>(kept.count());
  // Both gradients are scaled while they are small.
  ArrayView g[2] = {c.inputs[kMeanOgrad], c.inputs[kVarOgrad]};
  char* at = static_cast<char*>(c.workspace);
  for (ArrayView& gradient : g) {
    const ElemwiseOperand unscaled = OperandOf(gradient);
    gradient.data = at;
    at += gradient.size() * static_cast<int64_t>(sizeof(int64_t));
    COOPER_RETURN_IF_ERROR(RunElemwise(kElemwiseLoops<Scaled>, {unscaled, OperandOf(scale)},
                                       gradient, WriteReq::kWrite));
  }
  return RunBroadcast(
      kElemwiseLoops<MomentsGrad>,
      {OperandOf(g[0]), OperandOf(g[1]), OperandOf(c.inputs[kData]), OperandOf(c.inputs[kMean])},
      {kept.span(), kept.span(), full, kept.span()}, full, c.outputs[0], c.reqs[0]);
}

absl::StatusOr<Prepared> PrepareMomentsBackward(const PrepareContext& c) {
  using enum MomentsGradientArrays::Input;
  return Prepared{.workspace_bytes =
                      2 * c.inputs[kMeanOgrad].size() * static_cast<int64_t>(sizeof(int64_t))};
}

constexpr DeviceType kCpu = DeviceType::kCpu;

const KernelRegistrar kKernels[] = {
    {"sum", kCpu, kAnyDType, Plain<Reducer::kSum>, PrepareOutput0},
    {"mean", kCpu, kAnyDType, MeanCpu, PrepareOutput0},
    {"prod", kCpu, kAnyDType, Plain<Reducer::kProduct>, PrepareOutput0},
    {"nansum", kCpu, kAnyDType, Mapped<Reducer::kSum, NanToZero>, PrepareOutput0},
    {"nanprod", kCpu, kAnyDType, Mapped<Reducer::kProduct, NanToOne>, PrepareOutput0},
    {"max", kCpu, kAnyDType, Plain<Reducer::kMax>, PrepareOutput0},
    {"min", kCpu, kAnyDType, Plain<Reducer::kMin>, PrepareOutput0},
    {"norm", kCpu, kAnyDType, NormCpu, PrepareOutput0},
    {"moments", kCpu, kAnyDType, MomentsCpu, PrepareMoments},
    {"_backward_sum", kCpu, kAnyDType, SumBackwardCpu},
    {"_backward_mean", kCpu, kAnyDType, MeanBackwardCpu},
    {"_backward_prod", kCpu, kAnyDType, ExpandCpu<ProdGrad>},
    {"_backward_nansum", kCpu, kAnyDType, ExpandCpu<NansumGrad>},
    {"_backward_nanprod", kCpu, kAnyDType, ExpandCpu<NanprodGrad>},
    {"_backward_max", kCpu, kAnyDType, ExpandCpu<ExtremeGrad>},
    {"_backward_min", kCpu, kAnyDType, ExpandCpu<ExtremeGrad>},
    {"_backward_norm", kCpu, kAnyDType, NormBackwardCpu},
    {"_backward_moments", kCpu, kAnyDType, MomentsBackwardCpu, PrepareMomentsBackward},
};

}  // namespace
}  // namespace cooper
