// GPU kernels of where and its gradient, and of the choices by one condition to which control flow
// is lowered.

#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"
#include "executor/kernels/loops/map_quads.h"
#include "executor/program/kernel.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/control/select_param.h"
#include "symbol/ops/elemwise/where_arrays.h"

namespace cooper {
namespace {

// Computes out[i] = condition ? x[i] : y[i], where a null x or y stands for zeros. Each element of
// the condition applies to `row` elements of the output. The condition is compared in double, in
// which only 0 converts to 0.
template <typename C>
__global__ void Choose(int64_t n, int64_t row, const void* condition, DType condition_dtype,
                       const void* x, const void* y, void* out, DType dtype, bool add) {
  for (int64_t i = FirstElement(); i < n; i += ElementStep()) {
    const int64_t at = row == 1 ? i : i / row;
    const void* from = LoadElement<double>(condition, condition_dtype, at) != 0 ? x : y;
    StoreElement(out, dtype, i, from == nullptr ? C{0} : LoadElement<C>(from, dtype, i), add);
  }
}

// Computes out[i] = condition ? x[i] : y[i] for float32 arrays, with one element of the condition
// per element.
__global__ void ChooseFloats(int64_t n, const float* condition, const float* x, const float* y,
                             float* out, bool add) {
  if (x == nullptr || y == nullptr) {
    const bool takes = y == nullptr;
    MapQuads(n, condition, takes ? x : y, out, add, [takes](int64_t, float asked, float value) {
      return (asked != 0) == takes ? value : 0.0F;
    });
    return;
  }
  MapQuads(n, condition, x, out, add,
           [y](int64_t i, float asked, float value) { return asked != 0 ? value : y[i]; });
}

absl::Status RunChoose(const KernelContext& c, const ArrayView& condition, const void* x,
                       const void* y, const ArrayView& output, WriteReq req) {
  if (req == WriteReq::kNull || output.size() == 0) return absl::OkStatus();
  const int64_t n = output.size();
  const int64_t row = n / condition.size();
  if (row == 1 && output.dtype == DType::kFloat32 && condition.dtype == DType::kFloat32) {
    return LaunchElements(c, QuadsOf(n), ChooseFloats, n, condition.as<float>(),
                          static_cast<const float*>(x), static_cast<const float*>(y),
                          output.as<float>(), req == WriteReq::kAdd);
  }
  return DispatchCompute(output.dtype, /*exact_integers=*/true, [&](auto zero) {
    return LaunchElements(c, n, Choose<decltype(zero)>, n, row, condition.data, condition.dtype, x,
                          y, output.data, output.dtype, req == WriteReq::kAdd);
  });
}

absl::Status WhereGpu(const KernelContext& c) {
  using enum WhereArrays::Input;
  return RunChoose(c, c.inputs[kCondition], c.inputs[kX].data, c.inputs[kY].data, c.outputs[0],
                   c.reqs[0]);
}

absl::Status WhereBackwardGpu(const KernelContext& c) {
  using enum WhereGradientArrays::Input;
  const ArrayView& condition = c.inputs[kCondition];
  const void* ograd = c.inputs[kOgrad].data;
  COOPER_RETURN_IF_ERROR(RunChoose(c, condition, ograd, nullptr, c.outputs[0], c.reqs[0]));
  return RunChoose(c, condition, nullptr, ograd, c.outputs[1], c.reqs[1]);
}

absl::Status SelectGpu(const KernelContext& c) {
  using enum SelectArrays::Input;
  return RunChoose(c, c.inputs[kCondition], c.inputs[kOnTrue].data, c.inputs[kOnFalse].data,
                   c.outputs[0], c.reqs[0]);
}

absl::Status KeepIfGpu(const KernelContext& c) {
  using enum GuardArrays::Input;
  const void* data = c.inputs[kData].data;
  const bool expected = c.param<GuardParam>().expected;
  return RunChoose(c, c.inputs[kCondition], expected ? data : nullptr, expected ? nullptr : data,
                   c.outputs[0], c.reqs[0]);
}

COOPER_REGISTER_KERNEL(_select, DeviceType::kGpu, kAnyDType, SelectGpu);
COOPER_REGISTER_KERNEL(_keep_if, DeviceType::kGpu, kAnyDType, KeepIfGpu);
COOPER_REGISTER_KERNEL(where, DeviceType::kGpu, kAnyDType, WhereGpu);
COOPER_REGISTER_KERNEL(_backward_where, DeviceType::kGpu, kAnyDType, WhereBackwardGpu);

}  // namespace
}  // namespace cooper
