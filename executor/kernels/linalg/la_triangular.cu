// GPU kernels of linalg_trmm and trsm and of their gradients, through cuBLAS.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/elemwise/binary_functions.h"
#include "executor/kernels/launch/cublas_state.h"
#include "executor/kernels/launch/launch.h"
#include "executor/kernels/launch/workspace_parts.h"
#include "executor/kernels/linalg/dense_solver.h"
#include "executor/kernels/linalg/squares.h"
#include "executor/kernels/loops/element_map.h"
#include "executor/kernels/loops/elemwise_operand.h"
#include "executor/program/kernel.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/cuda/cublas.h"
#include "symbol/ops/linalg/la_param.h"

namespace cooper {
namespace {

// Returns the systems of `p` for matrices like `b`; `transpose` says whether A is transposed.
TriangularSystems SystemsOf(const LaTriangularParam& p, bool transpose, const ArrayView& b) {
  return {.lower = p.lower,
          .transpose = transpose,
          .rightside = p.rightside,
          .count = MatrixBatch(b),
          .rows = MatrixRows(b),
          .columns = MatrixColumns(b)};
}

// Computes out = or += alpha * op(A) * B, or alpha * B * op(A) with s.rightside. `a` must have
// zeros outside of its triangles.
template <typename T>
absl::Status Multiply(const KernelContext& c, const TriangularSystems& s, double alpha, const T* a,
                      const T* b, const ArrayView& out, WriteReq req) {
  if (req == WriteReq::kNull) return absl::OkStatus();
  const int64_t n = s.side(), size = s.rows * s.columns;
  const bool add = req == WriteReq::kAdd;
  if (s.rightside) {
    return CublasOf(c).GemmBatched(StreamOf(c), out.dtype, {s.count, size, n * n, size}, false,
                                   s.transpose, s.rows, n, n, alpha, b, n, a, n, add, out.data, n);
  }
  return CublasOf(c).GemmBatched(StreamOf(c), out.dtype, {s.count, n * n, size, size}, s.transpose,
                                 false, n, s.columns, n, alpha, a, n, b, s.columns, add, out.data,
                                 s.columns);
}

// Computes the gradient of A from the gradient of op(A), scale * head * b^T, or scale * b^T * head
// with rightside. `product` is scratch. Elements outside of the triangle become 0.
template <typename T>
absl::Status FactorGradient(const KernelContext& c, const TriangularSystems& s, double scale,
                            const T* head, const T* b, T* product, const ArrayView& out,
                            WriteReq req) {
  if (req == WriteReq::kNull) return absl::OkStatus();
  const int64_t n = s.side(), size = s.rows * s.columns;
  const bool head_first = s.transpose == s.rightside;  // else the product is transposed
  const T* const first = head_first ? head : b;
  const T* const second = head_first ? b : head;
  const int64_t summed = s.rightside ? s.rows : s.columns;
  COOPER_RETURN_IF_ERROR(CublasOf(c).GemmBatched(
      StreamOf(c), out.dtype, {s.count, size, size, n * n}, s.rightside, !s.rightside, n, n, summed,
      1, first, s.columns, second, s.columns, false, product, n));
  return StoreTriangle(c, {s.count, n}, s.lower, Elsewhere::kZero, scale, product, out.as<T>(),
                       req == WriteReq::kAdd);
}

// The workspace of the kernels: an array like A, an array like B, and device pointers.
struct TriangularParts {
  void* square;
  void* matrix;
  MatrixPointers pointers;
  TriangularParts(const ArrayView& a, const ArrayView& b, WorkspaceParts& parts)
      : square(parts.Take<char>(a.size_bytes())),
        matrix(parts.Take<char>(b.size_bytes())),
        pointers(MatrixBatch(a), parts) {}
};

template <int kA, int kB>
absl::StatusOr<Prepared> PrepareTriangular(const PrepareContext& c) {
  COOPER_ASSIGN_OR_RETURN(Prepared prepared, PrepareCublas(c));
  WorkspaceParts parts;
  TriangularParts(c.inputs[kA], c.inputs[kB], parts);
  prepared.workspace_bytes = parts.bytes();
  return prepared;
}

// Copies A's triangles to the workspace, with zeros elsewhere.
template <typename T>
absl::Status CopyTriangles(const KernelContext& c, const LaTriangularParam& p, const ArrayView& a,
                           T* to) {
  return StoreTriangle(c, Squares(a), p.lower, Elsewhere::kZero, 1, a.as<T>(), to);
}

// Computes out = or += alpha * x.
absl::Status StoreScaled(const KernelContext& c, const void* x, double alpha, const ArrayView& out,
                         WriteReq req) {
  return RunElementMap(c, ElementMapOf<Mul>(),
                       {ElemwiseOperand{.data = x, .dtype = out.dtype}, OperandOf(alpha)}, out,
                       req);
}

template <typename T>
absl::Status Trmm(const KernelContext& c) {
  using enum LaProductArrays::Input;
  const auto& p = c.param<LaTriangularParam>();
  const ArrayView &a = c.inputs[kA], &b = c.inputs[kB];
  WorkspaceParts parts(c.workspace);
  T* const triangles = static_cast<T*>(TriangularParts(a, b, parts).square);
  COOPER_RETURN_IF_ERROR(CopyTriangles(c, p, a, triangles));
  return Multiply(c, SystemsOf(p, p.transpose, b), p.alpha, triangles, b.as<T>(), c.outputs[0],
                  c.reqs[0]);
}

template <typename T>
absl::Status TrmmBackward(const KernelContext& c) {
  using enum LaTriangularGradientArrays::Input;
  const auto& p = c.param<LaTriangularParam>();
  const ArrayView &head = c.inputs[kOgrad], &a = c.inputs[kA];
  WorkspaceParts parts(c.workspace);
  T* const square = static_cast<T*>(TriangularParts(a, head, parts).square);
  COOPER_RETURN_IF_ERROR(FactorGradient(c, SystemsOf(p, p.transpose, head), p.alpha, head.as<T>(),
                                        c.inputs[kBOrOutput].as<T>(), square, c.outputs[0],
                                        c.reqs[0]));
  COOPER_RETURN_IF_ERROR(CopyTriangles(c, p, a, square));
  return Multiply(c, SystemsOf(p, !p.transpose, head), p.alpha, square, head.as<T>(), c.outputs[1],
                  c.reqs[1]);
}

template <typename T>
absl::Status Trsm(const KernelContext& c) {
  using enum LaProductArrays::Input;
  const auto& p = c.param<LaTriangularParam>();
  const ArrayView &a = c.inputs[kA], &b = c.inputs[kB];
  WorkspaceParts parts(c.workspace);
  const TriangularParts w(a, b, parts);
  T* const x = static_cast<T*>(w.matrix);
  COOPER_RETURN_IF_ERROR(CopyOnDevice(c, b.size(), b.as<T>(), x));
  COOPER_RETURN_IF_ERROR(
      SolveTriangular(c, SystemsOf(p, p.transpose, b), a.as<T>(), x, w.pointers));
  return StoreScaled(c, x, p.alpha, c.outputs[0], c.reqs[0]);
}

// Computes the gradients of trsm. With G = op(A)^-T * ograd: grad B = alpha * G and grad op(A) = -G
// * X^T, where X is the output. With rightside: G = ograd * op(A)^-T and grad op(A) = -X^T * G.
template <typename T>
absl::Status TrsmBackward(const KernelContext& c) {
  using enum LaTriangularGradientArrays::Input;
  const auto& p = c.param<LaTriangularParam>();
  const ArrayView &head = c.inputs[kOgrad], &a = c.inputs[kA];
  WorkspaceParts parts(c.workspace);
  const TriangularParts w(a, head, parts);
  T* const g = static_cast<T*>(w.matrix);
  COOPER_RETURN_IF_ERROR(CopyOnDevice(c, head.size(), head.as<T>(), g));
  COOPER_RETURN_IF_ERROR(
      SolveTriangular(c, SystemsOf(p, !p.transpose, head), a.as<T>(), g, w.pointers));
  COOPER_RETURN_IF_ERROR(FactorGradient(c, SystemsOf(p, p.transpose, head), -1, g,
                                        c.inputs[kBOrOutput].as<T>(), static_cast<T*>(w.square),
                                        c.outputs[0], c.reqs[0]));
  return StoreScaled(c, g, p.alpha, c.outputs[1], c.reqs[1]);
}

constexpr auto kPrepare = PrepareTriangular<LaProductArrays::kA, LaProductArrays::kB>;
constexpr auto kPrepareBackward =
    PrepareTriangular<LaTriangularGradientArrays::kA, LaTriangularGradientArrays::kOgrad>;
constexpr DeviceType kGpu = DeviceType::kGpu;

const KernelRegistrar kKernels[] = {
    {"_linalg_trmm", kGpu, kFloat32Or64, RunFloat32Or64<Trmm<float>, Trmm<double>>, kPrepare},
    {"_backward_linalg_trmm", kGpu, kFloat32Or64,
     RunFloat32Or64<TrmmBackward<float>, TrmmBackward<double>>, kPrepareBackward},
    {"_linalg_trsm", kGpu, kFloat32Or64, RunFloat32Or64<Trsm<float>, Trsm<double>>, kPrepare},
    {"_backward_linalg_trsm", kGpu, kFloat32Or64,
     RunFloat32Or64<TrsmBackward<float>, TrsmBackward<double>>, kPrepareBackward},
};

}  // namespace
}  // namespace cooper
