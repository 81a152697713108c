#ifndef COOPER_NDARRAY_CUDA_CUSOLVER_H_
#define COOPER_NDARRAY_CUDA_CUSOLVER_H_

// Factorizations on a GPU, by cuSOLVER, which is opened at run time as cuBLAS is (cublas.h).
// Matrices lie in rows, are of float32 or float64, and are in memory of this device, which must be
// the current one, as are `info`, `pivots`, and arrays of pointers. Everything is queued on
// `stream`, but for one that is captured: kFailedPrecondition. Thread-safe. Sides and counts must
// be ints: else kInvalidArgument.

#include <cstdint>
#include <mutex>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cuda_runtime.h"
#include "ndarray/base/dtype.h"

namespace cooper {

class Cusolver {
 public:
  // That of a device, made at the first call and kept. FindDevice's errors; kFailedPrecondition,
  // saying where it was looked for, if the library is not installed.
  static absl::StatusOr<Cusolver*> Of(int device_id);

  // OK if the library and every function of it that is used here is found.
  static absl::Status CheckInstalled();

  // How many bytes Cholesky() and FactorLu() of a matrix (n, n) need beside it.
  absl::StatusOr<int64_t> CholeskyBytes(DType dtype, int64_t n);
  absl::StatusOr<int64_t> LuBytes(DType dtype, int64_t n);

  // The lower triangular L with A = L * L^T in the place of A's lower triangle, all of A that is
  // read; what is above it stays. `info` becomes 0, or the number, from 1, of the first row at
  // which A is not positive definite.
  absl::Status Cholesky(cudaStream_t stream, DType dtype, int64_t n, void* a, void* workspace,
                        int64_t workspace_bytes, int* info);
  // The same of `count` matrices, which are pointed to; an `info` for each. What is above the
  // diagonals is lost.
  absl::Status CholeskyBatched(cudaStream_t stream, DType dtype, int64_t count, int64_t n,
                               void* const* a, int* info);

  // One matrix, as Cublas::FactorLuBatched() and SolveLuBatched() do it for many.
  absl::Status FactorLu(cudaStream_t stream, DType dtype, int64_t n, void* a, void* workspace,
                        int* pivots, int* info);
  absl::Status SolveLu(cudaStream_t stream, DType dtype, bool transpose, int64_t n, const void* lu,
                       const int* pivots, void* x, int* info);

 private:
  explicit Cusolver(void* handle) : handle_(handle) {}

  void* const handle_;  // a cusolverDnHandle_t
  std::mutex mutex_;    // a handle is used by one thread at a time
};

}  // namespace cooper

#endif  // COOPER_NDARRAY_CUDA_CUSOLVER_H_
