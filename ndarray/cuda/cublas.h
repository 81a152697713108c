#ifndef COOPER_NDARRAY_CUDA_CUBLAS_H_
#define COOPER_NDARRAY_CUDA_CUBLAS_H_

// Matrix products on a GPU, triangular systems, and LU factorizations of many small matrices, by
// cuBLAS. The library is opened at run time, so that a program that links this also starts where it
// is not installed. Matrices lie in rows.

#include <cstdint>
#include <mutex>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cuda_runtime.h"
#include "ndarray/base/dtype.h"

namespace cooper {

// Several products of matrices of one shape, each so many elements after the one before.
struct GemmBatch {
  int64_t count = 1;
  int64_t stride_a = 0, stride_b = 0, stride_c = 0;
};

// Triangular matrices A (side, side), one after the other, and as many matrices B (rows, columns):
// op(A) stands before them, or after them where it is on the right.
struct TriangularSystems {
  bool lower = true;  // which triangle of A is read
  bool transpose = false;
  bool rightside = false;
  int64_t count = 1;
  int64_t rows = 0, columns = 0;
  int64_t side() const { return rightside ? columns : rows; }
};

struct CublasHandle;  // cublas_library.h

class Cublas {
 public:
  // That of a device, made at the first call and kept: it takes a while, and memory of the device.
  // FindDevice's errors; kFailedPrecondition, saying where it was looked for, if the library is not
  // installed.
  static absl::StatusOr<Cublas*> Of(int device_id);

  // OK if the library and every function of it that is used here is found.
  static absl::Status CheckInstalled();

  // C = op(A) * op(B), or C += op(A) * op(B) if `add`; the matrices are those of Gemm
  // (ndarray/products/gemm.h), in the memory of this device, which must be the current one.
  // Products are of float32 proper, not of TF32 unless that is allowed (tf32.h). Queued on
  // `stream`; thread-safe.
  absl::Status Gemm(cudaStream_t stream, bool transpose_a, bool transpose_b, int64_t m, int64_t n,
                    int64_t k, const float* a, int64_t lda, const float* b, int64_t ldb, bool add,
                    float* c, int64_t ldc);

  // The same of matrices of float32, float64, float16 or bfloat16; the sums of the last two are of
  // float32. kFailedPrecondition if the library has no products of these.
  absl::Status Gemm(cudaStream_t stream, DType dtype, bool transpose_a, bool transpose_b, int64_t m,
                    int64_t n, int64_t k, const void* a, int64_t lda, const void* b, int64_t ldb,
                    bool add, void* c, int64_t ldc);

  // C = alpha * op(A) * op(B), or added to C, for each pair of matrices of a batch, in one call.
  // The strides of A and B may be 0. kFailedPrecondition if the library has no such products.
  absl::Status GemmBatched(cudaStream_t stream, DType dtype, const GemmBatch& batch,
                           bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k,
                           double alpha, const void* a, int64_t lda, const void* b, int64_t ldb,
                           bool add, void* c, int64_t ldc);

  // The X of op(A) * X = alpha * B, or of X * op(A) = alpha * B, in place of the B's at `x`. Of
  // float32 or float64. kFailedPrecondition if the library has no such function, here and below.
  absl::Status SolveTriangular(cudaStream_t stream, DType dtype, const TriangularSystems& systems,
                               double alpha, const void* a, void* x);

  // The same of many at once, `count` pointers to either, which lie in memory of the device.
  absl::Status SolveTriangularBatched(cudaStream_t stream, DType dtype,
                                      const TriangularSystems& systems, double alpha,
                                      const void* const* a, void* const* x);

  // The LU factorizations, with partial pivoting, of the transposes of `count` matrices (n, n), in
  // their place: n pivots each, numbered from 1, and in `info` the number, from 1, of the first of
  // them that is 0, else 0. Everything lies in memory of the device; kInvalidArgument where n or
  // count is no int.
  absl::Status FactorLuBatched(cudaStream_t stream, DType dtype, int64_t count, int64_t n,
                               void* const* a, int* pivots, int* info);

  // X * A = B, or X * A^T = B if `transpose`, of square matrices in place of the B's, for what was
  // factored into `lu` and `pivots`.
  absl::Status SolveLuBatched(cudaStream_t stream, DType dtype, bool transpose, int64_t count,
                              int64_t n, const void* const* lu, const int* pivots, void* const* x);

 private:
  explicit Cublas(const CublasHandle* handle) : handle_(handle) {}

  const CublasHandle* const handle_;
  std::mutex mutex_;  // a handle is used by one thread at a time
};

}  // namespace cooper

#endif  // COOPER_NDARRAY_CUDA_CUBLAS_H_
