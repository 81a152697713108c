// Kernels of NumPy products for GPUs, through cuBLAS.

#include <utility>

#include "absl/status/status.h"
#include "executor/kernels/launch/cublas_state.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"
#include "executor/kernels/loops/strided_copy_cuda.h"
#include "executor/kernels/numpy/contraction_kernels.h"
#include "executor/kernels/numpy/contraction_plan.h"
#include "executor/program/kernel.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/cuda/cublas.h"
#include "ndarray/cuda/device_scope.h"

namespace cooper {
namespace {

struct GpuDevice : CudaMover {
  using State = CublasState;
  static constexpr DTypeSet kDTypes = kFloat32Or64;

  static absl::Status Prepare(const PrepareContext& c, State& state) {
    COOPER_ASSIGN_OR_RETURN(state.cublas, Cublas::Of(c.context.device_id));
    return absl::OkStatus();
  }

  static absl::Status Multiply(const KernelContext& c, const ContractionStep& step, const void* a,
                               const void* b, const ArrayView& out, bool add) {
    const CudaDeviceScope scope(c.context.device_id);
    COOPER_RETURN_IF_ERROR(scope.status());
    const GemmBatch strides{.count = step.batch,
                            .stride_a = step.m * step.k,
                            .stride_b = step.k * step.n,
                            .stride_c = step.m * step.n};
    return CublasOf(c).GemmBatched(StreamOf(c), out.dtype, strides, step.transpose_from,
                                   step.transpose_second, step.m, step.n, step.k, 1, a,
                                   step.transpose_from ? step.m : step.k, b,
                                   step.transpose_second ? step.k : step.n, add, out.data, step.n);
  }
};

[[maybe_unused]] const bool kRegistered = ContractionKernels<GpuDevice>::Register(DeviceType::kGpu);

}  // namespace
}  // namespace cooper
