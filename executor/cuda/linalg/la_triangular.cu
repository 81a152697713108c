// GPU kernels of linalg_trmm and trsm and of their gradients.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/cuda/elements.h"
#include "executor/cuda/elemwise/element_map.h"
#include "executor/cuda/launch.h"
#include "executor/cuda/linalg/triangle_lines.h"
#include "executor/elements/binary_functions.h"
#include "executor/elements/elemwise_operand.h"
#include "executor/kernel.h"
#include "ndarray/status_macros.h"
#include "symbol/ops/linalg/la_param.h"

namespace cooper {
namespace {

// What `p` says of matrices like `b`, with A transposed as told.
TriangleLines LinesOf(const LaTriangularParam& p, bool transpose, const ArrayView& b) {
  return {.lower = p.lower,
          .transpose = transpose,
          .rightside = p.rightside,
          .batch = MatrixBatch(b),
          .rows = MatrixRows(b),
          .columns = MatrixColumns(b)};
}

// out = alpha times the triangle times each line of b, or added to it.
template <typename T>
__global__ void MultiplyLines(const TriangleLines lines, T alpha, const T* a, const T* b, T* out,
                              bool add) {
  const int64_t n = lines.length(), step = lines.step();
  const int64_t count = lines.batch * lines.per_matrix() * n;
  for (int64_t item = FirstElement(); item < count; item += ElementStep()) {
    const int64_t line = item / n, i = item % n;
    const T* triangle = lines.TriangleOf(a, line);
    const int64_t first = lines.First(line);
    const int64_t end = lines.IsLower() ? i + 1 : n;
    T sum = 0;
    for (int64_t k = lines.IsLower() ? 0 : i; k < end; ++k) {
      sum += lines.At(triangle, i, k) * b[first + k * step];
    }
    StoreTo(out + first + i * step, alpha * sum, add);
  }
}

// The gradient of A where op(A) has the gradient head * b^T, or b^T * head from the right, times
// `scale`; zeros outside of the triangle.
template <typename T>
__global__ void FactorGradient(const TriangleLines lines, T scale, const T* head, const T* b,
                               T* out, bool add) {
  const int64_t n = lines.length(), size = lines.rows * lines.columns;
  for (int64_t item = FirstElement(); item < lines.batch * n * n; item += ElementStep()) {
    const int64_t matrix = item / (n * n), i = item / n % n, j = item % n;
    T sum = 0;
    if (lines.lower ? j <= i : j >= i) {
      const int64_t p = lines.transpose ? j : i, q = lines.transpose ? i : j;
      const T* h = head + matrix * size;
      const T* of_b = b + matrix * size;
      for (int64_t k = 0; k < lines.per_matrix(); ++k) {
        sum += lines.rightside ? of_b[k * n + p] * h[k * n + q]
                               : h[p * lines.columns + k] * of_b[q * lines.columns + k];
      }
    }
    StoreTo(out + item, scale * sum, add);
  }
}

template <typename T>
absl::Status LaunchFactorGradient(const KernelContext& c, const TriangleLines& lines, double scale,
                                  const T* head, const T* b, const ArrayView& out, WriteReq req) {
  if (req == WriteReq::kNull) return absl::OkStatus();
  return LaunchElements(c, out.size(), FactorGradient<T>, lines, scale, head, b, out.as<T>(),
                        req == WriteReq::kAdd);
}

template <typename T>
absl::Status LaunchMultiply(const KernelContext& c, const TriangleLines& lines, double alpha,
                            const T* a, const T* b, const ArrayView& out, WriteReq req) {
  if (req == WriteReq::kNull) return absl::OkStatus();
  return LaunchElements(c, out.size(), MultiplyLines<T>, lines, alpha, a, b, out.as<T>(),
                        req == WriteReq::kAdd);
}

absl::Status TrmmGpu(const KernelContext& c) {
  using enum LaProductArrays::Input;
  const auto& p = c.param<LaTriangularParam>();
  return DispatchFloat32Or64Gpu(c.outputs[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    return LaunchMultiply<T>(c, LinesOf(p, p.transpose, c.inputs[kB]), p.alpha,
                             c.inputs[kA].as<T>(), c.inputs[kB].as<T>(), c.outputs[0], c.reqs[0]);
  });
}

absl::Status TrmmBackwardGpu(const KernelContext& c) {
  using enum LaTriangularGradientArrays::Input;
  const auto& p = c.param<LaTriangularParam>();
  return DispatchFloat32Or64Gpu(c.outputs[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    const ArrayView& head = c.inputs[kOgrad];
    COOPER_RETURN_IF_ERROR(LaunchFactorGradient<T>(c, LinesOf(p, p.transpose, head), p.alpha,
                                                   head.as<T>(), c.inputs[kBOrOutput].as<T>(),
                                                   c.outputs[0], c.reqs[0]));
    return LaunchMultiply<T>(c, LinesOf(p, !p.transpose, head), p.alpha, c.inputs[kA].as<T>(),
                             head.as<T>(), c.outputs[1], c.reqs[1]);
  });
}

// Solutions before they are scaled, as many as `b` has elements.
absl::StatusOr<Prepared> PrepareSolution(const ArrayView& b) {
  return Prepared{.workspace_bytes = b.size_bytes()};
}

// out = alpha * x, or added to it.
absl::Status StoreScaled(const KernelContext& c, const void* x, double alpha, const ArrayView& out,
                         WriteReq req) {
  return RunElementMap(c, ElementMapOf<Mul>(),
                       {ElemwiseOperand{.data = x, .dtype = out.dtype}, OperandOf(alpha)}, out,
                       req);
}

absl::Status TrsmGpu(const KernelContext& c) {
  using enum LaProductArrays::Input;
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  const auto& p = c.param<LaTriangularParam>();
  COOPER_RETURN_IF_ERROR(DispatchFloat32Or64Gpu(c.outputs[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    return LaunchSolve<T>(c, LinesOf(p, p.transpose, c.inputs[kB]), c.inputs[kA].as<T>(),
                          c.inputs[kB].as<T>(), static_cast<T*>(c.workspace));
  }));
  return StoreScaled(c, c.workspace, p.alpha, c.outputs[0], c.reqs[0]);
}

absl::StatusOr<Prepared> PrepareTrsm(const PrepareContext& c) {
  return PrepareSolution(c.outputs[0]);
}

// With G = op(A)^-T * head: grad B = alpha * G, and grad op(A) = -G * X^T, X the output. From the
// right: G = head * op(A)^-T and grad op(A) = -X^T * G.
absl::Status TrsmBackwardGpu(const KernelContext& c) {
  using enum LaTriangularGradientArrays::Input;
  const auto& p = c.param<LaTriangularParam>();
  COOPER_RETURN_IF_ERROR(DispatchFloat32Or64Gpu(c.outputs[1].dtype, [&](auto zero) {
    using T = decltype(zero);
    const ArrayView& head = c.inputs[kOgrad];
    T* const g = static_cast<T*>(c.workspace);
    COOPER_RETURN_IF_ERROR(
        LaunchSolve<T>(c, LinesOf(p, !p.transpose, head), c.inputs[kA].as<T>(), head.as<T>(), g));
    return LaunchFactorGradient<T>(c, LinesOf(p, p.transpose, head), -1, g,
                                   c.inputs[kBOrOutput].as<T>(), c.outputs[0], c.reqs[0]);
  }));
  return StoreScaled(c, c.workspace, p.alpha, c.outputs[1], c.reqs[1]);
}

absl::StatusOr<Prepared> PrepareTrsmBackward(const PrepareContext& c) {
  return PrepareSolution(c.inputs[LaTriangularGradientArrays::kOgrad]);
}

COOPER_REGISTER_KERNEL(_linalg_trmm, DeviceType::kGpu, kFloat32Or64, TrmmGpu);
COOPER_REGISTER_KERNEL(_backward_linalg_trmm, DeviceType::kGpu, kFloat32Or64, TrmmBackwardGpu);
COOPER_REGISTER_KERNEL(_linalg_trsm, DeviceType::kGpu, kFloat32Or64, TrsmGpu, PrepareTrsm);
COOPER_REGISTER_KERNEL(_backward_linalg_trsm, DeviceType::kGpu, kFloat32Or64, TrsmBackwardGpu,
                       PrepareTrsmBackward);

}  // namespace
}  // namespace cooper
