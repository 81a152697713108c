// GPU kernels of _linalg_solve and of its gradient.

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
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

// The LU factors of A, and the right sides as rows (..., k, n), which SolveLu replaces by the
// solutions.
struct SolveParts {
  void* lu;
  void* rows;
  FirstBad* first_bad;
  FactorScratch scratch;
  SolveParts(const ArrayView& a, const ArrayView& b, int64_t scratch_bytes, WorkspaceParts& parts)
      : lu(parts.Take<char>(a.size_bytes())),
        rows(parts.Take<char>(b.size_bytes())),
        first_bad(parts.Take<FirstBad>(1)),
        scratch(Squares(a), scratch_bytes, /*lu=*/true, parts) {}
};

template <int kA, int kB>
absl::StatusOr<Prepared> PrepareSolve(const PrepareContext& c) {
  const ArrayView& a = c.inputs[kA];
  COOPER_ASSIGN_OR_RETURN(std::unique_ptr<FactorState> state,
                          MakeFactorState(c, a.dtype, Squares(a), &Cusolver::LuBytes));
  WorkspaceParts parts;
  SolveParts(a, c.inputs[kB], state->scratch_bytes, parts);
  return Prepared{.state = std::move(state), .workspace_bytes = parts.bytes()};
}

// Computes to = or += the transposes of matrices (rows, columns). `size` is the number of elements
// of all of them.
template <typename T>
__global__ void TransposeMatrices(int64_t size, int64_t rows, int64_t columns, const T* from, T* to,
                                  bool add) {
  for (int64_t item = FirstElement(); item < size; item += ElementStep()) {
    const int64_t first = item / (rows * columns) * (rows * columns);
    const int64_t row = item % rows, column = item / rows % columns;
    StoreTo(to + item, from[first + row * columns + column], add);
  }
}

// Replaces p.rows by the transposed solutions X of A * X = b, or of A^T * X = b if `transpose`.
template <typename T>
absl::Status SolveRows(const KernelContext& c, const ArrayView& a, const ArrayView& b,
                       bool transpose, const SolveParts& p) {
  T* const rows = static_cast<T*>(p.rows);
  const int64_t n = MatrixRows(b), columns = MatrixColumns(b);
  COOPER_RETURN_IF_ERROR(LaunchElements(c, b.size(), TransposeMatrices<T>, b.size(), n, columns,
                                        b.as<T>(), rows, false));
  return SolveLu(c, Squares(a), !transpose, columns, static_cast<const T*>(p.lu), rows, p.scratch);
}

// Computes out = or += the transposes of p.rows.
template <typename T>
absl::Status StoreRows(const KernelContext& c, const SolveParts& p, const ArrayView& out,
                       WriteReq req) {
  if (req == WriteReq::kNull) return absl::OkStatus();
  return LaunchElements(c, out.size(), TransposeMatrices<T>, out.size(), MatrixColumns(out),
                        MatrixRows(out), static_cast<const T*>(p.rows), out.as<T>(),
                        req == WriteReq::kAdd);
}

template <typename T>
absl::Status Solve(const KernelContext& c) {
  using enum LaProductArrays::Input;
  const ArrayView &a = c.inputs[kA], &b = c.inputs[kB];
  if (b.size() == 0) return absl::OkStatus();  // also if A is singular, as on the CPU
  WorkspaceParts parts(c.workspace);
  const SolveParts p(a, b, FactorStateOf(c).scratch_bytes, parts);
  COOPER_RETURN_IF_ERROR(FactorLu(c, a, static_cast<T*>(p.lu), p.scratch));
  COOPER_RETURN_IF_ERROR(CheckRegular(c, "_linalg_solve", Squares(a), static_cast<const T*>(p.lu),
                                      p.scratch, p.first_bad));
  COOPER_RETURN_IF_ERROR(SolveRows<T>(c, a, b, /*transpose=*/false, p));
  return StoreRows<T>(c, p, c.outputs[0], c.reqs[0]);
}

// Computes grad B = A^-T * ograd and grad A = -grad B * X^T, where X is the output.
template <typename T>
absl::Status SolveBackward(const KernelContext& c) {
  using enum LaTriangularGradientArrays::Input;
  using enum LaTriangularGradientArrays::Output;
  const ArrayView &head = c.inputs[kOgrad], &a = c.inputs[kA], &a_grad = c.outputs[kAGrad];
  WorkspaceParts parts(c.workspace);
  const SolveParts p(a, head, FactorStateOf(c).scratch_bytes, parts);
  COOPER_RETURN_IF_ERROR(FactorLu(c, a, static_cast<T*>(p.lu), p.scratch));
  COOPER_RETURN_IF_ERROR(SolveRows<T>(c, a, head, /*transpose=*/true, p));
  if (c.reqs[kAGrad] != WriteReq::kNull) {
    const int64_t n = MatrixRows(head), columns = MatrixColumns(head), size = n * columns;
    COOPER_RETURN_IF_ERROR(
        CublasOf(c).GemmBatched(StreamOf(c), a.dtype, {Squares(a).count, size, size, n * n}, true,
                                true, n, n, columns, -1, p.rows, n, c.inputs[kBOrOutput].data,
                                columns, c.reqs[kAGrad] == WriteReq::kAdd, a_grad.data, n));
  }
  return StoreRows<T>(c, p, c.outputs[kBGrad], c.reqs[kBGrad]);
}

constexpr DeviceType kGpu = DeviceType::kGpu;

const KernelRegistrar kKernels[] = {
    {"_linalg_solve", kGpu, kFloat32Or64, RunFloat32Or64<Solve<float>, Solve<double>>,
     PrepareSolve<LaProductArrays::kA, LaProductArrays::kB>},
    {"_backward_linalg_solve", kGpu, kFloat32Or64,
     RunFloat32Or64<SolveBackward<float>, SolveBackward<double>>,
     PrepareSolve<LaTriangularGradientArrays::kA, LaTriangularGradientArrays::kOgrad>},
};

}  // namespace
}  // namespace cooper
