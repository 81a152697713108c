// GPU kernels of linalg_potrf, potri and sumlogdiag, and of their gradients.

#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "executor/kernels/launch/cublas_state.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/index_check.h"
#include "executor/kernels/launch/launch.h"
#include "executor/kernels/launch/workspace_parts.h"
#include "executor/kernels/linalg/dense_solver.h"
#include "executor/kernels/linalg/squares.h"
#include "executor/program/kernel.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/cuda/cublas.h"
#include "ndarray/cuda/cusolver.h"
#include "symbol/ops/linalg/la_param.h"

namespace cooper {
namespace {

// Reports the matrices that could not be factored: cuSOLVER says so, or the factor's diagonal has
// an element that is not above 0, such as NaN.
template <typename T>
__global__ void ReportNotDefinite(int64_t count, int64_t n, const T* l, const int* info,
                                  FirstBad* first_bad) {
  for (int64_t i = FirstElement(); i < count * n; i += ElementStep()) {
    const int64_t matrix = i / n, row = i % n;
    if (info[matrix] != 0 || !(l[matrix * n * n + row * (n + 1)] > 0)) {
      ReportBad(first_bad, matrix);
    }
  }
}

// Computes out = head + head^T.
template <typename T>
__global__ void AddTransposed(int64_t size, int64_t n, const T* head, T* out) {
  for (int64_t item = FirstElement(); item < size; item += ElementStep()) {
    const InSquare at(item, n);
    out[item] = head[item] + head[at.first + at.column * n + at.row];
  }
}

struct PotrfParts {
  void* factor;
  FirstBad* first_bad;
  FactorScratch scratch;
  PotrfParts(const ArrayView& a, int64_t scratch_bytes, WorkspaceParts& parts)
      : factor(parts.Take<char>(a.size_bytes())),
        first_bad(parts.Take<FirstBad>(1)),
        scratch(Squares(a), scratch_bytes, /*lu=*/false, parts) {}
};

absl::StatusOr<Prepared> PreparePotrf(const PrepareContext& c) {
  const ArrayView& a = c.inputs[LaFactorArrays::kA];
  COOPER_ASSIGN_OR_RETURN(std::unique_ptr<FactorState> state,
                          MakeFactorState(c, a.dtype, Squares(a), &Cusolver::CholeskyBytes));
  WorkspaceParts parts;
  PotrfParts(a, state->scratch_bytes, parts);
  return Prepared{.state = std::move(state), .workspace_bytes = parts.bytes()};
}

template <typename T>
absl::Status Potrf(const KernelContext& c) {
  const ArrayView& a = c.inputs[LaFactorArrays::kA];
  const Squares s(a);
  WorkspaceParts parts(c.workspace);
  const PotrfParts p(a, FactorStateOf(c).scratch_bytes, parts);
  T* const l = static_cast<T*>(p.factor);
  COOPER_RETURN_IF_ERROR(ResetFirstBad(c, p.first_bad));
  COOPER_RETURN_IF_ERROR(CopyOnDevice(c, s.size(), a.as<T>(), l));
  COOPER_RETURN_IF_ERROR(FactorCholesky(c, s, l, p.scratch));
  COOPER_RETURN_IF_ERROR(LaunchElements(c, s.count * s.n, ReportNotDefinite<T>, s.count, s.n, l,
                                        p.scratch.info, p.first_bad));
  COOPER_ASSIGN_OR_RETURN(const std::optional<int64_t> bad, ReadFirstBad(c, p.first_bad));
  if (bad.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat("_linalg_potrf: matrix ", *bad, " of input 'A' is not positive definite"));
  }
  return StoreTriangle(c, s, /*lower=*/true, Elsewhere::kZero, 1, l, c.outputs[0].as<T>(),
                       c.reqs[0] == WriteReq::kAdd);
}

// Two arrays of the output's size, and device pointers to their matrices.
struct SquareParts {
  void* first;
  void* second;
  MatrixPointers pointers;
  SquareParts(const ArrayView& out, WorkspaceParts& parts)
      : first(parts.Take<char>(out.size_bytes())),
        second(parts.Take<char>(out.size_bytes())),
        pointers(MatrixBatch(out), parts) {}
};

absl::StatusOr<Prepared> PrepareSquares(const PrepareContext& c) {
  COOPER_ASSIGN_OR_RETURN(Prepared prepared, PrepareCublas(c));
  WorkspaceParts parts;
  SquareParts(c.outputs[0], parts);
  prepared.workspace_bytes = parts.bytes();
  return prepared;
}

// Returns the systems with lower triangles on the left or, with `rightside`, the right of matrices
// of the same size.
TriangularSystems LowerSystems(const Squares& s, bool transpose, bool rightside) {
  return {.lower = true,
          .transpose = transpose,
          .rightside = rightside,
          .count = s.count,
          .rows = s.n,
          .columns = s.n};
}

// Computes grad A = 1/2 * L^-T * S * L^-1, where S is L^T * grad L with its lower triangle
// mirrored.
template <typename T>
absl::Status PotrfBackward(const KernelContext& c) {
  using enum LaFactorGradientArrays::Input;
  const ArrayView& out = c.outputs[0];
  const Squares s(out);
  const T* const l = c.inputs[kAOrOutput].as<T>();
  WorkspaceParts parts(c.workspace);
  const SquareParts p(out, parts);
  T* const product = static_cast<T*>(p.first);
  T* const x = static_cast<T*>(p.second);
  // Clears the elements above the diagonal of L first: they may hold anything.
  COOPER_RETURN_IF_ERROR(StoreTriangle(c, s, /*lower=*/true, Elsewhere::kZero, 1, l, x));
  COOPER_RETURN_IF_ERROR(CublasOf(c).GemmBatched(StreamOf(c), out.dtype, s.gemm(), true, false, s.n,
                                                 s.n, s.n, 1, x, s.n, c.inputs[kOgrad].data, s.n,
                                                 false, product, s.n));
  COOPER_RETURN_IF_ERROR(StoreTriangle(c, s, /*lower=*/true, Elsewhere::kMirrored, 1, product, x));
  COOPER_RETURN_IF_ERROR(SolveTriangular(c, LowerSystems(s, true, false), l, x, p.pointers));
  COOPER_RETURN_IF_ERROR(SolveTriangular(c, LowerSystems(s, false, true), l, x, p.pointers));
  // The result is symmetric.
  return StoreTriangle(c, s, /*lower=*/true, Elsewhere::kMirrored, 0.5, x, out.as<T>(),
                       c.reqs[0] == WriteReq::kAdd);
}

template <typename T>
absl::Status Potri(const KernelContext& c) {
  const ArrayView& a = c.inputs[LaFactorArrays::kA];
  const Squares s(a);
  WorkspaceParts parts(c.workspace);
  const SquareParts p(c.outputs[0], parts);
  T* const inverse = static_cast<T*>(p.first);
  COOPER_RETURN_IF_ERROR(LaunchElements(c, s.size(), WriteIdentities<T>, s.size(), s.n, inverse));
  COOPER_RETURN_IF_ERROR(
      SolveTriangular(c, LowerSystems(s, false, false), a.as<T>(), inverse, p.pointers));
  return CublasOf(c).GemmBatched(StreamOf(c), a.dtype, s.gemm(), true, false, s.n, s.n, s.n, 1,
                                 inverse, s.n, inverse, s.n, c.reqs[0] == WriteReq::kAdd,
                                 c.outputs[0].data, s.n);
}

// Computes grad L = -tril(B * (grad B + grad B^T) * L^-T), where B is the output.
template <typename T>
absl::Status PotriBackward(const KernelContext& c) {
  using enum LaPotriGradientArrays::Input;
  const ArrayView& out = c.outputs[0];
  const Squares s(out);
  WorkspaceParts parts(c.workspace);
  const SquareParts p(out, parts);
  T* const sum = static_cast<T*>(p.first);
  T* const x = static_cast<T*>(p.second);
  COOPER_RETURN_IF_ERROR(
      LaunchElements(c, s.size(), AddTransposed<T>, s.size(), s.n, c.inputs[kOgrad].as<T>(), sum));
  COOPER_RETURN_IF_ERROR(CublasOf(c).GemmBatched(StreamOf(c), out.dtype, s.gemm(), false, false,
                                                 s.n, s.n, s.n, 1, c.inputs[kOutput].data, s.n, sum,
                                                 s.n, false, x, s.n));
  COOPER_RETURN_IF_ERROR(
      SolveTriangular(c, LowerSystems(s, true, true), c.inputs[kA].as<T>(), x, p.pointers));
  return StoreTriangle(c, s, /*lower=*/true, Elsewhere::kZero, -1, x, out.as<T>(),
                       c.reqs[0] == WriteReq::kAdd);
}

template <typename T>
__global__ void SumLogDiag(int64_t count, int64_t n, const T* a, T* out, bool add) {
  ForEachWithWarp(count, [&](int64_t i, int lane) {
    T sum = 0;
    for (int64_t k = lane; k < n; k += kWarp) sum += log(a[i * n * n + k * (n + 1)]);
    sum = SumOfWarp(sum);
    if (lane == 0) StoreTo(out + i, sum, add);
  });
}

template <typename T>
__global__ void SumLogDiagGradient(int64_t size, int64_t n, const T* ograd, const T* a, T* out,
                                   bool add) {
  for (int64_t item = FirstElement(); item < size; item += ElementStep()) {
    const InSquare at(item, n);
    StoreTo(out + item, at.row == at.column ? ograd[item / (n * n)] / a[item] : T{0}, add);
  }
}

template <typename T>
absl::Status SumLogDiagForward(const KernelContext& c) {
  const Squares s(c.inputs[0]);
  return LaunchWarps(c, s.count, SumLogDiag<T>, s.count, s.n, c.inputs[0].as<T>(),
                     c.outputs[0].as<T>(), c.reqs[0] == WriteReq::kAdd);
}

template <typename T>
absl::Status SumLogDiagBackward(const KernelContext& c) {
  using enum LaFactorGradientArrays::Input;
  const Squares s(c.outputs[0]);
  return LaunchElements(c, s.size(), SumLogDiagGradient<T>, s.size(), s.n, c.inputs[kOgrad].as<T>(),
                        c.inputs[kAOrOutput].as<T>(), c.outputs[0].as<T>(),
                        c.reqs[0] == WriteReq::kAdd);
}

constexpr DeviceType kGpu = DeviceType::kGpu;

const KernelRegistrar kKernels[] = {
    {"_linalg_potrf", kGpu, kFloat32Or64, RunFloat32Or64<Potrf<float>, Potrf<double>>,
     PreparePotrf},
    {"_backward_linalg_potrf", kGpu, kFloat32Or64,
     RunFloat32Or64<PotrfBackward<float>, PotrfBackward<double>>, PrepareSquares},
    {"_linalg_potri", kGpu, kFloat32Or64, RunFloat32Or64<Potri<float>, Potri<double>>,
     PrepareSquares},
    {"_backward_linalg_potri", kGpu, kFloat32Or64,
     RunFloat32Or64<PotriBackward<float>, PotriBackward<double>>, PrepareSquares},
    {"_linalg_sumlogdiag", kGpu, kFloat32Or64,
     RunFloat32Or64<SumLogDiagForward<float>, SumLogDiagForward<double>>},
    {"_backward_linalg_sumlogdiag", kGpu, kFloat32Or64,
     RunFloat32Or64<SumLogDiagBackward<float>, SumLogDiagBackward<double>>},
};

}  // namespace
}  // namespace cooper
