// GPU kernels of operators whose output is their input, for nodes whose output is not a view of it.

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"
#include "executor/kernels/loops/convert_cuda.h"
#include "executor/program/kernel.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/cuda/cuda_status.h"
#include "ndarray/cuda/device_scope.h"
#include "symbol/ops/elemwise/make_loss_param.h"

namespace cooper {
namespace {

using Count = unsigned long long;  // NOLINT: what atomicAdd takes

absl::Status CopyGpu(const KernelContext& c) {
  return ConvertArrayGpu(c, c.inputs[0], c.outputs[0], c.reqs[0]);
}

// Adds the number of elements above `threshold` to *count. Integer sums do not depend on the order.
__global__ void CountAbove(int64_t n, double threshold, const void* data, DType dtype,
                           Count* count) {
  Count own = 0;
  for (int64_t i = FirstElement(); i < n; i += ElementStep()) {
    if (LoadElement<double>(data, dtype, i) > threshold) ++own;
  }
  if (own != 0) atomicAdd(count, own);
}

__global__ void WriteGradient(int64_t n, double gradient, const Count* count, void* out,
                              DType dtype, bool add) {
  const double divisor = *count == 0 ? 1.0 : static_cast<double>(*count);
  for (int64_t i = FirstElement(); i < n; i += ElementStep()) {
    StoreElement(out, dtype, i, gradient / divisor, add);
  }
}

absl::StatusOr<Prepared> PrepareMakeLossBackward(const PrepareContext&) {
  return Prepared{.workspace_bytes = sizeof(Count)};
}

absl::Status MakeLossBackwardGpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  const auto& param = c.param<MakeLossParam>();
  const ArrayView& output = c.outputs[0];
  double gradient = param.grad_scale;
  if (param.normalization == MakeLossNormalization::kBatch) {
    // As in MXNet, an array counts as a matrix whose columns are the last axis.
    const int last = std::max(0, output.shape.rank() - 1);
    gradient /= static_cast<double>(output.shape.Product(0, last));
  }
  if (param.normalization != MakeLossNormalization::kValid) {
    return FillArrayGpu(c, gradient, output, c.reqs[0]);
  }
  const CudaDeviceScope scope(c.context.device_id);
  COOPER_RETURN_IF_ERROR(scope.status());
  auto* count = static_cast<Count*>(c.workspace);
  COOPER_RETURN_IF_ERROR(
      CudaStatus(cudaMemsetAsync(count, 0, sizeof(Count), StreamOf(c)), "cudaMemsetAsync"));
  const ArrayView& data = c.inputs[0];
  COOPER_RETURN_IF_ERROR(LaunchElements(c, data.size(), CountAbove, data.size(), param.valid_thresh,
                                        data.data, data.dtype, count));
  return LaunchElements(c, output.size(), WriteGradient, output.size(), gradient, count,
                        output.data, output.dtype, c.reqs[0] == WriteReq::kAdd);
}

COOPER_REGISTER_KERNEL(_copy, DeviceType::kGpu, kAnyDType, CopyGpu);
COOPER_REGISTER_KERNEL(BlockGrad, DeviceType::kGpu, kAnyDType, CopyGpu);
COOPER_REGISTER_KERNEL(_identity_with_attr_like_rhs, DeviceType::kGpu, kAnyDType, CopyGpu);
COOPER_REGISTER_KERNEL(make_loss, DeviceType::kGpu, kAnyDType, CopyGpu);
COOPER_REGISTER_KERNEL(MakeLoss, DeviceType::kGpu, kAnyDType, CopyGpu);
COOPER_REGISTER_KERNEL(_backward_MakeLoss, DeviceType::kGpu, kAnyDType, MakeLossBackwardGpu,
                       PrepareMakeLossBackward);

}  // namespace
}  // namespace cooper
