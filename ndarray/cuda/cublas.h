#ifndef COOPER_NDARRAY_CUDA_CUBLAS_H_
#define COOPER_NDARRAY_CUDA_CUBLAS_H_

// Matrix products, triangular solves and LU factorizations of many small matrices on a GPU with
// cuBLAS. The library is opened at run time, so that a program that links this file also starts
// where cuBLAS is not installed. Matrices are row-major.

#include <cstdint>
#include <mutex>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cuda_runtime.h"
#include "ndarray/base/dtype.h"

namespace cooper {

// The number of matrices in a batch, and the elements from the start of one matrix A, B or C to the
// start of the next.
struct GemmBatch {
  int64_t count = 1;
  int64_t stride_a = 0, stride_b = 0, stride_c = 0;
};

// The form of systems of equations with `count` contiguous triangular matrices A (side, side) and
// as many matrices B (rows, columns). op(A), which is A or its transpose, is the left factor of the
// product with the unknown, or the right one if `rightside`.
struct TriangularSystems {
  bool lower = true;  // whether A is its lower triangle, not its upper one
  bool transpose = false;
  bool rightside = false;
  int64_t count = 1;
  int64_t rows = 0, columns = 0;
  int64_t side() const { return rightside ? columns : rows; }
};

struct CublasHandle;  // cublas_library.h

// The cuBLAS functions of one GPU. Calls enqueue their work and return before it has run. All are
// thread-safe: they take turns on one handle. Errors of the library are kResourceExhausted if its
// memory is short, else kInternal.
class Cublas {
 public:
  // Returns the instance of a device, created at the first call and kept; creation is slow and
  // takes device memory. Errors: those of FindDevice; kFailedPrecondition, with the searched
  // places, if the library is not installed.
  static absl::StatusOr<Cublas*> Of(int device_id);

  // Returns OK if the library is installed and has the functions that it cannot do without;
  // kFailedPrecondition otherwise.
  static absl::Status CheckInstalled();

  // Enqueues C = op(A) * op(B), or C += op(A) * op(B) if `add`. The matrices are those of Gemm
  // (ndarray/products/gemm.h), in the memory of this device, which must be the current one.
  // Products use float32 arithmetic, and TF32 only where it is allowed (tf32.h).
  absl::Status Gemm(cudaStream_t stream, bool transpose_a, bool transpose_b, int64_t m, int64_t n,
                    int64_t k, const float* a, int64_t lda, const float* b, int64_t ldb, bool add,
                    float* c, int64_t ldc);

  // Computes Gemm for float32, float64, float16 or bfloat16; sums of the 16-bit types are float32.
  // kFailedPrecondition if the library has no products of these types.
  absl::Status Gemm(cudaStream_t stream, DType dtype, bool transpose_a, bool transpose_b, int64_t m,
                    int64_t n, int64_t k, const void* a, int64_t lda, const void* b, int64_t ldb,
                    bool add, void* c, int64_t ldc);

  // Enqueues C = alpha * op(A) * op(B), or C += that product if `add`, for each pair of matrices of
  // a batch, in one call. The strides of A and B may be 0. kFailedPrecondition if the library has
  // no such products.
  absl::Status GemmBatched(cudaStream_t stream, DType dtype, const GemmBatch& batch,
                           bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k,
                           double alpha, const void* a, int64_t lda, const void* b, int64_t ldb,
                           bool add, void* c, int64_t ldc);

  // Overwrites each B at `x` with the solution X of op(A) * X = alpha * B, or of X * op(A) = alpha
  // * B. float32 or float64. kFailedPrecondition, here and below, if the library lacks the
  // function.
  absl::Status SolveTriangular(cudaStream_t stream, DType dtype, const TriangularSystems& systems,
                               double alpha, const void* a, void* x);

  // Does what SolveTriangular does for matrices that are not contiguous: `a` and `x` are arrays, in
  // device memory, of `count` pointers each.
  absl::Status SolveTriangularBatched(cudaStream_t stream, DType dtype,
                                      const TriangularSystems& systems, double alpha,
                                      const void* const* a, void* const* x);

  // Factorizes the transposes of `count` matrices (n, n) in place into L and U with partial
  // pivoting. Writes n pivots per matrix, numbered from 1, and to `info` the number, from 1, of the
  // first zero on the diagonal of U, or 0. All arrays are in device memory. kInvalidArgument if n
  // or count exceeds an int.
  absl::Status FactorLuBatched(cudaStream_t stream, DType dtype, int64_t count, int64_t n,
                               void* const* a, int* pivots, int* info);

  // Overwrites each B (rows, n) at `x` with the solution of X * A = B, or of X * A^T = B if
  // `transpose`, where FactorLuBatched has factorized A (n, n) into `lu` and `pivots`.
  // kInvalidArgument if n, rows or count exceeds an int.
  absl::Status SolveLuBatched(cudaStream_t stream, DType dtype, bool transpose, int64_t count,
                              int64_t rows, int64_t n, const void* const* lu, const int* pivots,
                              void* const* x);

 private:
  explicit Cublas(const CublasHandle* handle) : handle_(handle) {}

  const CublasHandle* const handle_;
  std::mutex mutex_;  // a handle is used by one thread at a time
};

}  // namespace cooper

#endif  // COOPER_NDARRAY_CUDA_CUBLAS_H_
