// Kernels of linalg_potrf, potri, sumlogdiag, inverse, det, slogdet and their gradients.

#include <cmath>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "executor/kernels/linalg/la_matrix.h"
#include "executor/program/kernel.h"
#include "symbol/ops/linalg/la_param.h"

namespace cooper {
namespace {

using enum LaFactorArrays::Input;

absl::Status PotrfCpu(const KernelContext& c) {
  return LaForMatrices(c, kA, [&](auto zero, int64_t i) {
    using T = decltype(zero);
    const Eigen::LLT<LaMatrix<T>> llt(LaAt<T>(c.inputs[kA], i));
    if (llt.info() != Eigen::Success) {
      return absl::InvalidArgumentError(
          absl::StrCat("_linalg_potrf: matrix ", i, " of input 'A' is not positive definite"));
    }
    LaStore<T>(LaMatrix<T>(llt.matrixL()), c.reqs[0], LaAt<T>(c.outputs[0], i));
    return absl::OkStatus();
  });
}

// Computes grad A = 1/2 * L^-T * S * L^-1, where S is L^T * grad L with its lower triangle
// mirrored.
absl::Status PotrfBackwardCpu(const KernelContext& c) {
  using enum LaFactorGradientArrays::Input;
  return LaForMatrices(c, kOgrad, [&](auto zero, int64_t i) {
    using T = decltype(zero);
    const LaMap<T> l = LaAt<T>(c.inputs[kAOrOutput], i);
    const LaMatrix<T> product =
        l.transpose().template triangularView<Eigen::Upper>() * LaAt<T>(c.inputs[kOgrad], i);
    LaMatrix<T> s = product.template selfadjointView<Eigen::Lower>();
    l.transpose().template triangularView<Eigen::Upper>().solveInPlace(s);
    l.template triangularView<Eigen::Lower>().template solveInPlace<Eigen::OnTheRight>(s);
    LaStore<T>(s * T{0.5}, c.reqs[0], LaAt<T>(c.outputs[0], i));
    return absl::OkStatus();
  });
}

absl::Status PotriCpu(const KernelContext& c) {
  return LaForMatrices(c, kA, [&](auto zero, int64_t i) {
    using T = decltype(zero);
    const LaMap<T> l = LaAt<T>(c.inputs[kA], i);
    LaMatrix<T> inverse = LaMatrix<T>::Identity(l.rows(), l.cols());
    l.template triangularView<Eigen::Lower>().solveInPlace(inverse);
    LaStore<T>(LaMatrix<T>(inverse.transpose() * inverse), c.reqs[0], LaAt<T>(c.outputs[0], i));
    return absl::OkStatus();
  });
}

// Computes grad L = -tril(B * (grad B + grad B^T) * L^-T), where B is the output.
absl::Status PotriBackwardCpu(const KernelContext& c) {
  using enum LaPotriGradientArrays::Input;
  return LaForMatrices(c, kOgrad, [&](auto zero, int64_t i) {
    using T = decltype(zero);
    const LaMap<T> head = LaAt<T>(c.inputs[kOgrad], i), l = LaAt<T>(c.inputs[kA], i);
    LaMatrix<T> x = LaAt<T>(c.inputs[kOutput], i) * (head + head.transpose());
    l.transpose().template triangularView<Eigen::Upper>().template solveInPlace<Eigen::OnTheRight>(
        x);
    LaMatrix<T> grad = LaMatrix<T>::Zero(x.rows(), x.cols());
    grad.template triangularView<Eigen::Lower>() = -x;
    LaStore<T>(grad, c.reqs[0], LaAt<T>(c.outputs[0], i));
    return absl::OkStatus();
  });
}

absl::Status SumLogDiagCpu(const KernelContext& c) {
  return LaForMatrices(c, kA, [&](auto zero, int64_t i) {
    using T = decltype(zero);
    LaStoreNumber<T>(LaAt<T>(c.inputs[kA], i).diagonal().array().log().sum(), c.reqs[0],
                     c.outputs[0].as<T>() + i);
    return absl::OkStatus();
  });
}

absl::Status SumLogDiagBackwardCpu(const KernelContext& c) {
  using enum LaFactorGradientArrays::Input;
  return LaForMatrices(c, kAOrOutput, [&](auto zero, int64_t i) {
    using T = decltype(zero);
    const LaMap<T> a = LaAt<T>(c.inputs[kAOrOutput], i);
    LaMatrix<T> grad = LaMatrix<T>::Zero(a.rows(), a.cols());
    grad.diagonal() = c.inputs[kOgrad].as<T>()[i] * a.diagonal().array().inverse();
    LaStore<T>(grad, c.reqs[0], LaAt<T>(c.outputs[0], i));
    return absl::OkStatus();
  });
}

absl::Status InverseCpu(const KernelContext& c) {
  return LaForMatrices(c, kA, [&](auto zero, int64_t i) {
    using T = decltype(zero);
    if (LaRows(c.inputs[kA]) == 0) return absl::OkStatus();
    const Eigen::PartialPivLU<LaMatrix<T>> lu(LaAt<T>(c.inputs[kA], i));
    if ((lu.matrixLU().diagonal().array() == T{0}).any()) {
      return absl::InvalidArgumentError(
          absl::StrCat("_linalg_inverse: matrix ", i, " of input 'A' is singular"));
    }
    LaStore<T>(LaMatrix<T>(lu.inverse()), c.reqs[0], LaAt<T>(c.outputs[0], i));
    return absl::OkStatus();
  });
}

// Computes grad A = -B^T * grad B * B^T, where B is the output.
absl::Status InverseBackwardCpu(const KernelContext& c) {
  using enum LaFactorGradientArrays::Input;
  return LaForMatrices(c, kOgrad, [&](auto zero, int64_t i) {
    using T = decltype(zero);
    const LaMatrix<T> b = LaAt<T>(c.inputs[kAOrOutput], i).transpose();
    LaStore<T>(LaMatrix<T>(-(b * LaAt<T>(c.inputs[kOgrad], i) * b)), c.reqs[0],
               LaAt<T>(c.outputs[0], i));
    return absl::OkStatus();
  });
}

// The sign of a determinant and the logarithm of its magnitude; (0, -infinity) for a singular
// matrix.
template <typename T>
struct LogDeterminant {
  T sign = 1;
  T log_abs = 0;

  explicit LogDeterminant(const LaMap<T>& a) {
    if (a.rows() == 0) return;
    const Eigen::PartialPivLU<LaMatrix<T>> lu(a);
    sign = static_cast<T>(lu.permutationP().determinant());
    for (int64_t i = 0; i < a.rows(); ++i) {
      const T pivot = lu.matrixLU()(i, i);
      sign *= static_cast<T>((pivot > 0) - (pivot < 0));
      log_abs += std::log(std::abs(pivot));
    }
  }
};

absl::Status DetCpu(const KernelContext& c) {
  return LaForMatrices(c, kA, [&](auto zero, int64_t i) {
    using T = decltype(zero);
    LaStoreNumber<T>(LaRows(c.inputs[kA]) == 0 ? T{1} : LaAt<T>(c.inputs[kA], i).determinant(),
                     c.reqs[0], c.outputs[0].as<T>() + i);
    return absl::OkStatus();
  });
}

absl::Status SlogdetCpu(const KernelContext& c) {
  using enum LaSlogdetArrays::Output;
  return LaForMatrices(c, kA, [&](auto zero, int64_t i) {
    using T = decltype(zero);
    const LogDeterminant<T> determinant(LaAt<T>(c.inputs[kA], i));
    LaStoreNumber<T>(determinant.sign, c.reqs[kSign], c.outputs[kSign].as<T>() + i);
    LaStoreNumber<T>(determinant.log_abs, c.reqs[kLogAbsDet], c.outputs[kLogAbsDet].as<T>() + i);
    return absl::OkStatus();
  });
}

// Computes grad A = A^-T times ograd, and for det also times the determinant. With kLog ograd is
// that of the logarithm, which avoids a determinant that underflows to 0.
template <bool kLog>
absl::Status DetBackwardCpu(const KernelContext& c) {
  using enum LaFactorGradientArrays::Input;
  return LaForMatrices(c, kAOrOutput, [&](auto zero, int64_t i) {
    using T = decltype(zero);
    const LaMap<T> a = LaAt<T>(c.inputs[kAOrOutput], i);
    if (a.rows() == 0) return absl::OkStatus();
    const Eigen::PartialPivLU<LaMatrix<T>> lu(a);
    const T factor = kLog ? T{1} : lu.determinant();
    const bool is_zero = kLog ? (lu.matrixLU().diagonal().array() == T{0}).any() : factor == T{0};
    LaMatrix<T> grad = LaMatrix<T>::Zero(a.rows(), a.cols());
    if (!is_zero) grad = lu.inverse().transpose() * (c.inputs[kOgrad].as<T>()[i] * factor);
    LaStore<T>(grad, c.reqs[0], LaAt<T>(c.outputs[0], i));
    return absl::OkStatus();
  });
}

COOPER_REGISTER_KERNEL(_linalg_potrf, DeviceType::kCpu, kFloat32Or64, PotrfCpu);
COOPER_REGISTER_KERNEL(_backward_linalg_potrf, DeviceType::kCpu, kFloat32Or64, PotrfBackwardCpu);
COOPER_REGISTER_KERNEL(_linalg_potri, DeviceType::kCpu, kFloat32Or64, PotriCpu);
COOPER_REGISTER_KERNEL(_backward_linalg_potri, DeviceType::kCpu, kFloat32Or64, PotriBackwardCpu);
COOPER_REGISTER_KERNEL(_linalg_sumlogdiag, DeviceType::kCpu, kFloat32Or64, SumLogDiagCpu);
COOPER_REGISTER_KERNEL(_backward_linalg_sumlogdiag, DeviceType::kCpu, kFloat32Or64,
                       SumLogDiagBackwardCpu);
COOPER_REGISTER_KERNEL(_linalg_inverse, DeviceType::kCpu, kFloat32Or64, InverseCpu);
COOPER_REGISTER_KERNEL(_backward_linalg_inverse, DeviceType::kCpu, kFloat32Or64,
                       InverseBackwardCpu);
COOPER_REGISTER_KERNEL(_linalg_det, DeviceType::kCpu, kFloat32Or64, DetCpu);
COOPER_REGISTER_KERNEL(_backward_linalg_det, DeviceType::kCpu, kFloat32Or64, DetBackwardCpu<false>);
COOPER_REGISTER_KERNEL(_linalg_slogdet, DeviceType::kCpu, kFloat32Or64, SlogdetCpu);
COOPER_REGISTER_KERNEL(_backward_linalg_slogdet, DeviceType::kCpu, kFloat32Or64,
                       DetBackwardCpu<true>);

}  // namespace
}  // namespace cooper
