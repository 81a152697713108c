// GPU kernels of linalg_gemm, gemm2 and syrk, through cuBLAS.

#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/elemwise/binary_functions.h"
#include "executor/kernels/launch/cublas_state.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"
#include "executor/kernels/linalg/matrices_at.h"
#include "executor/kernels/loops/element_map.h"
#include "executor/kernels/loops/elemwise_operand.h"
#include "executor/program/kernel.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/cuda/cublas.h"
#include "ndarray/cuda/device_scope.h"
#include "symbol/ops/linalg/la_param.h"

namespace cooper {
namespace {

const char* At(const ArrayView& array, int64_t i) {
  return static_cast<const char*>(array.data) + i * SizeOf(array.dtype);
}

// Computes out = or += alpha * A * B: by one call if the axis of rows is the next to last,
// otherwise by one call per index of the axes before it.
absl::Status Product(const KernelContext& c, const LaGemm2Param& param, bool add) {
  using enum LaProductArrays::Input;
  const CudaDeviceScope scope(c.context.device_id);
  COOPER_RETURN_IF_ERROR(scope.status());
  const ArrayView& lhs = c.inputs[kA];
  const ArrayView& rhs = c.inputs[kB];
  const ArrayView& result = c.outputs[0];
  const MatricesAt a(lhs.shape, param.axis), b(rhs.shape, param.axis),
      out(result.shape, param.axis);
  const int64_t k = param.transpose_a ? a.rows : a.columns;
  const bool together = out.middle == 1;
  const GemmBatch batch = together ? GemmBatch{out.outer, a.at(1, 0), b.at(1, 0), out.at(1, 0)}
                                   : GemmBatch{out.middle, a.at(0, 1), b.at(0, 1), out.at(0, 1)};
  for (int64_t i = 0; i < (together ? 1 : out.outer); ++i) {
    COOPER_RETURN_IF_ERROR(CublasOf(c).GemmBatched(
        StreamOf(c), result.dtype, batch, param.transpose_a, param.transpose_b, out.rows,
        out.columns, k, param.alpha, At(lhs, a.at(i, 0)), a.stride, At(rhs, b.at(i, 0)), b.stride,
        add, const_cast<char*>(At(result, out.at(i, 0))), out.stride));
  }
  return absl::OkStatus();
}

absl::Status Gemm2Gpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  return Product(c, c.param<LaGemm2Param>(), c.reqs[0] == WriteReq::kAdd);
}

absl::Status GemmGpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  const auto& param = c.param<LaGemmParam>();
  // As in BLAS, C is not read if beta is 0: it may hold NaN.
  if (param.beta == 0) return Product(c, param, c.reqs[0] == WriteReq::kAdd);
  COOPER_RETURN_IF_ERROR(RunElementMap(
      c, ElementMapOf<Mul>(), {OperandOf(param.beta), OperandOf(c.inputs[LaProductArrays::kC])},
      c.outputs[0], c.reqs[0]));
  return Product(c, param, /*add=*/true);
}

absl::Status SyrkGpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  const CudaDeviceScope scope(c.context.device_id);
  COOPER_RETURN_IF_ERROR(scope.status());
  const auto& param = c.param<LaSyrkParam>();
  const ArrayView& data = c.inputs[LaProductArrays::kA];
  const MatricesAt a(data.shape, -2);
  const int64_t n = param.transpose ? a.columns : a.rows;
  const int64_t k = param.transpose ? a.rows : a.columns;
  const GemmBatch batch{a.outer, n * k, n * k, n * n};
  return CublasOf(c).GemmBatched(StreamOf(c), data.dtype, batch, param.transpose, !param.transpose,
                                 n, n, k, param.alpha, data.data, a.columns, data.data, a.columns,
                                 c.reqs[0] == WriteReq::kAdd, c.outputs[0].data, n);
}

COOPER_REGISTER_KERNEL(_linalg_gemm, DeviceType::kGpu, kFloat32Or64, GemmGpu, PrepareCublas);
COOPER_REGISTER_KERNEL(_linalg_gemm2, DeviceType::kGpu, kFloat32Or64, Gemm2Gpu, PrepareCublas);
COOPER_REGISTER_KERNEL(_linalg_syrk, DeviceType::kGpu, kFloat32Or64, SyrkGpu, PrepareCublas);

}  // namespace
}  // namespace cooper
