#include "ndarray/cuda/cublas.h"

#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "cublas_v2.h"
#include "ndarray/context.h"
#include "ndarray/cuda/cuda_status.h"
#include "ndarray/cuda/device_scope.h"
#include "ndarray/cuda/tf32.h"
#include "ndarray/device.h"
#include "ndarray/dtype.h"
#include "ndarray/queue_of.h"
#include "ndarray/status_macros.h"
#include "third_party/cuda/library_functions.h"

namespace cooper {
namespace {

// The major version of the headers is the library's ABI.
std::string LibraryName() { return absl::StrCat("libcublas.so.", CUBLAS_VER_MAJOR); }

struct Functions {
  decltype(&cublasCreate_v2) create = nullptr;
  decltype(&cublasSetStream_v2) set_stream = nullptr;
  decltype(&cublasSgemm_v2_64) sgemm = nullptr;  // extents are int64_t
  decltype(&cublasGetStatusString) status_string = nullptr;
  // Null where the library lacks them.
  decltype(&cublasGemmEx_64) gemm_ex = nullptr;
  decltype(&cublasGemmStridedBatchedEx_64) gemm_batched = nullptr;
  decltype(&cublasSetMathMode) set_math_mode = nullptr;
  decltype(&cublasSetWorkspace_v2) set_workspace = nullptr;
};

absl::StatusOr<Functions> LoadFunctions() {
  LibraryFunctions library(LibraryName(), " is needed for products on a gpu and");
  Functions functions;
  library.Find("cublasCreate_v2", functions.create);
  library.Find("cublasSetStream_v2", functions.set_stream);
  library.Find("cublasSgemm_v2_64", functions.sgemm);
  library.Find("cublasGetStatusString", functions.status_string);
  library.FindOptional("cublasGemmEx_64", functions.gemm_ex);
  library.FindOptional("cublasGemmStridedBatchedEx_64", functions.gemm_batched);
  library.FindOptional("cublasSetMathMode", functions.set_math_mode);
  library.FindOptional("cublasSetWorkspace_v2", functions.set_workspace);
  COOPER_RETURN_IF_ERROR(library.status());
  return functions;
}

const absl::StatusOr<Functions>& TheFunctions() {
  static const auto* functions = new absl::StatusOr<Functions>(LoadFunctions());
  return *functions;
}

// Requires that the functions are there.
absl::Status CublasStatus(cublasStatus_t status, absl::string_view call) {
  if (status == CUBLAS_STATUS_SUCCESS) return absl::OkStatus();
  const std::string message = absl::StrCat(call, ": ", TheFunctions()->status_string(status));
  if (status == CUBLAS_STATUS_ALLOC_FAILED) return absl::ResourceExhaustedError(message);
  return absl::InternalError(message);
}

// What NVIDIA recommends for an H100; earlier GPUs need less.
constexpr size_t kWorkspaceBytes = size_t{32} << 20;

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

// A factor of products of `dtype`, as cuBLAS wants it: of the type that sums are of.
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
  // Else parts of a product of 16-bit floats may be rounded before they are added.
  constexpr int kWholeSums = CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION;
  return static_cast<cublasMath_t>(
      kWholeSums | (Tf32IsAllowed() ? CUBLAS_TF32_TENSOR_OP_MATH : CUBLAS_DEFAULT_MATH));
}

// What Cublas::handle_ points to.
struct Handle {
  cublasHandle_t cublas = nullptr;
  cudaStream_t queue = nullptr;  // of the device's own queue (QueueOf)
  void* workspace = nullptr;     // of that queue, or null: the library then sees to itself
};

// Whether what is put into `stream` runs in the device's own queue: there itself, or in a graph.
absl::StatusOr<bool> RunsInQueue(const Handle& handle, cudaStream_t stream) {
  if (stream == handle.queue) return true;
  if (stream == nullptr) return false;
  cudaStreamCaptureStatus capturing = cudaStreamCaptureStatusNone;
  COOPER_RETURN_IF_ERROR(
      CudaStatus(cudaStreamIsCapturing(stream, &capturing), "cudaStreamIsCapturing"));
  return capturing == cudaStreamCaptureStatusActive;
}

// Makes the handle put its work into `stream`. The library must not allocate in what is captured,
// and chooses an algorithm by the size of its workspace: what is launched has the same one as what
// is recorded, so that both have the same bits. Work of one queue can share it, which other streams
// must not use meanwhile.
absl::Status UseStream(const Handle& handle, cudaStream_t stream) {
  // Takes the workspace away.
  COOPER_RETURN_IF_ERROR(
      CublasStatus(TheFunctions()->set_stream(handle.cublas, stream), "cublasSetStream"));
  if (handle.workspace == nullptr) return absl::OkStatus();
  COOPER_ASSIGN_OR_RETURN(const bool in_queue, RunsInQueue(handle, stream));
  if (!in_queue) return absl::OkStatus();
  return CublasStatus(
      TheFunctions()->set_workspace(handle.cublas, handle.workspace, kWorkspaceBytes),
      "cublasSetWorkspace");
}

}  // namespace

absl::Status Cublas::CheckInstalled() { return TheFunctions().status(); }

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
    COOPER_ASSIGN_OR_RETURN(DeviceQueue * queue, QueueOf(Context::Gpu(device_id)));
    cublasHandle_t handle = nullptr;
    COOPER_RETURN_IF_ERROR(CublasStatus(TheFunctions()->create(&handle), "cublasCreate"));
    if (TheFunctions()->set_math_mode != nullptr) {
      COOPER_RETURN_IF_ERROR(
          CublasStatus(TheFunctions()->set_math_mode(handle, MathMode()), "cublasSetMathMode"));
    }
    void* workspace = nullptr;
    if (TheFunctions()->set_workspace == nullptr ||
        cudaMalloc(&workspace, kWorkspaceBytes) != cudaSuccess) {
      cudaGetLastError();
      workspace = nullptr;
    }
    cublas = new Cublas(new Handle{.cublas = handle,
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
  const Handle& handle = *static_cast<const Handle*>(handle_);
  const float alpha = 1;
  const float beta = add ? 1 : 0;
  std::lock_guard<std::mutex> lock(mutex_);
  COOPER_RETURN_IF_ERROR(UseStream(handle, stream));
  // cuBLAS takes the same memory for columns, hence for transposes: C^T = op(B)^T * op(A)^T.
  return CublasStatus(
      TheFunctions()->sgemm(handle.cublas, Operation(transpose_b), Operation(transpose_a), n, m, k,
                            &alpha, b, ldb, a, lda, &beta, c, ldc),
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
  const Functions& functions = *TheFunctions();
  if (functions.gemm_ex == nullptr) {
    return absl::FailedPreconditionError(absl::StrCat(
        LibraryName(), " has no cublasGemmEx_64, which products of ", DTypeName(dtype), " need"));
  }
  const Handle& handle = *static_cast<const Handle*>(handle_);
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
  const Functions& functions = *TheFunctions();
  if (functions.gemm_batched == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat(LibraryName(), " has no cublasGemmStridedBatchedEx_64"));
  }
  const Handle& handle = *static_cast<const Handle*>(handle_);
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
