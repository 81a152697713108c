#ifndef COOPER_EXECUTOR_KERNELS_LINALG_DENSE_SOLVER_H_
#define COOPER_EXECUTOR_KERNELS_LINALG_DENSE_SOLVER_H_

// Triangular systems and factorizations of batches of matrices by cuBLAS and cuSOLVER: one batched
// call for many small matrices, one call per large matrix. For .cu files: the kernels of
// linalg_potrf, potri, trsm, inverse, det, slogdet, solve and their gradients. la_matrix.h has the
// CPU's counterpart.
//
// Matrices are row-major and dense, T is float or double, and all arrays are in device memory. The
// libraries are column-major, so they see transposes; the functions state what a caller gets in
// row-major terms. The current device must be that of the context (RunFloat32Or64 in squares.h).
// All work goes to the context's queue.
//
//   // Prepare: the workspace has the factors and the scratch.
//   COOPER_ASSIGN_OR_RETURN(auto state, MakeFactorState(c, a.dtype, s, &Cusolver::LuBytes));
//   WorkspaceParts parts;
//   parts.Take<char>(a.size_bytes());
//   FactorScratch(s, state->scratch_bytes, /*lu=*/true, parts);
//   // Run, with a WorkspaceParts over c.workspace that takes the same arrays.
//   COOPER_RETURN_IF_ERROR(FactorLu(c, s, lu, scratch));
//   COOPER_RETURN_IF_ERROR(InvertLu(c, s, /*transpose=*/false, lu, inverse, scratch));
//
// Errors: those of the libraries and of Launch.

#include <cstdint>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "executor/kernels/launch/cublas_state.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/index_check.h"
#include "executor/kernels/launch/launch.h"
#include "executor/kernels/launch/workspace_parts.h"
#include "executor/kernels/linalg/squares.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/cuda/cublas.h"
#include "ndarray/cuda/cusolver.h"
#include "ndarray/cuda/device_scope.h"

namespace cooper {

// Returns whether one batched call is expected to be faster for `count` matrices of side `n`.
// Batched functions give each matrix a part of the GPU, the others use all of it for one matrix.
// The bounds are estimates; benchmarks/peers/gpu_operators.py can time batches on both sides of
// them. Prepare and run must get the same answer, because the workspace depends on it.
inline bool InOneCall(int64_t count, int64_t n) {
  return count > 1 && (n < 64 || (count > 8 && n <= 512));
}

// The dtype of T, which is float or double.
template <typename T>
inline constexpr DType kDTypeOf = sizeof(T) == 8 ? DType::kFloat64 : DType::kFloat32;

// Writes pointers to `count` consecutive matrices of `size` elements, which batched functions take.
template <typename T>
__global__ void PointToMatrices(int64_t count, int64_t size, T* first, void** pointers) {
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) pointers[i] = first + i * size;
}

// Queues PointToMatrices. `pointers` has `count` elements.
template <typename T>
absl::Status LaunchPointTo(const KernelContext& c, int64_t count, int64_t size, const T* first,
                           void** pointers) {
  return LaunchElements(c, count, PointToMatrices<T>, count, size, const_cast<T*>(first), pointers);
}

// Device pointers to the matrices of two batches, in the workspace, which it does not own. They are
// valid between a LaunchPointTo and the next one on the same array.
struct MatrixPointers {
  void** first;
  void** second;
  MatrixPointers(int64_t count, WorkspaceParts& parts)
      : first(parts.Take<void*>(count)), second(parts.Take<void*>(count)) {}
};

// Replaces x by the solution (Cublas::SolveTriangular) with alpha = 1. For kernels prepared by
// PrepareCublas or MakeFactorState. `a` has s.count triangular matrices (side, side), of which only
// the triangle is read; x has s.count matrices (s.rows, s.columns). A zero on a diagonal gives
// infinities or NaN without an error.
template <typename T>
absl::Status SolveTriangular(const KernelContext& c, const TriangularSystems& s, const T* a, T* x,
                             const MatrixPointers& pointers) {
  Cublas& cublas = CublasOf(c);
  const int64_t side = s.side();
  if (!InOneCall(s.count, side)) {
    return cublas.SolveTriangular(StreamOf(c), kDTypeOf<T>, s, 1, a, x);
  }
  COOPER_RETURN_IF_ERROR(LaunchPointTo(c, s.count, side * side, a, pointers.first));
  COOPER_RETURN_IF_ERROR(LaunchPointTo(c, s.count, s.rows * s.columns, x, pointers.second));
  return cublas.SolveTriangularBatched(StreamOf(c), kDTypeOf<T>, s, 1, pointers.first,
                                       pointers.second);
}

// The libraries of a kernel that factors matrices, which live as long as the process.
struct FactorState : CublasState {
  Cusolver* cusolver = nullptr;
  int64_t scratch_bytes = 0;  // of cuSOLVER for one matrix; 0 for batched calls
};

// Returns the state of a kernel that was prepared with MakeFactorState.
inline const FactorState& FactorStateOf(const KernelContext& c) {
  return *static_cast<const FactorState*>(c.state);
}

// A query for cuSOLVER's scratch memory: (dtype, n) -> bytes. Cusolver::CholeskyBytes or LuBytes.
using ScratchBytesFn = absl::StatusOr<int64_t> (Cusolver::*)(DType, int64_t);

// Returns the libraries for `s`, matrices of `dtype`. `scratch_bytes` is the query for cuSOLVER's
// scratch memory, used if the factorization is not batched. Called when a node is bound.
//
// Errors: those of Cublas::Of and Cusolver::Of, kFailedPrecondition if a library is not installed.
inline absl::StatusOr<std::unique_ptr<FactorState>> MakeFactorState(const PrepareContext& c,
                                                                    DType dtype, const Squares& s,
                                                                    ScratchBytesFn scratch_bytes) {
  const CudaDeviceScope scope(c.context.device_id);
  COOPER_RETURN_IF_ERROR(scope.status());
  auto state = std::make_unique<FactorState>();
  COOPER_ASSIGN_OR_RETURN(state->cublas, Cublas::Of(c.context.device_id));
  COOPER_ASSIGN_OR_RETURN(state->cusolver, Cusolver::Of(c.context.device_id));
  if (!InOneCall(s.count, s.n)) {
    COOPER_ASSIGN_OR_RETURN(state->scratch_bytes, (state->cusolver->*scratch_bytes)(dtype, s.n));
  }
  return state;
}

// The arrays of a factorization apart from the factors, in the workspace, which it does not own.
// Made with equal arguments when the node is prepared, to count bytes, and when it runs.
struct FactorScratch {
  int64_t bytes;  // of `solver`
  void* solver;   // scratch memory of cuSOLVER
  int* info;      // one per matrix; nonzero if it could not be factored
  int* pivots;    // n per matrix
  int* unread;    // status of solve calls, which is not read
  MatrixPointers pointers;

  // `lu` selects the arrays of FactorLu(); FactorCholesky() has no pivots.
  FactorScratch(const Squares& s, int64_t solver_bytes, bool lu, WorkspaceParts& parts)
      : bytes(solver_bytes),
        solver(parts.Take<char>(solver_bytes)),
        info(parts.Take<int>(s.count)),
        pivots(parts.Take<int>(lu ? s.count * s.n : 0)),
        unread(parts.Take<int>(lu ? 1 : 0)),
        pointers(s.count, parts) {}
};

// Computes the Cholesky factors in the lower triangles of the matrices at `a` (Cusolver::Cholesky),
// in place: A = L * L^T. Only the lower triangles are read; the elements above them have no defined
// values afterwards. A matrix that is not positive definite sets its info; its factor has no
// defined values.
template <typename T>
absl::Status FactorCholesky(const KernelContext& c, const Squares& s, T* a,
                            const FactorScratch& scratch) {
  Cusolver& cusolver = *FactorStateOf(c).cusolver;
  if (InOneCall(s.count, s.n)) {
    COOPER_RETURN_IF_ERROR(LaunchPointTo(c, s.count, s.n * s.n, a, scratch.pointers.first));
    return cusolver.CholeskyBatched(StreamOf(c), kDTypeOf<T>, s.count, s.n, scratch.pointers.first,
                                    scratch.info);
  }
  // One call per matrix, each of which uses the whole GPU.
  for (int64_t i = 0; i < s.count; ++i) {
    COOPER_RETURN_IF_ERROR(cusolver.Cholesky(StreamOf(c), kDTypeOf<T>, s.n, a + i * s.n * s.n,
                                             scratch.solver, scratch.bytes, scratch.info + i));
  }
  return absl::OkStatus();
}

// Replaces the matrices at `a` by the LU factors of their transposes, with partial pivoting. The
// diagonal of U, and so the determinant, is that of A^T. scratch.pivots gets row numbers from 1. A
// singular matrix sets its info to the number, from 1, of a zero pivot; the factors are complete.
template <typename T>
absl::Status FactorLu(const KernelContext& c, const Squares& s, T* a,
                      const FactorScratch& scratch) {
  const FactorState& state = FactorStateOf(c);
  if (InOneCall(s.count, s.n)) {
    COOPER_RETURN_IF_ERROR(LaunchPointTo(c, s.count, s.n * s.n, a, scratch.pointers.first));
    return state.cublas->FactorLuBatched(StreamOf(c), kDTypeOf<T>, s.count, s.n,
                                         scratch.pointers.first, scratch.pivots, scratch.info);
  }
  for (int64_t i = 0; i < s.count; ++i) {
    COOPER_RETURN_IF_ERROR(state.cusolver->FactorLu(StreamOf(c), kDTypeOf<T>, s.n,
                                                    a + i * s.n * s.n, scratch.solver,
                                                    scratch.pivots + i * s.n, scratch.info + i));
  }
  return absl::OkStatus();
}

// Computes lu = the factors of the matrices of `a`, which is kept.
template <typename T>
absl::Status FactorLu(const KernelContext& c, const ArrayView& a, T* lu,
                      const FactorScratch& scratch) {
  const Squares s(a);
  COOPER_RETURN_IF_ERROR(CopyOnDevice(c, s.size(), a.as<T>(), lu));
  return FactorLu(c, s, lu, scratch);
}

template <typename T>
__global__ void ReportSingular(int64_t count, int64_t n, const T* lu, const int* info,
                               FirstBad* first_bad) {
  for (int64_t i = FirstElement(); i < count * n; i += ElementStep()) {
    const int64_t matrix = i / n, row = i % n;
    if (info[matrix] != 0 || lu[matrix * n * n + row * (n + 1)] == 0) ReportBad(first_bad, matrix);
  }
}

// Fails with kInvalidArgument, naming `op` and the first singular matrix, if one of the matrices
// that FactorLu has factored is singular. Waits for the queue. `first_bad` is scratch.
template <typename T>
absl::Status CheckRegular(const KernelContext& c, absl::string_view op, const Squares& s,
                          const T* lu, const FactorScratch& scratch, FirstBad* first_bad) {
  COOPER_RETURN_IF_ERROR(ResetFirstBad(c, first_bad));
  COOPER_RETURN_IF_ERROR(LaunchElements(c, s.count * s.n, ReportSingular<T>, s.count, s.n, lu,
                                        scratch.info, first_bad));
  COOPER_ASSIGN_OR_RETURN(const std::optional<int64_t> bad, ReadFirstBad(c, first_bad));
  if (!bad.has_value()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(op, ": matrix ", *bad, " of input 'A' is singular"));
}

// Replaces each matrix B (rows, n) at `x` by the solution X of X * A = B, or of X * A^T = B if
// `transpose`, where FactorLu has factored the matrices A into `lu`. Requires its scratch. 2 * rows
// * n^2 operations per matrix. A singular matrix gives infinities or NaN.
template <typename T>
absl::Status SolveLu(const KernelContext& c, const Squares& s, bool transpose, int64_t rows,
                     const T* lu, T* x, const FactorScratch& scratch) {
  const FactorState& state = FactorStateOf(c);
  if (InOneCall(s.count, s.n)) {
    COOPER_RETURN_IF_ERROR(LaunchPointTo(c, s.count, s.n * s.n, lu, scratch.pointers.first));
    COOPER_RETURN_IF_ERROR(LaunchPointTo(c, s.count, rows * s.n, x, scratch.pointers.second));
    return state.cublas->SolveLuBatched(StreamOf(c), kDTypeOf<T>, transpose, s.count, rows, s.n,
                                        scratch.pointers.first, scratch.pivots,
                                        scratch.pointers.second);
  }
  for (int64_t i = 0; i < s.count; ++i) {
    COOPER_RETURN_IF_ERROR(state.cusolver->SolveLu(StreamOf(c), kDTypeOf<T>, transpose, rows, s.n,
                                                   lu + i * s.n * s.n, scratch.pivots + i * s.n,
                                                   x + i * rows * s.n, scratch.unread));
  }
  return absl::OkStatus();
}

// Computes x = the inverses of the matrices whose factors are `lu`, or of their transposes, as
// SolveLu does for identities.
template <typename T>
absl::Status InvertLu(const KernelContext& c, const Squares& s, bool transpose, const T* lu, T* x,
                      const FactorScratch& scratch) {
  COOPER_RETURN_IF_ERROR(LaunchElements(c, s.size(), WriteIdentities<T>, s.size(), s.n, x));
  return SolveLu(c, s, transpose, s.n, lu, x, scratch);
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LINALG_DENSE_SOLVER_H_
