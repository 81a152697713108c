#include "tests/cuda_emulator/blas/cublas_solve.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cublas_api.h"
#include "tests/cuda_emulator/blas/context.h"
#include "tests/cuda_emulator/blas/factor.h"
#include "tests/cuda_emulator/blas/library_call.h"

namespace cooper::cuda_emulator {
namespace {

// The arguments of cublasStrsm and similar functions, except the matrices.
struct Systems {
  cublasSideMode_t side = CUBLAS_SIDE_LEFT;
  cublasFillMode_t triangle = CUBLAS_FILL_MODE_LOWER;
  cublasOperation_t operation = CUBLAS_OP_N;
  cublasDiagType_t diagonal = CUBLAS_DIAG_NON_UNIT;
  int64_t m = 0;
  int64_t n = 0;
  int64_t lda = 1;
  int64_t ldb = 1;
  int64_t count = 1;

  int64_t order() const { return side == CUBLAS_SIDE_LEFT ? m : n; }
  bool is_valid() const {
    return m >= 0 && n >= 0 && count >= 0 && lda >= std::max<int64_t>(1, order()) &&
           ldb >= std::max<int64_t>(1, m);
  }
  bool is_empty() const { return m == 0 || n == 0 || count == 0; }
  int64_t flops() const { return count * order() * m * n; }
  std::string text() const {
    return absl::StrCat(" (", count, " times m ", m, ", n ", n, ", triangle of ", order(), ")");
  }
};

template <typename T>
void Solve(const Systems& s, T alpha, const T* a, T* b) {
  SolveTriangular<T>({.a = {a, s.lda},
                      .n = s.order(),
                      .lower = s.triangle == CUBLAS_FILL_MODE_LOWER,
                      .transpose = s.operation != CUBLAS_OP_N,
                      .unit = s.diagonal == CUBLAS_DIAG_UNIT},
                     s.side == CUBLAS_SIDE_RIGHT, s.m, s.n, alpha, {b, s.ldb});
}

cublasStatus_t Queued(LibraryCall call) {
  return QueueLibraryCall(std::move(call)) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

template <typename T>
cublasStatus_t Trsm(const char* call, cublasHandle_t handle, const Systems& s, const T* alpha,
                    const T* a, T* b) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!s.is_valid()) return CUBLAS_STATUS_INVALID_VALUE;
  if (s.is_empty()) return CUBLAS_STATUS_SUCCESS;
  return Queued(
      {.name = absl::StrCat(call, s.text()),
       .device = handle->device,
       .stream = handle->stream,
       .ranges = {{a, BytesOf<T>(s.order(), s.order(), s.lda)}, {b, BytesOf<T>(s.m, s.n, s.ldb)}},
       .flops = s.flops(),
       .run = [s, alpha = *alpha, a, b] {
         Solve(s, alpha, a, b);
         return cudaSuccess;
       }});
}

template <typename T>
cublasStatus_t TrsmBatched(const char* call, cublasHandle_t handle, const Systems& s,
                           const T* alpha, const T* const* a, T* const* b) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!s.is_valid()) return CUBLAS_STATUS_INVALID_VALUE;
  if (s.is_empty()) return CUBLAS_STATUS_SUCCESS;
  const int64_t pointer_bytes = s.count * static_cast<int64_t>(sizeof(void*));
  const auto run = [call, s, alpha = *alpha, a, b] {
    const auto* as = reinterpret_cast<const void* const*>(a);
    const auto* bs = reinterpret_cast<const void* const*>(b);
    if (!PointToDevice(call, as, s.count, BytesOf<T>(s.order(), s.order(), s.lda)) ||
        !PointToDevice(call, bs, s.count, BytesOf<T>(s.m, s.n, s.ldb))) {
      return cudaErrorIllegalAddress;
    }
    for (int64_t i = 0; i < s.count; ++i) Solve(s, alpha, a[i], b[i]);
    return cudaSuccess;
  };
  return Queued({.name = absl::StrCat(call, s.text()),
                 .device = handle->device,
                 .stream = handle->stream,
                 .ranges = {{a, pointer_bytes}, {b, pointer_bytes}},
                 .flops = s.flops(),
                 .run = run});
}

template <typename T>
cublasStatus_t GetrfBatched(const char* call, cublasHandle_t handle, int n, T* const* a, int lda,
                            int* pivots, int* info, int count) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (n < 0 || count < 0 || lda < std::max(1, n)) return CUBLAS_STATUS_INVALID_VALUE;
  const auto run = [=] {
    if (!PointToDevice(call, reinterpret_cast<const void* const*>(a), count,
                       BytesOf<T>(n, n, lda))) {
      return cudaErrorIllegalAddress;
    }
    for (int64_t i = 0; i < count; ++i) {
      info[i] = FactorLu<T>(n, {a[i], lda}, pivots + i * n);
    }
    return cudaSuccess;
  };
  const int64_t ints = static_cast<int64_t>(sizeof(int)) * count;
  return Queued({.name = absl::StrCat(call, " (", count, " times n ", n, ")"),
                 .device = handle->device,
                 .stream = handle->stream,
                 .ranges = {{a, count * static_cast<int64_t>(sizeof(void*))},
                            {pivots, ints * n},
                            {info, ints}},
                 .flops = int64_t{2} * count * n * n * n / 3,
                 .run = run});
}

template <typename T>
cublasStatus_t GetrsBatched(const char* call, cublasHandle_t handle, cublasOperation_t operation,
                            int n, int columns, const T* const* a, int lda, const int* pivots,
                            T* const* b, int ldb, int* info, int count) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (n < 0 || count < 0 || columns < 0 || lda < std::max(1, n) || ldb < std::max(1, n)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  *info = 0;
  const auto run = [=] {
    if (!PointToDevice(call, reinterpret_cast<const void* const*>(a), count,
                       BytesOf<T>(n, n, lda)) ||
        !PointToDevice(call, reinterpret_cast<const void* const*>(b), count,
                       BytesOf<T>(n, columns, ldb))) {
      return cudaErrorIllegalAddress;
    }
    for (int64_t i = 0; i < count; ++i) {
      SolveLu<T>(operation != CUBLAS_OP_N, n, columns, {a[i], lda}, pivots + i * n, {b[i], ldb});
    }
    return cudaSuccess;
  };
  const int64_t pointer_bytes = count * static_cast<int64_t>(sizeof(void*));
  return Queued(
      {.name = absl::StrCat(call, " (", count, " times n ", n, ", columns ", columns, ")"),
       .device = handle->device,
       .stream = handle->stream,
       .ranges = {{a, pointer_bytes},
                  {b, pointer_bytes},
                  {pivots, static_cast<int64_t>(sizeof(int)) * count * n}},
       .flops = int64_t{2} * count * n * n * columns,
       .run = run});
}

struct NamedFunction {
  std::string_view name;
  void* function;
};

}  // namespace

extern "C" {

#define SOLVERS(letter, type)                                                                     \
  cublasStatus_t cublas##letter##trsm_v2_64(                                                      \
      cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t triangle,                    \
      cublasOperation_t operation, cublasDiagType_t diagonal, int64_t m, int64_t n,               \
      const type* alpha, const type* a, int64_t lda, type* b, int64_t ldb) {                      \
    return Trsm<type>("cublas" #letter "trsm_64", handle,                                         \
                      {side, triangle, operation, diagonal, m, n, lda, ldb, 1}, alpha, a, b);     \
  }                                                                                               \
  cublasStatus_t cublas##letter##trsmBatched_64(                                                  \
      cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t triangle,                    \
      cublasOperation_t operation, cublasDiagType_t diagonal, int64_t m, int64_t n,               \
      const type* alpha, const type* const a[], int64_t lda, type* const b[], int64_t ldb,        \
      int64_t count) {                                                                            \
    return TrsmBatched<type>("cublas" #letter "trsmBatched_64", handle,                           \
                             {side, triangle, operation, diagonal, m, n, lda, ldb, count}, alpha, \
                             a, b);                                                               \
  }                                                                                               \
  cublasStatus_t cublas##letter##getrfBatched(cublasHandle_t handle, int n, type* const a[],      \
                                              int lda, int* pivots, int* info, int count) {       \
    return GetrfBatched<type>("cublas" #letter "getrfBatched", handle, n, a, lda, pivots, info,   \
                              count);                                                             \
  }                                                                                               \
  cublasStatus_t cublas##letter##getrsBatched(cublasHandle_t handle, cublasOperation_t operation, \
                                              int n, int columns, const type* const a[], int lda, \
                                              const int* pivots, type* const b[], int ldb,        \
                                              int* info, int count) {                             \
    return GetrsBatched<type>("cublas" #letter "getrsBatched", handle, operation, n, columns, a,  \
                              lda, pivots, b, ldb, info, count);                                  \
  }
SOLVERS(S, float)
SOLVERS(D, double)
#undef SOLVERS

}  // extern "C"

void* FindCublasSolveFunction(std::string_view name) {
#define FUNCTION(function) \
  { #function, reinterpret_cast < void*>(&(function)) }
  static const NamedFunction kFunctions[] = {
      FUNCTION(cublasStrsm_v2_64),     FUNCTION(cublasDtrsm_v2_64),
      FUNCTION(cublasStrsmBatched_64), FUNCTION(cublasDtrsmBatched_64),
      FUNCTION(cublasSgetrfBatched),   FUNCTION(cublasDgetrfBatched),
      FUNCTION(cublasSgetrsBatched),   FUNCTION(cublasDgetrsBatched),
  };
#undef FUNCTION
  for (const NamedFunction& known : kFunctions) {
    if (known.name == name) return known.function;
  }
  return nullptr;
}

}  // namespace cooper::cuda_emulator
