// GPU kernels of _neighbour_difference and of its gradient.

#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"
#include "executor/kernels/loops/wrapping.h"
#include "executor/kernels/numpy/difference_extents.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/rules/one_input.h"

namespace cooper {
namespace {

// Returns 0 or 1 for bool, so that -1 and a true element that it is added to give true, as on a
// CPU.
template <typename C>
__device__ C AsBool(DType dtype, C value) {
  return dtype == DType::kBool && value != C{0} ? C{1} : value;
}

template <typename C>
__global__ void Difference(int64_t n, int64_t short_row, int64_t stride, const void* data,
                           void* out, DType dtype, bool add) {
  for (int64_t i = FirstElement(); i < n; i += ElementStep()) {
    const int64_t at = i / short_row * (short_row + stride) + i % short_row;
    const C value =
        WrapSub(LoadElement<C>(data, dtype, at + stride), LoadElement<C>(data, dtype, at));
    StoreElement(out, dtype, i, AsBool(dtype, value), add);
  }
}

// Computes gradient[i] = ograd[i - 1] - ograd[i] along the axis. An element outside of ograd counts
// as 0.
template <typename C>
__global__ void DifferenceGradient(int64_t n, int64_t short_row, int64_t stride, const void* ograd,
                                   void* out, DType dtype, bool add) {
  for (int64_t i = FirstElement(); i < n; i += ElementStep()) {
    const int64_t column = i % (short_row + stride);
    const int64_t at = i / (short_row + stride) * short_row + column;
    const C before = column < stride ? C{0} : LoadElement<C>(ograd, dtype, at - stride);
    const C here = column < short_row ? LoadElement<C>(ograd, dtype, at) : C{0};
    // The first elements are negated, so that zeros have the sign that they have on a CPU.
    const C value = column < stride ? WrapNegate(here) : WrapSub(before, here);
    StoreElement(out, dtype, i, AsBool(dtype, value), add);
  }
}

template <bool kGradient>
absl::Status Run(const KernelContext& c) {
  const ArrayView& in = c.inputs[0];
  const ArrayView& out = c.outputs[0];
  if (c.reqs[0] == WriteReq::kNull || out.size() == 0) return absl::OkStatus();
  COOPER_ASSIGN_OR_RETURN(
      const auto extents,
      DifferenceExtents::Of(kGradient ? out.shape : in.shape, c.param<NeighbourDifferenceParam>()));
  return DispatchCompute(out.dtype, /*exact_integers=*/true, [&](auto zero) {
    using C = decltype(zero);
    return LaunchElements(c, out.size(), kGradient ? DifferenceGradient<C> : Difference<C>,
                          out.size(), extents.short_row(), extents.stride, in.data, out.data,
                          out.dtype, c.reqs[0] == WriteReq::kAdd);
  });
}

COOPER_REGISTER_KERNEL(_neighbour_difference, DeviceType::kGpu, kAnyDType, Run<false>);
COOPER_REGISTER_KERNEL(_backward_neighbour_difference, DeviceType::kGpu, kAnyDType, Run<true>);

}  // namespace
}  // namespace cooper
