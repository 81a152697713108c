// GPU kernels that compute norms of several arrays and check that they are finite.

#include <cmath>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "executor/kernels/launch/launch.h"
#include "executor/kernels/optimizer/layerwise_functions.h"
#include "executor/kernels/optimizer/update_function.h"
#include "executor/kernels/reducers/block_sums.h"
#include "ndarray/cuda/cuda_status.h"
#include "ndarray/cuda/device_scope.h"
#include "symbol/ops/optimizer/multi_param.h"

namespace cooper {
namespace {

// Returns run(TypeTag<T>()), a status, for a floating dtype; an error for other dtypes.
template <typename Run>
absl::Status DispatchFloating(const KernelContext& c, const ArrayView& array, const Run& run) {
  absl::Status status;
  const bool known = DispatchUpdate<false>(array.dtype, array.dtype,
                                           [&](auto tag, auto) { status.Update(run(tag)); });
  if (known) return status;
  return absl::UnimplementedError(absl::StrCat(c.call.op->name(), " on ", c.context.ToString(),
                                               ": no kernel for ", DTypeName(array.dtype)));
}

__device__ void Put(float value, bool add, float* output) {
  *output = add ? *output + value : value;
}

struct PutFloat {
  float* to;
  bool add;
  __device__ void operator()(double sum) const { Put(static_cast<float>(sum), add, to); }
};

absl::StatusOr<Prepared> PrepareSum(const PrepareContext&) {
  return Prepared{.workspace_bytes = kSumScratchBytes};
}

absl::Status MultiSumSqGpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    const ArrayView& array = c.inputs[i];
    COOPER_RETURN_IF_ERROR(DispatchFloating(c, array, [&](auto tag) {
      using T = typename decltype(tag)::type;
      return SumElements(c, array.size(), SquareOf<ComputeType<T>, T>{array.as<T>()},
                         static_cast<double*>(c.workspace),
                         PutFloat{c.outputs[0].as<float>() + i, c.reqs[0] == WriteReq::kAdd});
    }));
  }
  return absl::OkStatus();
}

__global__ void MultiLars(int64_t n, MultiLarsParam p, const float* lrs, const float* weight_sums,
                          const float* grad_sums, const float* wds, bool add, float* output) {
  for (int64_t i = FirstElement(); i < n; i += ElementStep()) {
    Put(static_cast<float>(MultiLarsRate(p, lrs[i], weight_sums[i], grad_sums[i], wds[i])), add,
        output + i);
  }
}

absl::Status MultiLarsGpu(const KernelContext& c) {
  using enum MultiLarsArrays::Input;
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  const int64_t n = c.outputs[0].size();
  return LaunchElements(c, n, MultiLars, n, c.param<MultiLarsParam>(), c.inputs[kLrs].as<float>(),
                        c.inputs[kWeightSums].as<float>(), c.inputs[kGradSums].as<float>(),
                        c.inputs[kWds].as<float>(), c.reqs[0] == WriteReq::kAdd,
                        c.outputs[0].as<float>());
}

// Returns 1 for an element that is not finite, else 0. The sum of these is added to *count.
template <typename T>
struct IsNotFinite {
  const T* values;
  __device__ int operator()(int64_t i) const {
    return isfinite(ConvertElement<ComputeType<T>>(values[i])) ? 0 : 1;
  }
};

struct AddTo {
  double* to;
  __device__ void operator()(double sum) const { *to += sum; }
};

__global__ void PutFinite(const double* count, bool init_output, bool add, float* output) {
  const bool finite = *count == 0 && (init_output || *output != 0);
  Put(finite ? 1.0F : 0.0F, add, output);
}

absl::StatusOr<Prepared> PrepareAllFinite(const PrepareContext&) {
  return Prepared{.workspace_bytes = kSumScratchBytes + static_cast<int64_t>(sizeof(double))};
}

template <typename P>
absl::Status AllFiniteGpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  auto* const count = static_cast<double*>(c.workspace);
  {
    const CudaDeviceScope scope(c.context.device_id);
    COOPER_RETURN_IF_ERROR(scope.status());
    COOPER_RETURN_IF_ERROR(
        CudaStatus(cudaMemsetAsync(count, 0, sizeof(double), StreamOf(c)), "cudaMemsetAsync"));
  }
  for (const ArrayView& array : c.inputs) {
    COOPER_RETURN_IF_ERROR(DispatchFloating(c, array, [&](auto tag) {
      using T = typename decltype(tag)::type;
      return SumElements(c, array.size(), IsNotFinite<T>{array.as<T>()}, count + 1, AddTo{count});
    }));
  }
  return Launch(c, dim3(1), dim3(1), PutFinite, count, c.param<P>().init_output,
                c.reqs[0] == WriteReq::kAdd, c.outputs[0].as<float>());
}

absl::Status ResetArraysGpu(const KernelContext& c) {
  const CudaDeviceScope scope(c.context.device_id);
  COOPER_RETURN_IF_ERROR(scope.status());
  for (const ArrayView& array : c.inputs) {
    if (array.size() == 0) continue;
    COOPER_RETURN_IF_ERROR(CudaStatus(
        cudaMemsetAsync(array.data, 0, static_cast<size_t>(array.size_bytes()), StreamOf(c)),
        "cudaMemsetAsync"));
  }
  return absl::OkStatus();
}

COOPER_REGISTER_KERNEL(multi_sum_sq, DeviceType::kGpu, kUpdateDTypes, MultiSumSqGpu, PrepareSum);
COOPER_REGISTER_KERNEL(multi_lars, DeviceType::kGpu, kFloat32Only, MultiLarsGpu);
COOPER_REGISTER_KERNEL(all_finite, DeviceType::kGpu, kUpdateDTypes, AllFiniteGpu<AllFiniteParam>,
                       PrepareAllFinite);
COOPER_REGISTER_KERNEL(multi_all_finite, DeviceType::kGpu, kUpdateDTypes,
                       AllFiniteGpu<MultiAllFiniteParam>, PrepareAllFinite);
COOPER_REGISTER_KERNEL(reset_arrays, DeviceType::kGpu, kAnyDType, ResetArraysGpu);

}  // namespace
}  // namespace cooper
