#include "tests/cuda_emulator/blas/product.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <type_traits>
#include <vector>

#include "cublas_api.h"
#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "tests/cuda_emulator/ptx/rounding.h"
#include "tests/cuda_emulator/runtime/copy_check.h"

namespace cooper::cuda_emulator {
namespace {

// A float that is rounded to TF32, with 10 bits of fraction, when it is a factor.
struct Tf32 {
  float value;
};

float Load(Tf32 element) { return element.value; }
float Load(__half value) { return __half2float(value); }
float Load(__nv_bfloat16 value) { return __bfloat162float(value); }
float Load(float value) { return value; }
double Load(double value) { return value; }

template <typename T>
auto LoadFactor(T element) {
  return Load(element);
}
float LoadFactor(Tf32 element) {
  return std::bit_cast<float>(
      ptx::RoundTo(ptx::kTf32Format, element.value, ptx::Rounding::kNearestAway) << 13);
}

void Store(float value, Tf32& to) { to.value = value; }
void Store(float value, __half& to) { to = __float2half_rn(value); }
void Store(float value, __nv_bfloat16& to) { to = __float2bfloat16_rn(value); }
void Store(float value, float& to) { to = value; }
void Store(double value, double& to) { to = value; }

// Packs op(A) into contiguous columns, in the type of the sums.
template <typename Sum, typename T>
std::vector<Sum> Pack(const T* a, bool transpose, int64_t rows, int64_t columns, int64_t ld) {
  std::vector<Sum> packed(rows * columns);
  for (int64_t column = 0; column < columns; ++column) {
    for (int64_t row = 0; row < rows; ++row) {
      packed[column * rows + row] =
          LoadFactor(transpose ? a[row * ld + column] : a[column * ld + row]);
    }
  }
  return packed;
}

// Computes each element of C as a sum over k in order.
template <typename T>
void MultiplyOne(const Product& p, const T* a, const T* b, T* c) {
  using Sum = std::conditional_t<std::is_same_v<T, double>, double, float>;
  const std::vector<Sum> packed_a = Pack<Sum>(a, p.transpose_a, p.m, p.k, p.lda);
  std::vector<Sum> sums(p.m);
  for (int64_t column = 0; column < p.n; ++column) {
    std::fill(sums.begin(), sums.end(), Sum{0});
    for (int64_t i = 0; i < p.k; ++i) {
      const Sum factor = LoadFactor(p.transpose_b ? b[i * p.ldb + column] : b[column * p.ldb + i]);
      const Sum* from = packed_a.data() + i * p.m;
      for (int64_t row = 0; row < p.m; ++row) sums[row] += from[row] * factor;
    }
    const auto alpha = static_cast<Sum>(p.alpha);
    const auto beta = static_cast<Sum>(p.beta);
    for (int64_t row = 0; row < p.m; ++row) {
      T& to = c[column * p.ldc + row];
      Store(alpha * sums[row] + (beta == 0 ? Sum{0} : beta * Load(to)), to);
    }
  }
}

template <typename T>
void MultiplyAll(const Product& p) {
  for (int64_t i = 0; i < p.count; ++i) {
    MultiplyOne(p, static_cast<const T*>(p.a) + i * p.stride_a,
                static_cast<const T*>(p.b) + i * p.stride_b, static_cast<T*>(p.c) + i * p.stride_c);
  }
}

// Returns the size of a type; 0 for an unsupported type.
int64_t SizeOf(cudaDataType type) {
  switch (type) {
    case CUDA_R_16F:
    case CUDA_R_16BF:
      return 2;
    case CUDA_R_32F:
      return 4;
    case CUDA_R_64F:
      return 8;
    default:
      return 0;
  }
}

struct Matrix {
  const char* name;
  const void* data;
  int64_t rows;  // rows in memory
  int64_t columns;
  int64_t ld;
  int64_t stride;
};

cublasStatus_t CheckMatrix(const char* call, const Matrix& matrix, int64_t count, int64_t size) {
  if (matrix.ld < std::max<int64_t>(1, matrix.rows)) {
    std::fprintf(stderr,
                 "cuda emulator: %s: the leading dimension of %s is %lld, of a matrix of %lld rows "
                 "and %lld columns\n",
                 call, matrix.name, static_cast<long long>(matrix.ld),
                 static_cast<long long>(matrix.rows), static_cast<long long>(matrix.columns));
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  if (matrix.rows == 0 || matrix.columns == 0 || count == 0) return CUBLAS_STATUS_SUCCESS;
  const int64_t elements =
      (count - 1) * matrix.stride + (matrix.columns - 1) * matrix.ld + matrix.rows;
  const cudaError_t error = CheckRange(call, matrix.data, elements * size, Side::kDevice);
  return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

}  // namespace

cublasStatus_t CheckProduct(const char* call, const Product& p) {
  const int64_t size = SizeOf(p.type);
  if (size == 0) {
    std::fprintf(stderr, "cuda emulator: %s: elements of cudaDataType %d\n", call, p.type);
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  if (p.m < 0 || p.n < 0 || p.k < 0 || p.count < 0) {
    std::fprintf(stderr, "cuda emulator: %s: a negative extent\n", call);
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const Matrix matrices[] = {
      {"A", p.a, p.transpose_a ? p.k : p.m, p.transpose_a ? p.m : p.k, p.lda, p.stride_a},
      {"B", p.b, p.transpose_b ? p.n : p.k, p.transpose_b ? p.k : p.n, p.ldb, p.stride_b},
      {"C", p.c, p.m, p.n, p.ldc, p.stride_c},
  };
  for (const Matrix& matrix : matrices) {
    const cublasStatus_t status = CheckMatrix(call, matrix, p.count, size);
    if (status != CUBLAS_STATUS_SUCCESS) return status;
  }
  return CUBLAS_STATUS_SUCCESS;
}

void Multiply(const Product& product) {
  switch (product.type) {
    case CUDA_R_16F:
      return MultiplyAll<__half>(product);
    case CUDA_R_16BF:
      return MultiplyAll<__nv_bfloat16>(product);
    case CUDA_R_64F:
      return MultiplyAll<double>(product);
    default:
      return product.tf32 ? MultiplyAll<Tf32>(product) : MultiplyAll<float>(product);
  }
}

}  // namespace cooper::cuda_emulator
