#ifndef COOPER_EXECUTOR_KERNELS_LINALG_DENSE_SOLVER_H_
#define COOPER_EXECUTOR_KERNELS_LINALG_DENSE_SOLVER_H_

// Triangular systems and factorizations of batches of matrices by cuBLAS and cuSOLVER: one call for
// many small ones, a call for each large one. For .cu files.

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/launch/cublas_state.h"
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

// Whether one call for all should be the faster: those of many matrices give each of them a part of
// the GPU, the others use all of it for one. The bounds are guesses until gpu_operators.py has
// timed batches of both sides of them on a GPU.
inline bool InOneCall(int64_t count, int64_t n) {
  return count > 1 && (n < 64 || (count > 8 && n <= 512));
}

template <typename T>
inline constexpr DType kDTypeOf = sizeof(T) == 8 ? DType::kFloat64 : DType::kFloat32;

template <typename T>
__global__ void PointToMatrices(int64_t count, int64_t size, T* first, void** pointers) {
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) pointers[i] = first + i * size;
}

template <typename T>
absl::Status LaunchPointTo(const KernelContext& c, int64_t count, int64_t size, const T* first,
                           void** pointers) {
  return LaunchElements(c, count, PointToMatrices<T>, count, size, const_cast<T*>(first), pointers);
}

// Pointers to the matrices of two batches.
struct MatrixPointers {
  void** first;
  void** second;
  MatrixPointers(int64_t count, WorkspaceParts& parts)
      : first(parts.Take<void*>(count)), second(parts.Take<void*>(count)) {}
};

// x becomes the solution (Cublas::SolveTriangular). For kernels prepared by PrepareCublas or
// PrepareFactors.
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

struct FactorState : CublasState {
  Cusolver* cusolver = nullptr;
  int64_t scratch_bytes = 0;  // of cuSOLVER for one matrix
};

inline const FactorState& FactorStateOf(const KernelContext& c) {
  return *static_cast<const FactorState*>(c.state);
}

using ScratchBytesFn = absl::StatusOr<int64_t> (Cusolver::*)(DType, int64_t);

// The libraries, for matrices (n, n) of `dtype`, and what `scratch_bytes` of them says.
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

// What a factorization writes beside the factors.
struct FactorScratch {
  int64_t bytes;
  void* solver;
  int* info;    // one for each matrix: not 0 where it could not be factored
  int* pivots;  // n for each
  int* unread;  // what a solution says of its arguments
  MatrixPointers pointers;

  // `lu`: for FactorLu(), which alone has pivots.
  FactorScratch(const Squares& s, int64_t solver_bytes, bool lu, WorkspaceParts& parts)
      : bytes(solver_bytes),
        solver(parts.Take<char>(solver_bytes)),
        info(parts.Take<int>(s.count)),
        pivots(parts.Take<int>(lu ? s.count * s.n : 0)),
        unread(parts.Take<int>(lu ? 1 : 0)),
        pointers(s.count, parts) {}
};

// The Cholesky factors in the lower triangles of the matrices at `a` (Cusolver::Cholesky).
template <typename T>
absl::Status FactorCholesky(const KernelContext& c, const Squares& s, T* a,
                            const FactorScratch& scratch) {
  Cusolver& cusolver = *FactorStateOf(c).cusolver;
  if (InOneCall(s.count, s.n)) {
    COOPER_RETURN_IF_ERROR(LaunchPointTo(c, s.count, s.n * s.n, a, scratch.pointers.first));
    return cusolver.CholeskyBatched(StreamOf(c), kDTypeOf<T>, s.count, s.n, scratch.pointers.first,
                                    scratch.info);
  }
  for (int64_t i = 0; i < s.count; ++i) {
    COOPER_RETURN_IF_ERROR(cusolver.Cholesky(StreamOf(c), kDTypeOf<T>, s.n, a + i * s.n * s.n,
                                             scratch.solver, scratch.bytes, scratch.info + i));
  }
  return absl::OkStatus();
}

// The LU factors of the transposes of the matrices at `a`, in their place.
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

// x = the inverses of the matrices that were factored into `lu`, or those of their transposes.
template <typename T>
absl::Status InvertLu(const KernelContext& c, const Squares& s, bool transpose, const T* lu, T* x,
                      const FactorScratch& scratch) {
  const FactorState& state = FactorStateOf(c);
  COOPER_RETURN_IF_ERROR(LaunchElements(c, s.size(), WriteIdentities<T>, s.size(), s.n, x));
  if (InOneCall(s.count, s.n)) {
    COOPER_RETURN_IF_ERROR(LaunchPointTo(c, s.count, s.n * s.n, lu, scratch.pointers.first));
    COOPER_RETURN_IF_ERROR(LaunchPointTo(c, s.count, s.n * s.n, x, scratch.pointers.second));
    return state.cublas->SolveLuBatched(StreamOf(c), kDTypeOf<T>, transpose, s.count, s.n,
                                        scratch.pointers.first, scratch.pivots,
                                        scratch.pointers.second);
  }
  for (int64_t i = 0; i < s.count; ++i) {
    COOPER_RETURN_IF_ERROR(state.cusolver->SolveLu(StreamOf(c), kDTypeOf<T>, transpose, s.n,
                                                   lu + i * s.n * s.n, scratch.pivots + i * s.n,
                                                   x + i * s.n * s.n, scratch.unread));
  }
  return absl::OkStatus();
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LINALG_DENSE_SOLVER_H_
