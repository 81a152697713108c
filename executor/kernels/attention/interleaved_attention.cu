// GPU kernels of _contrib_interleaved_matmul_*, through cuBLAS.

#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/attention/interleaved_attention_kernels.h"
#include "executor/kernels/launch/cublas_state.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"
#include "executor/program/kernel.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/cuda/cublas.h"
#include "ndarray/cuda/device_scope.h"

namespace cooper {
namespace {

// Sets the matrices to zero, row by row across all of them, in the order of memory.
template <typename T>
__global__ void ClearMatrices(int64_t size, HeadMatrices m) {
  const int64_t across = m.count * m.columns;
  for (int64_t i = FirstElement(); i < size; i += ElementStep()) {
    const int64_t row = i / across, matrix = i % across / m.columns;
    static_cast<T*>(m.data)[row * m.stride + matrix * m.step + i % m.columns] = 0;
  }
}

struct GpuAttention {
  static absl::Status Multiply(const KernelContext& c, bool transpose_a, bool transpose_b,
                               double alpha, const HeadMatrices& a, const HeadMatrices& b,
                               WriteReq req, const HeadMatrices& result) {
    if (req == WriteReq::kNull) return absl::OkStatus();
    const CudaDeviceScope scope(c.context.device_id);
    COOPER_RETURN_IF_ERROR(scope.status());
    const int64_t k = transpose_a ? a.rows : a.columns;
    return CublasOf(c).GemmBatched(
        StreamOf(c), result.dtype, {result.count, a.step, b.step, result.step}, transpose_a,
        transpose_b, result.rows, result.columns, k, alpha, a.data, a.stride, b.data, b.stride,
        req == WriteReq::kAdd, result.data, result.stride);
  }

  static absl::Status Clear(const KernelContext& c, const HeadMatrices& m) {
    const int64_t size = m.count * m.rows * m.columns;
    if (m.dtype == DType::kFloat64) return LaunchElements(c, size, ClearMatrices<double>, size, m);
    return LaunchElements(c, size, ClearMatrices<float>, size, m);
  }
};

COOPER_REGISTER_KERNEL(_contrib_interleaved_matmul_selfatt_qk, DeviceType::kGpu, kFloat32Or64,
                       QkKernel<GpuAttention, kSelfQk>, PrepareCublas);
COOPER_REGISTER_KERNEL(_backward_interleaved_matmul_selfatt_qk, DeviceType::kGpu, kFloat32Or64,
                       QkBackwardKernel<GpuAttention, kSelfQk>, PrepareCublas);
COOPER_REGISTER_KERNEL(_contrib_interleaved_matmul_selfatt_valatt, DeviceType::kGpu, kFloat32Or64,
                       AttendKernel<GpuAttention, kSelfAttention>, PrepareCublas);
COOPER_REGISTER_KERNEL(_backward_interleaved_matmul_selfatt_valatt, DeviceType::kGpu, kFloat32Or64,
                       AttendBackwardKernel<GpuAttention, kSelfAttention>, PrepareCublas);
COOPER_REGISTER_KERNEL(_contrib_interleaved_matmul_encdec_qk, DeviceType::kGpu, kFloat32Or64,
                       QkKernel<GpuAttention, kEncoderDecoderQk>, PrepareCublas);
COOPER_REGISTER_KERNEL(_backward_interleaved_matmul_encdec_qk, DeviceType::kGpu, kFloat32Or64,
                       QkBackwardKernel<GpuAttention, kEncoderDecoderQk>, PrepareCublas);
COOPER_REGISTER_KERNEL(_contrib_interleaved_matmul_encdec_valatt, DeviceType::kGpu, kFloat32Or64,
                       AttendKernel<GpuAttention, kEncoderDecoder>, PrepareCublas);
COOPER_REGISTER_KERNEL(_backward_interleaved_matmul_encdec_valatt, DeviceType::kGpu, kFloat32Or64,
                       AttendBackwardKernel<GpuAttention, kEncoderDecoder>, PrepareCublas);

}  // namespace
}  // namespace cooper
