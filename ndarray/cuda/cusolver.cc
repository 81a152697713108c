#include "ndarray/cuda/cusolver.h"

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "cusolverDn.h"
#include "ndarray/array/device.h"
#include "ndarray/base/context.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/cuda/cuda_status.h"
#include "ndarray/cuda/device_scope.h"
#include "ndarray/cuda/library_functions.h"
#include "ndarray/cuda/solver_ints.h"

namespace cooper {
namespace {

// The functions for element type T.
template <typename T>
struct TypedFunctions {
  using BytesFn = cusolverStatus_t (*)(cusolverDnHandle_t, cublasFillMode_t, int, T*, int, int*);
  using CholeskyFn = cusolverStatus_t (*)(cusolverDnHandle_t, cublasFillMode_t, int, T*, int, T*,
                                          int, int*);
  using CholeskyBatchedFn = cusolverStatus_t (*)(cusolverDnHandle_t, cublasFillMode_t, int, T**,
                                                 int, int*, int);
  using LuBytesFn = cusolverStatus_t (*)(cusolverDnHandle_t, int, int, T*, int, int*);
  using LuFn = cusolverStatus_t (*)(cusolverDnHandle_t, int, int, T*, int, T*, int*, int*);
  using SolveLuFn = cusolverStatus_t (*)(cusolverDnHandle_t, cublasOperation_t, int, int, const T*,
                                         int, const int*, T*, int, int*);
  BytesFn potrf_bytes = nullptr;
  CholeskyFn potrf = nullptr;
  CholeskyBatchedFn potrf_batched = nullptr;
  LuBytesFn getrf_bytes = nullptr;
  LuFn getrf = nullptr;
  SolveLuFn getrs = nullptr;

  void Find(LibraryFunctions& library, absl::string_view letter) {
    const auto name = [&](absl::string_view rest) {
      return absl::StrCat("cusolverDn", letter, rest);
    };
    library.Find(name("potrf_bufferSize").c_str(), potrf_bytes);
    library.Find(name("potrf").c_str(), potrf);
    library.Find(name("potrfBatched").c_str(), potrf_batched);
    library.Find(name("getrf_bufferSize").c_str(), getrf_bytes);
    library.Find(name("getrf").c_str(), getrf);
    library.Find(name("getrs").c_str(), getrs);
  }
};

struct Functions {
  decltype(&cusolverDnCreate) create = nullptr;
  decltype(&cusolverDnSetStream) set_stream = nullptr;
  TypedFunctions<float> of_float;
  TypedFunctions<double> of_double;
};

absl::StatusOr<Functions> LoadFunctions() {
  // The major version of the headers is the library's ABI.
  LibraryFunctions library(absl::StrCat("libcusolver.so.", CUSOLVER_VER_MAJOR),
                           " is needed for factorizations of matrices on a gpu and");
  Functions functions;
  library.Find("cusolverDnCreate", functions.create);
  library.Find("cusolverDnSetStream", functions.set_stream);
  functions.of_float.Find(library, "S");
  functions.of_double.Find(library, "D");
  COOPER_RETURN_IF_ERROR(library.status());
  return functions;
}

const absl::StatusOr<Functions>& GetFunctions() {
  static const auto* functions = new absl::StatusOr<Functions>(LoadFunctions());
  return *functions;
}

// Calls fn(T{0}, TypedFunctions<T>) and returns its status.
template <typename Fn>
absl::Status Dispatch(DType dtype, Fn&& fn) {
  const Functions& functions = *GetFunctions();
  return dtype == DType::kFloat64 ? fn(0.0, functions.of_double) : fn(0.0F, functions.of_float);
}

absl::Status CusolverStatus(cusolverStatus_t status, absl::string_view call) {
  if (status == CUSOLVER_STATUS_SUCCESS) return absl::OkStatus();
  const std::string message =
      absl::StrCat("cusolverDn", call, ": cusolverStatus_t ", static_cast<int>(status));
  if (status == CUSOLVER_STATUS_ALLOC_FAILED) return absl::ResourceExhaustedError(message);
  return absl::InternalError(message);
}

absl::Status Checked(cusolverStatus_t status, absl::string_view call, DType dtype, int64_t count,
                     int64_t n) {
  if (status == CUSOLVER_STATUS_SUCCESS) return absl::OkStatus();
  return CusolverStatus(status, absl::StrCat(call, " of ", DTypeName(dtype), " (", count, " times ",
                                             n, " x ", n, ")"));
}

// The lower triangle of a row-major matrix is the upper one of the column-major matrix.
constexpr cublasFillMode_t kLowerInRows = CUBLAS_FILL_MODE_UPPER;

// Directs the handle's work to `stream`. Captures are refused: NVIDIA does not document whether
// captured cuSOLVER work may run again, and a handle has memory of its own.
absl::Status UseStream(cusolverDnHandle_t handle, cudaStream_t stream) {
  cudaStreamCaptureStatus capturing = cudaStreamCaptureStatusNone;
  COOPER_RETURN_IF_ERROR(
      CudaStatus(cudaStreamIsCapturing(stream, &capturing), "cudaStreamIsCapturing"));
  if (capturing != cudaStreamCaptureStatusNone) {
    return absl::FailedPreconditionError("cuSOLVER's work is not recorded");
  }
  return CusolverStatus(GetFunctions()->set_stream(handle, stream), "SetStream");
}

cusolverDnHandle_t HandleOf(void* handle) { return static_cast<cusolverDnHandle_t>(handle); }

// Enqueues call(T{0}, TypedFunctions<T>, side) for `count` matrices (n, n), if there are any, on a
// handle that `mutex` guards.
template <typename Call>
absl::Status Queue(void* handle, std::mutex& mutex, cudaStream_t stream, absl::string_view name,
                   DType dtype, int64_t count, int64_t n, Call&& call) {
  if (n == 0 || count == 0) return absl::OkStatus();
  COOPER_RETURN_IF_ERROR(CheckSolverInts("cuSOLVER", count, n));
  std::lock_guard<std::mutex> lock(mutex);
  COOPER_RETURN_IF_ERROR(UseStream(HandleOf(handle), stream));
  return Dispatch(dtype, [&](auto zero, const auto& functions) {
    return Checked(call(zero, functions, static_cast<int>(n)), name, dtype, count, n);
  });
}

}  // namespace

absl::Status Cusolver::CheckInstalled() { return GetFunctions().status(); }

absl::StatusOr<Cusolver*> Cusolver::Of(int device_id) {
  COOPER_RETURN_IF_ERROR(FindDevice(Context::Gpu(device_id)).status());
  COOPER_RETURN_IF_ERROR(CheckInstalled());
  static auto* mutex = new std::mutex;
  static auto* handles = new std::map<int, Cusolver*>;  // never destroyed: the driver may go before
  std::lock_guard<std::mutex> lock(*mutex);
  Cusolver*& solver = (*handles)[device_id];
  if (solver == nullptr) {
    const CudaDeviceScope scope(device_id);
    COOPER_RETURN_IF_ERROR(scope.status());
    cusolverDnHandle_t handle = nullptr;
    COOPER_RETURN_IF_ERROR(CusolverStatus(GetFunctions()->create(&handle), "Create"));
    solver = new Cusolver(handle);
  }
  return solver;
}

absl::StatusOr<int64_t> Cusolver::CholeskyBytes(DType dtype, int64_t n) {
  COOPER_RETURN_IF_ERROR(CheckSolverInts("cuSOLVER", 1, n));
  if (n == 0) return 0;
  const int side = static_cast<int>(n);
  int elements = 0;
  std::lock_guard<std::mutex> lock(mutex_);
  COOPER_RETURN_IF_ERROR(Dispatch(dtype, [&](auto zero, const auto& functions) {
    using T = decltype(zero);
    return Checked(functions.potrf_bytes(HandleOf(handle_), kLowerInRows, side,
                                         static_cast<T*>(nullptr), side, &elements),
                   "potrf_bufferSize", dtype, 1, n);
  }));
  return elements * static_cast<int64_t>(SizeOf(dtype));
}

absl::StatusOr<int64_t> Cusolver::LuBytes(DType dtype, int64_t n) {
  COOPER_RETURN_IF_ERROR(CheckSolverInts("cuSOLVER", 1, n));
  if (n == 0) return 0;
  const int side = static_cast<int>(n);
  int elements = 0;
  std::lock_guard<std::mutex> lock(mutex_);
  COOPER_RETURN_IF_ERROR(Dispatch(dtype, [&](auto zero, const auto& functions) {
    using T = decltype(zero);
    return Checked(functions.getrf_bytes(HandleOf(handle_), side, side, static_cast<T*>(nullptr),
                                         side, &elements),
                   "getrf_bufferSize", dtype, 1, n);
  }));
  return elements * static_cast<int64_t>(SizeOf(dtype));
}

absl::Status Cusolver::Cholesky(cudaStream_t stream, DType dtype, int64_t n, void* a,
                                void* workspace, int64_t workspace_bytes, int* info) {
  return Queue(handle_, mutex_, stream, "potrf", dtype, 1, n,
               [&](auto zero, const auto& functions, int side) {
                 using T = decltype(zero);
                 return functions.potrf(HandleOf(handle_), kLowerInRows, side, static_cast<T*>(a),
                                        side, static_cast<T*>(workspace),
                                        static_cast<int>(workspace_bytes / sizeof(T)), info);
               });
}

absl::Status Cusolver::CholeskyBatched(cudaStream_t stream, DType dtype, int64_t count, int64_t n,
                                       void* const* a, int* info) {
  return Queue(handle_, mutex_, stream, "potrfBatched", dtype, count, n,
               [&](auto zero, const auto& functions, int side) {
                 using T = decltype(zero);
                 // cuSOLVER only reads the pointers, although the parameter is not const.
                 T** const pointers = const_cast<T**>(reinterpret_cast<T* const*>(a));
                 return functions.potrf_batched(HandleOf(handle_), kLowerInRows, side, pointers,
                                                side, info, static_cast<int>(count));
               });
}

absl::Status Cusolver::FactorLu(cudaStream_t stream, DType dtype, int64_t n, void* a,
                                void* workspace, int* pivots, int* info) {
  return Queue(handle_, mutex_, stream, "getrf", dtype, 1, n,
               [&](auto zero, const auto& functions, int side) {
                 using T = decltype(zero);
                 return functions.getrf(HandleOf(handle_), side, side, static_cast<T*>(a), side,
                                        static_cast<T*>(workspace), pivots, info);
               });
}

absl::Status Cusolver::SolveLu(cudaStream_t stream, DType dtype, bool transpose, int64_t rows,
                               int64_t n, const void* lu, const int* pivots, void* x, int* info) {
  if (rows == 0) return absl::OkStatus();
  COOPER_RETURN_IF_ERROR(CheckSolverInts("cuSOLVER", 1, rows));
  return Queue(handle_, mutex_, stream, "getrs", dtype, 1, n,
               [&](auto zero, const auto& functions, int side) {
                 using T = decltype(zero);
                 return functions.getrs(HandleOf(handle_), transpose ? CUBLAS_OP_T : CUBLAS_OP_N,
                                        side, static_cast<int>(rows), static_cast<const T*>(lu),
                                        side, pivots, static_cast<T*>(x), side, info);
               });
}

}  // namespace cooper
