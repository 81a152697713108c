#include "tests/cuda_emulator/blas/cublas.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "cublas_api.h"
#include "tests/cuda_emulator/blas/context.h"
#include "tests/cuda_emulator/blas/cublas_solve.h"
#include "tests/cuda_emulator/blas/product.h"
#include "tests/cuda_emulator/ptx/counters.h"
#include "tests/cuda_emulator/ptx/sector_cache.h"
#include "tests/cuda_emulator/runtime/api_state.h"
#include "tests/cuda_emulator/runtime/copy_check.h"
#include "tests/cuda_emulator/runtime/counters.h"
#include "tests/cuda_emulator/runtime/stream.h"

namespace cooper::cuda_emulator {
namespace {

std::map<size_t, int64_t>& ProductsByWorkspace() {
  static auto* products = new std::map<size_t, int64_t>;
  return *products;
}

int64_t ElementBytes(cudaDataType type) {
  if (type == CUDA_R_64F) return 8;
  return type == CUDA_R_16F || type == CUDA_R_16BF ? 2 : 4;
}

// Calls use(begin, bytes) for each column of one of a product's operands, which may be a batch of
// matrices.
template <typename Use>
void ForEachColumn(const Product& p, const void* data, int64_t rows, int64_t columns, int64_t ld,
                   int64_t stride, const Use& use) {
  const int64_t size = ElementBytes(p.type);
  for (int64_t i = 0; i < (stride == 0 ? 1 : p.count); ++i) {
    for (int64_t column = 0; column < columns; ++column) {
      use(static_cast<const char*>(data) + (i * stride + column * ld) * size, rows * size);
    }
  }
}

// Passes each matrix through the cache once: repeated reads by blocks would hit the cache.
void PassThrough(ptx::SectorCache& cache, const Product& p) {
  const auto read = [&cache](const char* data, int64_t bytes) { cache.ReadRange(data, bytes); };
  const auto write = [&cache](const char* data, int64_t bytes) { cache.WriteRange(data, bytes); };
  ForEachColumn(p, p.a, p.transpose_a ? p.k : p.m, p.transpose_a ? p.m : p.k, p.lda, p.stride_a,
                read);
  ForEachColumn(p, p.b, p.transpose_b ? p.n : p.k, p.transpose_b ? p.k : p.n, p.ldb, p.stride_b,
                read);
  if (p.beta != 0) ForEachColumn(p, p.c, p.m, p.n, p.ldc, p.stride_c, read);
  ForEachColumn(p, p.c, p.m, p.n, p.ldc, p.stride_c, write);
}

// Adds a product to the table of kernels (counters.h).
void Count(const char* call, const Product& p) {
  const int64_t size = ElementBytes(p.type);
  const int64_t elements = p.m * p.n * p.count;
  ptx::Counters counters;
  counters.flops = 2 * elements * p.k;
  counters.global_read_bytes =
      size * ((p.stride_a == 0 ? 1 : p.count) * p.m * p.k +
              (p.stride_b == 0 ? 1 : p.count) * p.k * p.n + (p.beta == 0 ? 0 : elements));
  counters.global_written_bytes = size * elements;
  counters.global_read_sectors = counters.global_read_bytes / 32;
  counters.global_written_sectors = counters.global_written_bytes / 32;
  if (TheCache() != nullptr) PassThrough(*TheCache(), p);
  const std::string batch = p.count == 1 ? "" : absl::StrCat(p.count, " times ");
  CountRun(absl::StrCat(call, " (", batch, "m ", p.m, ", n ", p.n, ", k ", p.k, ")"), counters);
}

// Checks and queues a product.
cublasStatus_t Queue(const char* call, cublasHandle_t handle, Product product) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  constexpr int kModes = 15;  // the others are flags
  product.tf32 = (handle->math_mode & kModes) == CUBLAS_TF32_TENSOR_OP_MATH;
  const ApiLock lock;
  if (handle->device != CurrentDevice()) {
    std::fprintf(stderr, "cuda emulator: %s: a handle of device %d, while device %d is current\n",
                 call, handle->device, CurrentDevice());
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  CUstream_st* stream = FindStream(handle->stream, call);
  if (stream == nullptr) return CUBLAS_STATUS_EXECUTION_FAILED;
  const cublasStatus_t status = CheckProduct(call, product);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  ++ProductsByWorkspace()[handle->workspace_bytes];
  const cudaError_t error =
      Enqueue(*stream, {cudaGraphNodeTypeKernel, call, [call, product] {
                          // Memory may have been freed after the call.
                          if (CheckProduct(call, product) != CUBLAS_STATUS_SUCCESS) {
                            return cudaErrorIllegalAddress;
                          }
                          Count(call, product);
                          Multiply(product);
                          return cudaSuccess;
                        }});
  return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

// Returns alpha or beta, which has the type of the sums.
double ScalarOf(const void* value, cudaDataType type) {
  return type == CUDA_R_64F ? *static_cast<const double*>(value)
                            : *static_cast<const float*>(value);
}

bool IsSupported(cudaDataType a, cudaDataType b, cudaDataType c, cublasComputeType_t compute) {
  if (a != b || a != c) return false;
  return compute == (a == CUDA_R_64F ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F);
}

template <typename T, typename Int>
cublasStatus_t Gemm(const char* call, cublasHandle_t handle, cublasOperation_t op_a,
                    cublasOperation_t op_b, Int m, Int n, Int k, const T* alpha, const T* a,
                    Int lda, long long stride_a, const T* b, Int ldb, long long stride_b,
                    const T* beta, T* c, Int ldc, long long stride_c, Int count) {
  return Queue(call, handle,
               {.type = sizeof(T) == 8 ? CUDA_R_64F : CUDA_R_32F,
                .transpose_a = op_a != CUBLAS_OP_N,
                .transpose_b = op_b != CUBLAS_OP_N,
                .m = m,
                .n = n,
                .k = k,
                .alpha = *alpha,
                .beta = *beta,
                .a = a,
                .b = b,
                .c = c,
                .lda = lda,
                .ldb = ldb,
                .ldc = ldc,
                .stride_a = stride_a,
                .stride_b = stride_b,
                .stride_c = stride_c,
                .count = count});
}

struct NamedFunction {
  std::string_view name;
  void* function;
};

}  // namespace

extern "C" {

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  *handle = new cublasContext{.device = CurrentDevice()};
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  handle->stream = stream;
  handle->workspace_bytes = 0;  // as cuBLAS does
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetStream_v2(cublasHandle_t handle, cudaStream_t* stream) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  *stream = handle->stream;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void* workspace, size_t bytes) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  const ApiLock lock;
  if (CheckRange("cublasSetWorkspace", workspace, bytes, Side::kDevice) != cudaSuccess) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  handle->workspace_bytes = bytes;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  handle->math_mode = mode;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  *mode = handle->math_mode;
  return CUBLAS_STATUS_SUCCESS;
}

const char* cublasGetStatusString(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_SUCCESS:
      return "success";
    case CUBLAS_STATUS_NOT_INITIALIZED:
      return "the library was not initialized";
    case CUBLAS_STATUS_ALLOC_FAILED:
      return "the resource allocation failed";
    case CUBLAS_STATUS_INVALID_VALUE:
      return "an unsupported value or parameter was passed to the function";
    case CUBLAS_STATUS_NOT_SUPPORTED:
      return "the functionality requested is not supported";
    default:
      return "the function failed to launch on the GPU";
  }
}

cublasStatus_t cublasSgemm_v2(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b,
                              int m, int n, int k, const float* alpha, const float* a, int lda,
                              const float* b, int ldb, const float* beta, float* c, int ldc) {
  return Gemm<float, int>("cublasSgemm", handle, op_a, op_b, m, n, k, alpha, a, lda, 0, b, ldb, 0,
                          beta, c, ldc, 0, 1);
}

cublasStatus_t cublasSgemm_v2_64(cublasHandle_t handle, cublasOperation_t op_a,
                                 cublasOperation_t op_b, int64_t m, int64_t n, int64_t k,
                                 const float* alpha, const float* a, int64_t lda, const float* b,
                                 int64_t ldb, const float* beta, float* c, int64_t ldc) {
  return Gemm<float, int64_t>("cublasSgemm_64", handle, op_a, op_b, m, n, k, alpha, a, lda, 0, b,
                              ldb, 0, beta, c, ldc, 0, 1);
}

cublasStatus_t cublasDgemm_v2_64(cublasHandle_t handle, cublasOperation_t op_a,
                                 cublasOperation_t op_b, int64_t m, int64_t n, int64_t k,
                                 const double* alpha, const double* a, int64_t lda, const double* b,
                                 int64_t ldb, const double* beta, double* c, int64_t ldc) {
  return Gemm<double, int64_t>("cublasDgemm_64", handle, op_a, op_b, m, n, k, alpha, a, lda, 0, b,
                               ldb, 0, beta, c, ldc, 0, 1);
}

cublasStatus_t cublasSgemmStridedBatched_64(cublasHandle_t handle, cublasOperation_t op_a,
                                            cublasOperation_t op_b, int64_t m, int64_t n, int64_t k,
                                            const float* alpha, const float* a, int64_t lda,
                                            long long stride_a, const float* b, int64_t ldb,
                                            long long stride_b, const float* beta, float* c,
                                            int64_t ldc, long long stride_c, int64_t count) {
  return Gemm<float, int64_t>("cublasSgemmStridedBatched_64", handle, op_a, op_b, m, n, k, alpha, a,
                              lda, stride_a, b, ldb, stride_b, beta, c, ldc, stride_c, count);
}

cublasStatus_t cublasGemmStridedBatchedEx_64(
    cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int64_t m, int64_t n,
    int64_t k, const void* alpha, const void* a, cudaDataType a_type, int64_t lda,
    long long stride_a, const void* b, cudaDataType b_type, int64_t ldb, long long stride_b,
    const void* beta, void* c, cudaDataType c_type, int64_t ldc, long long stride_c, int64_t count,
    cublasComputeType_t compute, cublasGemmAlgo_t) {
  if (!IsSupported(a_type, b_type, c_type, compute)) {
    std::fprintf(stderr, "cuda emulator: cublasGemmEx: types %d, %d, %d computed in %d\n", a_type,
                 b_type, c_type, compute);
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  return Queue("cublasGemmStridedBatchedEx_64", handle,
               {.type = a_type,
                .transpose_a = op_a != CUBLAS_OP_N,
                .transpose_b = op_b != CUBLAS_OP_N,
                .m = m,
                .n = n,
                .k = k,
                .alpha = ScalarOf(alpha, a_type),
                .beta = ScalarOf(beta, a_type),
                .a = a,
                .b = b,
                .c = c,
                .lda = lda,
                .ldb = ldb,
                .ldc = ldc,
                .stride_a = stride_a,
                .stride_b = stride_b,
                .stride_c = stride_c,
                .count = count});
}

cublasStatus_t cublasGemmEx_64(cublasHandle_t handle, cublasOperation_t op_a,
                               cublasOperation_t op_b, int64_t m, int64_t n, int64_t k,
                               const void* alpha, const void* a, cudaDataType a_type, int64_t lda,
                               const void* b, cudaDataType b_type, int64_t ldb, const void* beta,
                               void* c, cudaDataType c_type, int64_t ldc,
                               cublasComputeType_t compute, cublasGemmAlgo_t algorithm) {
  return cublasGemmStridedBatchedEx_64(handle, op_a, op_b, m, n, k, alpha, a, a_type, lda, 0, b,
                                       b_type, ldb, 0, beta, c, c_type, ldc, 0, 1, compute,
                                       algorithm);
}

}  // extern "C"

std::map<size_t, int64_t> GetProductsByWorkspace() {
  const ApiLock lock;
  return ProductsByWorkspace();
}

void* FindCublasFunction(std::string_view name) {
#define FUNCTION(function) \
  { #function, reinterpret_cast < void*>(&(function)) }
  static const NamedFunction kFunctions[] = {
      FUNCTION(cublasCreate_v2),
      FUNCTION(cublasDestroy_v2),
      FUNCTION(cublasSetStream_v2),
      FUNCTION(cublasGetStream_v2),
      FUNCTION(cublasSetWorkspace_v2),
      FUNCTION(cublasSgemm_v2),
      FUNCTION(cublasSgemm_v2_64),
      FUNCTION(cublasDgemm_v2_64),
      FUNCTION(cublasGetStatusString),
      FUNCTION(cublasSetMathMode),
      FUNCTION(cublasGetMathMode),
      FUNCTION(cublasSgemmStridedBatched_64),
      FUNCTION(cublasGemmStridedBatchedEx_64),
      FUNCTION(cublasGemmEx_64),
  };
#undef FUNCTION
  for (const NamedFunction& known : kFunctions) {
    if (known.name == name) return known.function;
  }
  return FindCublasSolveFunction(name);
}

}  // namespace cooper::cuda_emulator
