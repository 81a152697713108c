// Kernels of linalg_gemm, gemm2, syrk, trmm and trsm.

#include <cstdint>

#include "absl/status/status.h"
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

// Calls fn with the triangle of A, transposed if `transpose`.
template <typename T, typename Fn>
void WithTriangle(const LaMap<T>& a, bool lower, bool transpose, const Fn& fn) {
  if (lower && !transpose) fn(a.template triangularView<Eigen::Lower>());
  if (lower && transpose) fn(a.transpose().template triangularView<Eigen::Upper>());
  if (!lower && !transpose) fn(a.template triangularView<Eigen::Upper>());
  if (!lower && transpose) fn(a.transpose().template triangularView<Eigen::Lower>());
}

template <typename T>
LaMatrix<T> TimesTriangle(const LaTriangularParam& p, bool transpose, const LaMap<T>& a,
                          const LaMap<T>& b) {
  LaMatrix<T> result;
  WithTriangle<T>(a, p.lower, transpose, [&](const auto& triangle) {
    if (p.rightside) {
      result = b * triangle;
    } else {
      result = triangle * b;
    }
  });
  return result * static_cast<T>(p.alpha);
}

template <typename T>
LaMatrix<T> SolveTriangle(const LaTriangularParam& p, bool transpose, const LaMap<T>& a,
                          const LaMap<T>& b) {
  LaMatrix<T> result = b;
  WithTriangle<T>(a, p.lower, transpose, [&](const auto& triangle) {
    if (p.rightside) {
      triangle.template solveInPlace<Eigen::OnTheRight>(result);
    } else {
      triangle.solveInPlace(result);
    }
  });
  return result;
}

// Computes the gradient of A from the gradient of op(A), head * b^T, or b^T * head with rightside.
template <typename T, typename Head>
LaMatrix<T> FactorGradient(const LaTriangularParam& p, const Head& head, const LaMap<T>& b) {
  LaMatrix<T> grad;
  if (p.rightside) {
    grad.noalias() = b.transpose() * head;
  } else {
    grad.noalias() = head * b.transpose();
  }
  if (p.transpose) grad.transposeInPlace();
  return grad;
}

// Writes or adds the triangle of `grad`, with zeros elsewhere.
template <typename T>
void StoreTriangle(const LaMatrix<T>& grad, bool lower, WriteReq req, LaMap<T> out) {
  LaMatrix<T> triangle = LaMatrix<T>::Zero(grad.rows(), grad.cols());
  if (lower) {
    triangle.template triangularView<Eigen::Lower>() = grad;
  } else {
    triangle.template triangularView<Eigen::Upper>() = grad;
  }
  LaStore<T>(triangle, req, out);
}

absl::Status TrmmCpu(const KernelContext& c) {
  using enum LaProductArrays::Input;
  const auto& p = c.param<LaTriangularParam>();
  return LaForMatrices(c, kA, [&](auto zero, int64_t i) {
    using T = decltype(zero);
    LaStore<T>(TimesTriangle<T>(p, p.transpose, LaAt<T>(c.inputs[kA], i), LaAt<T>(c.inputs[kB], i)),
               c.reqs[0], LaAt<T>(c.outputs[0], i));
    return absl::OkStatus();
  });
}

absl::Status TrmmBackwardCpu(const KernelContext& c) {
  using enum LaTriangularGradientArrays::Input;
  using enum LaTriangularGradientArrays::Output;
  const auto& p = c.param<LaTriangularParam>();
  return LaForMatrices(c, kA, [&](auto zero, int64_t i) {
    using T = decltype(zero);
    const LaMap<T> head = LaAt<T>(c.inputs[kOgrad], i), a = LaAt<T>(c.inputs[kA], i),
                   b = LaAt<T>(c.inputs[kBOrOutput], i);
    if (c.reqs[0] != WriteReq::kNull) {
      StoreTriangle<T>(FactorGradient<T>(p, head, b) * static_cast<T>(p.alpha), p.lower, c.reqs[0],
                       LaAt<T>(c.outputs[0], i));
    }
    if (c.reqs[kBGrad] != WriteReq::kNull) {
      LaStore<T>(TimesTriangle<T>(p, !p.transpose, a, head), c.reqs[kBGrad],
                 LaAt<T>(c.outputs[kBGrad], i));
    }
    return absl::OkStatus();
  });
}

absl::Status TrsmCpu(const KernelContext& c) {
  using enum LaProductArrays::Input;
  const auto& p = c.param<LaTriangularParam>();
  return LaForMatrices(c, kA, [&](auto zero, int64_t i) {
    using T = decltype(zero);
    LaStore<T>(
        SolveTriangle<T>(p, p.transpose, LaAt<T>(c.inputs[kA], i), LaAt<T>(c.inputs[kB], i)) *
            static_cast<T>(p.alpha),
        c.reqs[0], LaAt<T>(c.outputs[0], i));
    return absl::OkStatus();
  });
}

// With G = op(A)^-T * ograd: grad B = alpha * G and grad op(A) = -G * X^T, where X is the output.
// With rightside: G = ograd * op(A)^-T and grad op(A) = -X^T * G.
absl::Status TrsmBackwardCpu(const KernelContext& c) {
  using enum LaTriangularGradientArrays::Input;
  using enum LaTriangularGradientArrays::Output;
  const auto& p = c.param<LaTriangularParam>();
  return LaForMatrices(c, kA, [&](auto zero, int64_t i) {
    using T = decltype(zero);
    const LaMap<T> head = LaAt<T>(c.inputs[kOgrad], i), a = LaAt<T>(c.inputs[kA], i),
                   x = LaAt<T>(c.inputs[kBOrOutput], i);
    const LaMatrix<T> g = SolveTriangle<T>(p, !p.transpose, a, head);
    if (c.reqs[0] != WriteReq::kNull) {
      StoreTriangle<T>(-FactorGradient<T>(p, g, x), p.lower, c.reqs[0], LaAt<T>(c.outputs[0], i));
    }
    LaStore<T>(g * static_cast<T>(p.alpha), c.reqs[kBGrad], LaAt<T>(c.outputs[kBGrad], i));
    return absl::OkStatus();
  });
}

COOPER_REGISTER_KERNEL(_linalg_gemm, DeviceType::kCpu, kFloat32Or64, GemmCpu);
COOPER_REGISTER_KERNEL(_linalg_gemm2, DeviceType::kCpu, kFloat32Or64, Gemm2Cpu);
COOPER_REGISTER_KERNEL(_linalg_syrk, DeviceType::kCpu, kFloat32Or64, SyrkCpu);
COOPER_REGISTER_KERNEL(_linalg_trmm, DeviceType::kCpu, kFloat32Or64, TrmmCpu);
COOPER_REGISTER_KERNEL(_backward_linalg_trmm, DeviceType::kCpu, kFloat32Or64, TrmmBackwardCpu);
COOPER_REGISTER_KERNEL(_linalg_trsm, DeviceType::kCpu, kFloat32Or64, TrsmCpu);
COOPER_REGISTER_KERNEL(_backward_linalg_trsm, DeviceType::kCpu, kFloat32Or64, TrsmBackwardCpu);

}  // namespace
}  // namespace cooper
