#include "ndarray/cuda/cublas.h"

#include <map>
#include <mutex>

#include "absl/strings/str_cat.h"
#include "cublas_v2.h"
#include "ndarray/array/device.h"
#include "ndarray/array/queue_of.h"
#include "ndarray/base/context.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/cuda/cublas_library.h"
#include "ndarray/cuda/cuda_status.h"
#include "ndarray/cuda/device_scope.h"
#include "ndarray/cuda/tf32.h"

namespace cooper {
namespace {

cudaDataType_t DataType(DType dtype) {
  switch (dtype) {
    case DType::kFloat64:
      return CUDA_R_64F;
    case DType::kFloat16:
      return CUDA_R_16F;
    case DType::kBfloat16:
      return CUDA_R_16BF;
    default:
      return CUDA_R_32F;
  }
}

cublasComputeType_t ComputeTypeFor(DType dtype) {
  return dtype == DType::kFloat64 ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F;
}

// A scalar factor of products of `dtype`, in the type of the sums, which cuBLAS expects.
class Factor {
 public:
  Factor(DType dtype, double value)
      : is_double_(dtype == DType::kFloat64), float_(static_cast<float>(value)), double_(value) {}
  const void* get() const { return is_double_ ? static_cast<const void*>(&double_) : &float_; }

 private:
  bool is_double_;
  float float_;
  double double_;
};

cublasOperation_t Operation(bool transpose) { return transpose ? CUBLAS_OP_T : CUBLAS_OP_N; }

cublasMath_t MathMode() {
  // Without this flag partial sums of 16-bit products may be rounded before they are added.
  constexpr int kWholeSums = CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION;
  return static_cast<cublasMath_t>(
      kWholeSums | (Tf32IsAllowed() ? CUBLAS_TF32_TENSOR_OP_MATH : CUBLAS_DEFAULT_MATH));
}

}  // namespace

absl::Status Cublas::CheckInstalled() { return GetCublasFunctions().status(); }

absl::StatusOr<Cublas*> Cublas::Of(int device_id) {
  COOPER_RETURN_IF_ERROR(FindDevice(Context::Gpu(device_id)).status());
  COOPER_RETURN_IF_ERROR(CheckInstalled());
  static auto* mutex = new std::mutex;
  static auto* handles = new std::map<int, Cublas*>;  // never destroyed: the driver may go before
  std::lock_guard<std::mutex> lock(*mutex);
  Cublas*& cublas = (*handles)[device_id];
  if (cublas == nullptr) {
    const CudaDeviceScope scope(device_id);
    COOPER_RETURN_IF_ERROR(scope.status());
    COOPER_ASSIGN_OR_RETURN(DeviceQueue * queue, GetQueue(Context::Gpu(device_id)));
    cublasHandle_t handle = nullptr;
    COOPER_RETURN_IF_ERROR(CublasStatus(GetCublasFunctions()->create(&handle), "cublasCreate"));
    if (GetCublasFunctions()->set_math_mode != nullptr) {
      COOPER_RETURN_IF_ERROR(CublasStatus(GetCublasFunctions()->set_math_mode(handle, MathMode()),
                                          "cublasSetMathMode"));
    }
    void* workspace = nullptr;
    if (GetCublasFunctions()->set_workspace == nullptr ||
        cudaMalloc(&workspace, kCublasWorkspaceBytes) != cudaSuccess) {
      cudaGetLastError();
      workspace = nullptr;
    }
    cublas = new Cublas(new CublasHandle{.cublas = handle,
                                         .queue = static_cast<cudaStream_t>(queue->handle()),
                                         .workspace = workspace});
  }
  return cublas;
}

absl::Status Cublas::Gemm(cudaStream_t stream, bool transpose_a, bool transpose_b, int64_t m,
                          int64_t n, int64_t k, const float* a, int64_t lda, const float* b,
                          int64_t ldb, bool add, float* c, int64_t ldc) {
  if (m == 0 || n == 0) return absl::OkStatus();
  if (k == 0) {
    if (add) return absl::OkStatus();
    return CudaStatus(cudaMemset2DAsync(c, ldc * sizeof(float), 0, n * sizeof(float), m, stream),
                      "zeroing an empty product");
  }
  const CublasHandle& handle = *handle_;
  const float alpha = 1;
  const float beta = add ? 1 : 0;
  std::lock_guard<std::mutex> lock(mutex_);
  COOPER_RETURN_IF_ERROR(UseStream(handle, stream));
  // cuBLAS is column-major, so it sees transposes: C^T = op(B)^T * op(A)^T.
  return CublasStatus(
      GetCublasFunctions()->sgemm(handle.cublas, Operation(transpose_b), Operation(transpose_a), n,
                                  m, k, &alpha, b, ldb, a, lda, &beta, c, ldc),
      absl::StrCat("cublasSgemm (m ", m, ", n ", n, ", k ", k, ")"));
}

absl::Status Cublas::Gemm(cudaStream_t stream, DType dtype, bool transpose_a, bool transpose_b,
                          int64_t m, int64_t n, int64_t k, const void* a, int64_t lda,
                          const void* b, int64_t ldb, bool add, void* c, int64_t ldc) {
  if (dtype == DType::kFloat32) {
    return Gemm(stream, transpose_a, transpose_b, m, n, k, static_cast<const float*>(a), lda,
                static_cast<const float*>(b), ldb, add, static_cast<float*>(c), ldc);
  }
  if (m == 0 || n == 0) return absl::OkStatus();
  if (k == 0) {
    if (add) return absl::OkStatus();
    return CudaStatus(cudaMemset2DAsync(c, ldc * SizeOf(dtype), 0, n * SizeOf(dtype), m, stream),
                      "zeroing an empty product");
  }
  const CublasFunctions& functions = *GetCublasFunctions();
  if (functions.gemm_ex == nullptr) {
    return absl::FailedPreconditionError(absl::StrCat(CublasLibraryName(),
                                                      " has no cublasGemmEx_64, which products of ",
                                                      DTypeName(dtype), " need"));
  }
  const CublasHandle& handle = *handle_;
  const Factor alpha(dtype, 1), beta(dtype, add ? 1 : 0);
  const cudaDataType_t type = DataType(dtype);
  std::lock_guard<std::mutex> lock(mutex_);
  COOPER_RETURN_IF_ERROR(UseStream(handle, stream));
  return CublasStatus(
      functions.gemm_ex(handle.cublas, Operation(transpose_b), Operation(transpose_a), n, m, k,
                        alpha.get(), b, type, ldb, a, type, lda, beta.get(), c, type, ldc,
                        ComputeTypeFor(dtype), CUBLAS_GEMM_DEFAULT),
      absl::StrCat("cublasGemmEx of ", DTypeName(dtype), " (m ", m, ", n ", n, ", k ", k, ")"));
}

absl::Status Cublas::GemmBatched(cudaStream_t stream, DType dtype, const GemmBatch& batch,
                                 bool transpose_a, bool transpose_b, int64_t m, int64_t n,
                                 int64_t k, double alpha, const void* a, int64_t lda, const void* b,
                                 int64_t ldb, bool add, void* c, int64_t ldc) {
  if (batch.count == 0 || m == 0 || n == 0 || (k == 0 && add)) return absl::OkStatus();
  if (k == 0) {
    const int64_t size = SizeOf(dtype);
    for (int64_t i = 0; i < batch.count; ++i) {
      COOPER_RETURN_IF_ERROR(
          CudaStatus(cudaMemset2DAsync(static_cast<char*>(c) + i * batch.stride_c * size,
                                       ldc * size, 0, n * size, m, stream),
                     "zeroing an empty product"));
    }
    return absl::OkStatus();
  }
  const CublasFunctions& functions = *GetCublasFunctions();
  if (functions.gemm_batched == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat(CublasLibraryName(), " has no cublasGemmStridedBatchedEx_64"));
  }
  const CublasHandle& handle = *handle_;
  const Factor scale(dtype, alpha), beta(dtype, add ? 1 : 0);
  const cudaDataType_t type = DataType(dtype);
  std::lock_guard<std::mutex> lock(mutex_);
  COOPER_RETURN_IF_ERROR(UseStream(handle, stream));
  return CublasStatus(
      functions.gemm_batched(handle.cublas, Operation(transpose_b), Operation(transpose_a), n, m, k,
                             scale.get(), b, type, ldb, batch.stride_b, a, type, lda,
                             batch.stride_a, beta.get(), c, type, ldc, batch.stride_c, batch.count,
                             ComputeTypeFor(dtype), CUBLAS_GEMM_DEFAULT),
      absl::StrCat("cublasGemmStridedBatchedEx of ", DTypeName(dtype), " (", batch.count,
                   " times m ", m, ", n ", n, ", k ", k, ")"));
}

}  // namespace cooper
