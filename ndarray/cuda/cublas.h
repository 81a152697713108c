#ifndef COOPER_NDARRAY_CUDA_CUBLAS_H_
#define COOPER_NDARRAY_CUDA_CUBLAS_H_

// Matrix products on a GPU, by cuBLAS. The library is opened at run time, so that a program that
// links this also starts where it is not installed.

#include <cstdint>
#include <mutex>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cuda_runtime.h"
#include "ndarray/dtype.h"

namespace cooper {

// Several products of matrices of one shape, each so many elements after the one before.
struct GemmBatch {
  int64_t count = 1;
  int64_t stride_a = 0, stride_b = 0, stride_c = 0;
};

class Cublas {
 public:
  // That of a device, made at the first call and kept: it takes a while, and memory of the device.
  // FindDevice's errors; kFailedPrecondition, saying where it was looked for, if the library is not
  // installed.
  static absl::StatusOr<Cublas*> Of(int device_id);

  // OK if the library and every function of it that is used here is found.
  static absl::Status CheckInstalled();

  // C = op(A) * op(B), or C += op(A) * op(B) if `add`; the matrices are those of Gemm
  // (ndarray/gemm.h), in the memory of this device, which must be the current one. Products are of
  // float32 proper, not of TF32 unless that is allowed (tf32.h). Queued on `stream`; thread-safe.
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

 private:
  explicit Cublas(void* handle) : handle_(handle) {}

  void* const handle_;  // a Handle (cublas.cc)
  std::mutex mutex_;    // a handle is used by one thread at a time
};

}  // namespace cooper

#endif  // COOPER_NDARRAY_CUDA_CUBLAS_H_
