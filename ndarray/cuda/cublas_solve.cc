// Implements the triangular solves and LU factorizations of cublas.h.

#include <cstdint>
#include <mutex>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "cublas_v2.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/cuda/cublas.h"
#include "ndarray/cuda/cublas_library.h"
#include "ndarray/cuda/solver_ints.h"

namespace cooper {
namespace {

template <typename Function>
absl::Status CheckFound(Function* function, absl::string_view name) {
  if (function != nullptr) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(CublasLibraryName(), " has no ", name));
}

// The solver functions for one element type.
template <typename Trsm, typename TrsmBatched, typename GetrfBatched, typename GetrsBatched>
struct Solvers {
  Trsm* trsm;
  TrsmBatched* trsm_batched;
  GetrfBatched* getrf_batched;
  GetrsBatched* getrs_batched;
};
template <typename A, typename B, typename C, typename D>
Solvers(A*, B*, C*, D*) -> Solvers<A, B, C, D>;

// Calls fn(T{0}, solvers of T) and returns its status.
template <typename Fn>
absl::Status Dispatch(DType dtype, Fn&& fn) {
  const CublasFunctions& f = *GetCublasFunctions();
  return dtype == DType::kFloat64
             ? fn(0.0, Solvers{f.dtrsm, f.dtrsm_batched, f.dgetrf_batched, f.dgetrs_batched})
             : fn(0.0F, Solvers{f.strsm, f.strsm_batched, f.sgetrf_batched, f.sgetrs_batched});
}

// The arguments for cuBLAS, which is column-major and so solves X^T * op(A)^T = alpha * B^T.
struct TransposedSystems {
  explicit TransposedSystems(const TriangularSystems& s)
      : side(s.rightside ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT),
        triangle(s.lower ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER),
        operation(s.transpose ? CUBLAS_OP_T : CUBLAS_OP_N) {}
  cublasSideMode_t side;
  cublasFillMode_t triangle;
  cublasOperation_t operation;
};

absl::Status Checked(cublasStatus_t status, absl::string_view call, DType dtype,
                     const TriangularSystems& s) {
  if (status == CUBLAS_STATUS_SUCCESS) return absl::OkStatus();
  return CublasStatus(
      status, absl::StrCat(call, " of ", DTypeName(dtype), " (", s.count, " times ", s.rows, " x ",
                           s.columns, ", triangle on the ", s.rightside ? "right" : "left", ")"));
}

bool IsEmpty(const TriangularSystems& s) { return s.count == 0 || s.rows == 0 || s.columns == 0; }

absl::Status Checked(cublasStatus_t status, absl::string_view call, DType dtype, int64_t count,
                     int64_t n) {
  if (status == CUBLAS_STATUS_SUCCESS) return absl::OkStatus();
  return CublasStatus(status, absl::StrCat(call, " of ", DTypeName(dtype), " (", count, " times ",
                                           n, " x ", n, ")"));
}

}  // namespace

absl::Status Cublas::SolveTriangular(cudaStream_t stream, DType dtype,
                                     const TriangularSystems& systems, double alpha, const void* a,
                                     void* x) {
  if (IsEmpty(systems)) return absl::OkStatus();
  const TransposedSystems t(systems);
  const int64_t side = systems.side();
  return Dispatch(dtype, [&](auto zero, const auto& solvers) {
    using T = decltype(zero);
    COOPER_RETURN_IF_ERROR(CheckFound(solvers.trsm, "cublasStrsm_v2_64 or cublasDtrsm_v2_64"));
    const auto scale = static_cast<T>(alpha);
    std::lock_guard<std::mutex> lock(mutex_);
    COOPER_RETURN_IF_ERROR(UseStream(*handle_, stream));
    for (int64_t i = 0; i < systems.count; ++i) {
      COOPER_RETURN_IF_ERROR(Checked(
          solvers.trsm(handle_->cublas, t.side, t.triangle, t.operation, CUBLAS_DIAG_NON_UNIT,
                       systems.columns, systems.rows, &scale,
                       static_cast<const T*>(a) + i * side * side, side,
                       static_cast<T*>(x) + i * systems.rows * systems.columns, systems.columns),
          "cublasTrsm", dtype, systems));
    }
    return absl::OkStatus();
  });
}

absl::Status Cublas::SolveTriangularBatched(cudaStream_t stream, DType dtype,
                                            const TriangularSystems& systems, double alpha,
                                            const void* const* a, void* const* x) {
  if (IsEmpty(systems)) return absl::OkStatus();
  const TransposedSystems t(systems);
  return Dispatch(dtype, [&](auto zero, const auto& solvers) {
    using T = decltype(zero);
    COOPER_RETURN_IF_ERROR(
        CheckFound(solvers.trsm_batched, "cublasStrsmBatched_64 or cublasDtrsmBatched_64"));
    const auto scale = static_cast<T>(alpha);
    std::lock_guard<std::mutex> lock(mutex_);
    COOPER_RETURN_IF_ERROR(UseStream(*handle_, stream));
    return Checked(
        solvers.trsm_batched(handle_->cublas, t.side, t.triangle, t.operation, CUBLAS_DIAG_NON_UNIT,
                             systems.columns, systems.rows, &scale,
                             reinterpret_cast<const T* const*>(a), systems.side(),
                             reinterpret_cast<T* const*>(x), systems.columns, systems.count),
        "cublasTrsmBatched", dtype, systems);
  });
}

absl::Status Cublas::FactorLuBatched(cudaStream_t stream, DType dtype, int64_t count, int64_t n,
                                     void* const* a, int* pivots, int* info) {
  if (count == 0 || n == 0) return absl::OkStatus();
  COOPER_RETURN_IF_ERROR(CheckSolverInts("cuBLAS", count, n));
  return Dispatch(dtype, [&](auto zero, const auto& solvers) {
    using T = decltype(zero);
    COOPER_RETURN_IF_ERROR(
        CheckFound(solvers.getrf_batched, "cublasSgetrfBatched or cublasDgetrfBatched"));
    std::lock_guard<std::mutex> lock(mutex_);
    COOPER_RETURN_IF_ERROR(UseStream(*handle_, stream));
    const int side = static_cast<int>(n);
    return Checked(solvers.getrf_batched(handle_->cublas, side, reinterpret_cast<T* const*>(a),
                                         side, pivots, info, static_cast<int>(count)),
                   "cublasGetrfBatched", dtype, count, n);
  });
}

absl::Status Cublas::SolveLuBatched(cudaStream_t stream, DType dtype, bool transpose, int64_t count,
                                    int64_t rows, int64_t n, const void* const* lu,
                                    const int* pivots, void* const* x) {
  if (count == 0 || rows == 0 || n == 0) return absl::OkStatus();
  COOPER_RETURN_IF_ERROR(CheckSolverInts("cuBLAS", count, n));
  COOPER_RETURN_IF_ERROR(CheckSolverInts("cuBLAS", count, rows));
  return Dispatch(dtype, [&](auto zero, const auto& solvers) {
    using T = decltype(zero);
    COOPER_RETURN_IF_ERROR(
        CheckFound(solvers.getrs_batched, "cublasSgetrsBatched or cublasDgetrsBatched"));
    std::lock_guard<std::mutex> lock(mutex_);
    COOPER_RETURN_IF_ERROR(UseStream(*handle_, stream));
    const int side = static_cast<int>(n);
    int info = 0;  // on the host: an argument that is not valid, which the status tells as well
    return Checked(solvers.getrs_batched(
                       handle_->cublas, transpose ? CUBLAS_OP_T : CUBLAS_OP_N, side,
                       static_cast<int>(rows), reinterpret_cast<const T* const*>(lu), side, pivots,
                       reinterpret_cast<T* const*>(x), side, &info, static_cast<int>(count)),
                   "cublasGetrsBatched", dtype, count, n);
  });
}

}  // namespace cooper
