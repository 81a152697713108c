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
  // float32 proper, not of TF32. Queued on `stream`; thread-safe.
  absl::Status Gemm(cudaStream_t stream, bool transpose_a, bool transpose_b, int64_t m, int64_t n,
                    int64_t k, const float* a, int64_t lda, const float* b, int64_t ldb, bool add,
                    float* c, int64_t ldc);

  // The same of matrices of float32, float64, float16 or bfloat16; the sums of the last two are of
  // float32. kFailedPrecondition if the library has no products of these.
  absl::Status Gemm(cudaStream_t stream, DType dtype, bool transpose_a, bool transpose_b, int64_t m,
                    int64_t n, int64_t k, const void* a, int64_t lda, const void* b, int64_t ldb,
                    bool add, void* c, int64_t ldc);

  // `count` such products: matrices of product i begin i strides behind those of the first, in
  // elements. The same A or B, with a stride of 0, may serve for all.
  struct Strides {
    int64_t a = 0, b = 0, c = 0;
  };
  absl::Status GemmBatched(cudaStream_t stream, DType dtype, bool transpose_a, bool transpose_b,
                           int64_t m, int64_t n, int64_t k, const void* a, int64_t lda,
                           const void* b, int64_t ldb, bool add, void* c, int64_t ldc,
                           const Strides& strides, int64_t count);

 private:
  explicit Cublas(void* handle) : handle_(handle) {}

  void* const handle_;  // a cublasHandle_t
  std::mutex mutex_;    // a handle is used by one thread at a time
};

}  // namespace cooper

#endif  // COOPER_NDARRAY_CUDA_CUBLAS_H_
