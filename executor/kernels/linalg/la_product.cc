// Kernels of linalg_gemm, gemm2 and syrk. Registers those of trmm, trsm and solve (la_kernels.h).

#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/linalg/la_kernels.h"
#include "executor/kernels/linalg/la_matrix.h"
#include "executor/kernels/linalg/matrices_at.h"
#include "executor/program/kernel.h"
#include "ndarray/products/gemm.h"
#include "symbol/ops/linalg/la_param.h"

namespace cooper {
namespace {

// Computes out = alpha * A * B + beta * out.
template <typename T>
void Product(const KernelContext& c, const LaGemm2Param& param, T beta) {
  using enum LaProductArrays::Input;
  const MatricesAt a(c.inputs[kA].shape, param.axis), b(c.inputs[kB].shape, param.axis),
      out(c.outputs[0].shape, param.axis);
  const int64_t k = param.transpose_a ? a.rows : a.columns;
  for (int64_t i = 0; i < out.outer; ++i) {
    for (int64_t j = 0; j < out.middle; ++j) {
      Gemm(param.transpose_a, param.transpose_b, out.rows, out.columns, k,
           static_cast<T>(param.alpha), c.inputs[kA].as<T>() + a.at(i, j), a.stride,
           c.inputs[kB].as<T>() + b.at(i, j), b.stride, beta, c.outputs[0].as<T>() + out.at(i, j),
           out.stride);
    }
  }
}

absl::Status Gemm2Cpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  return LaDispatch(c, [&](auto zero) {
    using T = decltype(zero);
    Product<T>(c, c.param<LaGemm2Param>(), c.reqs[0] == WriteReq::kAdd ? T{1} : T{0});
    return absl::OkStatus();
  });
}

absl::Status GemmCpu(const KernelContext& c) {
  using enum LaProductArrays::Input;
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  return LaDispatch(c, [&](auto zero) {
    using T = decltype(zero);
    const auto& param = c.param<LaGemmParam>();
    // As in BLAS, C is not read if beta is 0: it may hold NaN.
    if (param.beta == 0) {
      Product<T>(c, param, c.reqs[0] == WriteReq::kAdd ? T{1} : T{0});
      return absl::OkStatus();
    }
    const T* in = c.inputs[kC].as<T>();
    T* out = c.outputs[0].as<T>();
    const T beta = static_cast<T>(param.beta);
    for (int64_t i = 0; i < c.outputs[0].size(); ++i) {
      LaStoreNumber(beta * in[i], c.reqs[0], out + i);
    }
    Product<T>(c, param, T{1});
    return absl::OkStatus();
  });
}

absl::Status SyrkCpu(const KernelContext& c) {
  using enum LaProductArrays::Input;
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  return LaDispatch(c, [&](auto zero) {
    using T = decltype(zero);
    const auto& param = c.param<LaSyrkParam>();
    const int64_t rows = LaRows(c.inputs[kA]), columns = LaColumns(c.inputs[kA]);
    const int64_t n = LaRows(c.outputs[0]), k = param.transpose ? rows : columns;
    for (int64_t i = 0; i < LaBatch(c.inputs[kA]); ++i) {
      const T* a = c.inputs[kA].as<T>() + i * rows * columns;
      Gemm(param.transpose, !param.transpose, n, n, k, static_cast<T>(param.alpha), a, columns, a,
           columns, c.reqs[0] == WriteReq::kAdd ? T{1} : T{0}, c.outputs[0].as<T>() + i * n * n, n);
    }
    return absl::OkStatus();
  });
}

COOPER_REGISTER_KERNEL(_linalg_gemm, DeviceType::kCpu, kFloat32Or64, GemmCpu);
COOPER_REGISTER_KERNEL(_linalg_gemm2, DeviceType::kCpu, kFloat32Or64, Gemm2Cpu);
COOPER_REGISTER_KERNEL(_linalg_syrk, DeviceType::kCpu, kFloat32Or64, SyrkCpu);
COOPER_REGISTER_LA_KERNEL(_linalg_trmm, TrmmCpu);
COOPER_REGISTER_LA_KERNEL(_backward_linalg_trmm, TrmmBackwardCpu);
COOPER_REGISTER_LA_KERNEL(_linalg_trsm, TrsmCpu);
COOPER_REGISTER_LA_KERNEL(_backward_linalg_trsm, TrsmBackwardCpu);
COOPER_REGISTER_LA_KERNEL_FROM(kMinAvx2LuRows, _linalg_solve, SolveCpu);
COOPER_REGISTER_LA_KERNEL_FROM(kMinAvx2LuRows, _backward_linalg_solve, SolveBackwardCpu);

}  // namespace
}  // namespace cooper
