#ifndef COOPER_EXECUTOR_KERNELS_NUMPY_PARAMETRIC_UNARY_KERNELS_H_
#define COOPER_EXECUTOR_KERNELS_NUMPY_PARAMETRIC_UNARY_KERNELS_H_

// Kernels of _npi_around, _npi_nan_to_num and its gradient, over the devices of
// executor/kernels/reduce/axis_reduction_kernels.h, for parametric_unary.cc and .cu.

#include <cmath>
#include <cstdlib>
#include <limits>

#include "absl/status/status.h"
#include "executor/kernels/loops/elemwise_operand.h"
#include "executor/kernels/numpy/numpy_functions.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/host_device.h"
#include "symbol/ops/numpy/parametric_unary_param.h"

namespace cooper {

// x rounded to multiples of 1 / power (RoundBehindPoint) and of power (RoundBeforePoint), where
// power is 10^|decimals|; halves go to the even multiple. A power or product that overflows leaves
// x as it is behind the point, where it has no digits to round, and gives 0 before it.
struct RoundBehindPoint : NumpyFunction<2, false> {
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C x, C power) {
    const C scaled = x * power;
    if (IsInfinity(power, 1) || IsInfinity(scaled, 1) || IsInfinity(scaled, -1)) return x;
    return std::rint(scaled) / power;
  }
};
struct RoundBeforePoint : NumpyFunction<2, false> {
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C x, C power) {
    if (IsInfinity(power, 1)) return IsInfinity(x, 1) || IsInfinity(x, -1) ? x : x * C{0};
    return std::rint(x / power) * power;
  }
};
// x itself, for integers, which have no fraction to round. It copies between dtypes and honours the
// write request like the other functions.
struct SameNumber : NumpyFunction<1, true> {
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C x) {
    return x;
  }
};
// x, or one of the three numbers in place of NaN, infinity and -infinity. ReplaceNonFiniteGrad is
// the head gradient g where x is kept, and 0 where it is replaced.
struct ReplaceNonFinite : NumpyFunction<4, true> {
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C x, C nan, C positive, C negative) {
    if (IsNan(x)) return nan;
    return IsInfinity(x, 1) ? positive : IsInfinity(x, -1) ? negative : x;
  }
};
struct ReplaceNonFiniteGrad : NumpyFunction<2, true> {
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C g, C x) {
    return IsNan(x) || IsInfinity(x, 1) || IsInfinity(x, -1) ? C{0} : g;
  }
};

// Returns the greatest finite number of a floating dtype, exactly: nan_to_num replaces infinities
// by it. Returns 0 for other dtypes, which have no infinities and never use it.
inline double GreatestOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat64:
      return std::numeric_limits<double>::max();
    case DType::kFloat32:
      return std::numeric_limits<float>::max();
    case DType::kFloat16:
      return 65504;
    case DType::kBfloat16:
      return 0x1.FEp127;
    default:
      return 0;
  }
}

// The kernels of one device, whose parameters are numbers that the functions take as further
// operands. Each is a Kernel::RunFn without a workspace; errors are those of D::Elementwise.
template <typename D>
struct NumpyParametricUnary {
  // Runs _npi_around. Integers are copied; the type rule refuses them with decimals below 0.
  static absl::Status Around(const KernelContext& c) {
    const int decimals = c.param<AroundParam>().decimals;
    const double power = std::pow(10.0, std::abs(decimals));
    const ElemwiseOperand x = OperandOf(c.inputs[0]), scale = OperandOf(power);
    // Without fractions there is nothing to round.
    if (!IsFloating(c.inputs[0].dtype)) {
      return D::template Elementwise<SameNumber>(c, {x}, c.outputs[0], c.reqs[0]);
    }
    return decimals >= 0
               ? D::template Elementwise<RoundBehindPoint>(c, {x, scale}, c.outputs[0], c.reqs[0])
               : D::template Elementwise<RoundBeforePoint>(c, {x, scale}, c.outputs[0], c.reqs[0]);
  }

  // Runs _npi_nan_to_num. Without posinf and neginf infinities become the limits of the output's
  // dtype.
  static absl::Status NanToNum(const KernelContext& c) {
    const auto& param = c.param<NanToNumParam>();
    const double greatest = GreatestOf(c.outputs[0].dtype);
    return D::template Elementwise<ReplaceNonFinite>(
        c,
        {OperandOf(c.inputs[NanToNumArrays::kData]), OperandOf(param.nan),
         OperandOf(param.posinf.value_or(greatest)), OperandOf(param.neginf.value_or(-greatest))},
        c.outputs[0], c.reqs[0]);
  }

  // Computes ograd where data is finite, else 0. Every integer is finite.
  static absl::Status NanToNumGradient(const KernelContext& c) {
    using enum NanToNumGradientArrays::Input;
    return D::template Elementwise<ReplaceNonFiniteGrad>(
        c, {OperandOf(c.inputs[kOgrad]), OperandOf(c.inputs[kData])}, c.outputs[0], c.reqs[0]);
  }

  // Registers the kernels. Call it from a static initializer, once for each device.
  static bool Register(DeviceType device) {
    [[maybe_unused]] const KernelRegistrar kernels[] = {
        {"_npi_around", device, kAnyDType, Around},
        {"_npi_nan_to_num", device, kAnyDType, NanToNum},
        {"_backward_npi_nan_to_num", device, kAnyDType, NanToNumGradient},
    };
    return true;
  }
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_NUMPY_PARAMETRIC_UNARY_KERNELS_H_
