// Kernels that compute norms of several arrays and check that they are finite.

#include <cmath>
#include <cstring>

#include "executor/kernels/optimizer/element_update.h"
#include "executor/kernels/optimizer/layerwise_functions.h"
#include "executor/kernels/optimizer/sum_squares.h"
#include "symbol/ops/optimizer/multi_param.h"

namespace cooper {
namespace {

// Calls run(TypeTag<T>()) for a floating dtype. Returns false for other dtypes.
template <typename Run>
bool DispatchFloating(DType dtype, const Run& run) {
  return DispatchUpdate<false>(dtype, dtype, [&](auto tag, auto) { run(tag); });
}

absl::Status Unimplemented(const KernelContext& c, const ArrayView& array) {
  return absl::UnimplementedError(
      absl::StrCat(c.call.op->name(), " on cpu: no kernel for ", DTypeName(array.dtype)));
}

void Put(float value, WriteReq req, float* output) {
  *output = req == WriteReq::kAdd ? *output + value : value;
}

absl::Status MultiSumSqCpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    const bool known = DispatchFloating(c.inputs[i].dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      const double sum = SumSquares<ComputeType<T>>(c.inputs[i].as<T>(), c.inputs[i].size());
      Put(static_cast<float>(sum), c.reqs[0], c.outputs[0].as<float>() + i);
    });
    if (!known) return Unimplemented(c, c.inputs[i]);
  }
  return absl::OkStatus();
}

absl::Status MultiLarsCpu(const KernelContext& c) {
  using enum MultiLarsArrays::Input;
  const auto& p = c.param<MultiLarsParam>();
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  if (c.inputs[kLrs].dtype != DType::kFloat32) return Unimplemented(c, c.inputs[kLrs]);
  for (int64_t i = 0; i < c.outputs[0].size(); ++i) {
    const double lr =
        MultiLarsRate(p, c.inputs[kLrs].as<float>()[i], c.inputs[kWeightSums].as<float>()[i],
                      c.inputs[kGradSums].as<float>()[i], c.inputs[kWds].as<float>()[i]);
    Put(static_cast<float>(lr), c.reqs[0], c.outputs[0].as<float>() + i);
  }
  return absl::OkStatus();
}

template <typename T>
bool AllFinite(const T* values, int64_t n) {
  return SumOver(n, [values](int64_t i) {
           return std::isfinite(static_cast<ComputeType<T>>(values[i])) ? 0 : 1;
         }) == 0;
}

template <typename P>
absl::Status AllFiniteCpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  bool finite = true;
  for (const ArrayView& array : c.inputs) {
    const bool known = DispatchFloating(array.dtype, [&](auto tag) {
      finite = finite && AllFinite(array.as<typename decltype(tag)::type>(), array.size());
    });
    if (!known) return Unimplemented(c, array);
  }
  auto* const output = c.outputs[0].as<float>();
  if (!c.param<P>().init_output) finite = finite && *output != 0;
  Put(finite ? 1.0f : 0.0f, c.reqs[0], output);
  return absl::OkStatus();
}

absl::Status ResetArraysCpu(const KernelContext& c) {
  for (const ArrayView& array : c.inputs) {
    if (array.size() > 0) std::memset(array.data, 0, static_cast<size_t>(array.size_bytes()));
  }
  return absl::OkStatus();
}

COOPER_REGISTER_KERNEL(multi_sum_sq, DeviceType::kCpu, kUpdateDTypes, MultiSumSqCpu);
COOPER_REGISTER_KERNEL(multi_lars, DeviceType::kCpu, kFloat32Only, MultiLarsCpu);
COOPER_REGISTER_KERNEL(all_finite, DeviceType::kCpu, kUpdateDTypes, AllFiniteCpu<AllFiniteParam>);
COOPER_REGISTER_KERNEL(multi_all_finite, DeviceType::kCpu, kUpdateDTypes,
                       AllFiniteCpu<MultiAllFiniteParam>);
COOPER_REGISTER_KERNEL(reset_arrays, DeviceType::kCpu, kAnyDType, ResetArraysCpu);

}  // namespace
}  // namespace cooper
