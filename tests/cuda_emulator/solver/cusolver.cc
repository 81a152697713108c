#include "tests/cuda_emulator/solver/cusolver.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cusolverDn.h"
#include "tests/cuda_emulator/blas/factor.h"
#include "tests/cuda_emulator/blas/library_call.h"
#include "tests/cuda_emulator/runtime/api_state.h"

// The object that a cusolverDnHandle_t points to.
struct cusolverDnContext {
  int device = 0;
  cudaStream_t stream = nullptr;
};

namespace cooper::cuda_emulator {
namespace {

template <typename T>
std::string NameOf(const char* rest) {
  return absl::StrCat("cusolverDn", sizeof(T) == 8 ? "D" : "S", rest);
}

cusolverStatus_t Queued(LibraryCall call) {
  return QueueLibraryCall(std::move(call)) ? CUSOLVER_STATUS_SUCCESS
                                           : CUSOLVER_STATUS_INVALID_VALUE;
}

bool IsMatrix(int n, int ld) { return n >= 0 && ld >= std::max(1, n); }

// Returns the workspace that calls request for a matrix (n, n). They write all of it, as a library
// might.
int WorkspaceElements(int n) { return 2 * n + 3; }

template <typename T>
void Spoil(T* workspace, int n) {
  std::fill_n(workspace, WorkspaceElements(n), std::numeric_limits<T>::quiet_NaN());
}

// Overwrites a triangle without the diagonal.
template <typename T>
void SpoilTriangle(bool lower, int64_t n, Columns<T> a) {
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < i; ++j) {
      (lower ? a(i, j) : a(j, i)) = std::numeric_limits<T>::quiet_NaN();
    }
  }
}

cusolverStatus_t SizeOfWorkspace(cusolverDnHandle_t handle, int n, int ld, int* elements) {
  if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (!IsMatrix(n, ld) || handle->device != CurrentDevice()) return CUSOLVER_STATUS_INVALID_VALUE;
  *elements = WorkspaceElements(n);
  return CUSOLVER_STATUS_SUCCESS;
}

template <typename T>
cusolverStatus_t Potrf(cusolverDnHandle_t handle, cublasFillMode_t triangle, int n, T* a, int lda,
                       T* workspace, int elements, int* info) {
  if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (!IsMatrix(n, lda) || elements < WorkspaceElements(n)) return CUSOLVER_STATUS_INVALID_VALUE;
  return Queued({.name = absl::StrCat(NameOf<T>("potrf"), " (n ", n, ")"),
                 .device = handle->device,
                 .stream = handle->stream,
                 .ranges = {{a, BytesOf<T>(n, n, lda)},
                            {workspace, BytesOf<T>(elements, 1, elements)},
                            {info, sizeof(int)}},
                 .flops = int64_t{1} * n * n * n / 3,
                 .run = [=] {
                   Spoil(workspace, n);
                   *info = FactorCholesky<T>(triangle == CUBLAS_FILL_MODE_LOWER, n, {a, lda});
                   return cudaSuccess;
                 }});
}

template <typename T>
cusolverStatus_t PotrfBatched(cusolverDnHandle_t handle, cublasFillMode_t triangle, int n, T** a,
                              int lda, int* info, int count) {
  if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (!IsMatrix(n, lda) || count < 0) return CUSOLVER_STATUS_INVALID_VALUE;
  const auto run = [=] {
    if (!PointToDevice("cusolverDnpotrfBatched", reinterpret_cast<const void* const*>(a), count,
                       BytesOf<T>(n, n, lda))) {
      return cudaErrorIllegalAddress;
    }
    for (int i = 0; i < count; ++i) {
      const Columns<T> matrix = {a[i], lda};
      const bool lower = triangle == CUBLAS_FILL_MODE_LOWER;
      info[i] = FactorCholesky<T>(lower, n, matrix);
      SpoilTriangle<T>(!lower, n, matrix);  // cuSOLVER uses it as scratch memory
    }
    return cudaSuccess;
  };
  return Queued({.name = absl::StrCat(NameOf<T>("potrfBatched"), " (", count, " times n ", n, ")"),
                 .device = handle->device,
                 .stream = handle->stream,
                 .ranges = {{a, count * static_cast<int64_t>(sizeof(void*))},
                            {info, count * static_cast<int64_t>(sizeof(int))}},
                 .flops = int64_t{1} * count * n * n * n / 3,
                 .run = run});
}

template <typename T>
cusolverStatus_t Getrf(cusolverDnHandle_t handle, int m, int n, T* a, int lda, T* workspace,
                       int* pivots, int* info) {
  if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (m != n || !IsMatrix(n, lda)) return CUSOLVER_STATUS_INVALID_VALUE;
  const int elements = WorkspaceElements(n);
  return Queued({.name = absl::StrCat(NameOf<T>("getrf"), " (n ", n, ")"),
                 .device = handle->device,
                 .stream = handle->stream,
                 .ranges = {{a, BytesOf<T>(n, n, lda)},
                            {workspace, BytesOf<T>(elements, 1, elements)},
                            {pivots, n * static_cast<int64_t>(sizeof(int))},
                            {info, sizeof(int)}},
                 .flops = int64_t{2} * n * n * n / 3,
                 .run = [=] {
                   Spoil(workspace, n);
                   *info = FactorLu<T>(n, {a, lda}, pivots);
                   return cudaSuccess;
                 }});
}

template <typename T>
cusolverStatus_t Getrs(cusolverDnHandle_t handle, cublasOperation_t operation, int n, int columns,
                       const T* a, int lda, const int* pivots, T* b, int ldb, int* info) {
  if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (columns < 0 || !IsMatrix(n, lda) || !IsMatrix(n, ldb)) return CUSOLVER_STATUS_INVALID_VALUE;
  return Queued({.name = absl::StrCat(NameOf<T>("getrs"), " (n ", n, ", columns ", columns, ")"),
                 .device = handle->device,
                 .stream = handle->stream,
                 .ranges = {{a, BytesOf<T>(n, n, lda)},
                            {b, BytesOf<T>(n, columns, ldb)},
                            {pivots, n * static_cast<int64_t>(sizeof(int))},
                            {info, sizeof(int)}},
                 .flops = int64_t{2} * n * n * columns,
                 .run = [=] {
                   SolveLu<T>(operation != CUBLAS_OP_N, n, columns, {a, lda}, pivots, {b, ldb});
                   *info = 0;
                   return cudaSuccess;
                 }});
}

template <typename T>
cusolverStatus_t PotrfBufferSize(cusolverDnHandle_t handle, cublasFillMode_t, int n, T*, int lda,
                                 int* elements) {
  return SizeOfWorkspace(handle, n, lda, elements);
}

template <typename T>
cusolverStatus_t GetrfBufferSize(cusolverDnHandle_t handle, int m, int n, T*, int lda,
                                 int* elements) {
  return SizeOfWorkspace(handle, std::max(m, n), lda, elements);
}

cusolverStatus_t Create(cusolverDnHandle_t* handle) {
  *handle = new cusolverDnContext{.device = CurrentDevice()};
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t Destroy(cusolverDnHandle_t handle) {
  if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
  delete handle;
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t SetStream(cusolverDnHandle_t handle, cudaStream_t stream) {
  if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
  handle->stream = stream;
  return CUSOLVER_STATUS_SUCCESS;
}

struct NamedFunction {
  std::string_view name;
  void* function;
};

}  // namespace

void* FindCusolverFunction(std::string_view name) {
// Casts to the type that NVIDIA's header declares.
#define FUNCTION(name, function) \
  { #name, reinterpret_cast < void*>(static_cast <decltype(&(name))>(function)) }
#define FUNCTIONS(rest, function) \
  FUNCTION(cusolverDnS##rest, function<float>), FUNCTION(cusolverDnD##rest, function<double>)
  static const NamedFunction kFunctions[] = {
      FUNCTION(cusolverDnCreate, Create),
      FUNCTION(cusolverDnDestroy, Destroy),
      FUNCTION(cusolverDnSetStream, SetStream),
      FUNCTIONS(potrf_bufferSize, PotrfBufferSize),
      FUNCTIONS(potrf, Potrf),
      FUNCTIONS(potrfBatched, PotrfBatched),
      FUNCTIONS(getrf_bufferSize, GetrfBufferSize),
      FUNCTIONS(getrf, Getrf),
      FUNCTIONS(getrs, Getrs),
  };
#undef FUNCTIONS
#undef FUNCTION
  for (const NamedFunction& known : kFunctions) {
    if (known.name == name) return known.function;
  }
  return nullptr;
}

}  // namespace cooper::cuda_emulator
