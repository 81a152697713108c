#ifndef COOPER_NDARRAY_CUDA_CUSOLVER_H_
#define COOPER_NDARRAY_CUDA_CUSOLVER_H_

// Factorizations on a GPU with cuSOLVER, which is opened at run time as cuBLAS is (cublas.h).
// Matrices are row-major, float32 or float64. Matrices, `info`, `pivots` and arrays of pointers are
// in the memory of this device, which must be the current one. Calls enqueue on `stream`. Errors:
// kFailedPrecondition while `stream` is captured; kInvalidArgument if a side, a number of
// rows or a count exceeds an int. Thread-safe.

#include <cstdint>
#include <mutex>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cuda_runtime.h"
#include "ndarray/base/dtype.h"

namespace cooper {

// The cuSOLVER functions of one GPU, for few large matrices; cublas.h has LU factorizations of many
// small ones.
class Cusolver {
 public:
  // Returns the instance of a device, created at the first call and kept. Errors: those of
  // FindDevice; kFailedPrecondition, with the searched places, if the library is not installed.
  static absl::StatusOr<Cusolver*> Of(int device_id);

  // Returns OK if the library has every function that cooper uses.
  static absl::Status CheckInstalled();

  // Return the workspace in bytes that Cholesky() and FactorLu() need for a matrix (n, n).
  absl::StatusOr<int64_t> CholeskyBytes(DType dtype, int64_t n);
  absl::StatusOr<int64_t> LuBytes(DType dtype, int64_t n);

  // Overwrites A's lower triangle with L, where A = L * L^T. Only the lower triangle is read;
  // elements above it are kept. `info` becomes 0, or the number, from 1, of the first row at which
  // A is not positive definite.
  absl::Status Cholesky(cudaStream_t stream, DType dtype, int64_t n, void* a, void* workspace,
                        int64_t workspace_bytes, int* info);
  // Factorizes `count` matrices, given by pointers, as Cholesky does, with one `info` each. Unlike
  // in Cholesky, the elements above the diagonals are overwritten.
  absl::Status CholeskyBatched(cudaStream_t stream, DType dtype, int64_t count, int64_t n,
                               void* const* a, int* info);

  // Factorize one matrix and solve one system as Cublas::FactorLuBatched() and SolveLuBatched() do
  // for many. FactorLu needs a workspace of LuBytes().
  absl::Status FactorLu(cudaStream_t stream, DType dtype, int64_t n, void* a, void* workspace,
                        int* pivots, int* info);
  absl::Status SolveLu(cudaStream_t stream, DType dtype, bool transpose, int64_t rows, int64_t n,
                       const void* lu, const int* pivots, void* x, int* info);

 private:
  explicit Cusolver(void* handle) : handle_(handle) {}

  void* const handle_;  // a cusolverDnHandle_t
  std::mutex mutex_;    // a handle is used by one thread at a time
};

}  // namespace cooper

#endif  // COOPER_NDARRAY_CUDA_CUSOLVER_H_
