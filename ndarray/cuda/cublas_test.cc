#include "ndarray/cuda/cublas.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/context.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/cuda/dynload.h"
#include "ndarray/cuda/require_gpu.h"
#include "ndarray/products/gemm.h"
#include "ndarray/random/random.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;

TEST(CublasTest, IsFoundWhereItIsInstalled) {
  if (LoadCudaLibrary("libcublas.so.13") == nullptr) GTEST_SKIP() << "no libcublas.so.13";
  COOPER_EXPECT_OK(Cublas::CheckInstalled());
}

TEST(CublasTest, NeedsADevice) {
  EXPECT_THAT(Cublas::Of(1 << 20),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("gpu(1048576)")));
}

NDArray Random(int64_t rows, int64_t columns, uint64_t seed) {
  RandomGenerator random(seed);
  std::vector<float> values(static_cast<size_t>(rows * columns));
  for (float& v : values) v = static_cast<float>(random.NextNormal());
  return *NDArray::FromVector<float>({rows, columns}, values);
}

float* Pointer(const NDArray& array) { return static_cast<float*>(array.raw_data()); }

// Every transposition, written and added, on views that are wider than the matrices.
TEST(CublasTest, MultipliesAsTheCpuDoes) {
  COOPER_REQUIRE_GPU();
  COOPER_ASSERT_OK_AND_ASSIGN(Cublas * cublas, Cublas::Of(0));
  constexpr int64_t kSizes[][3] = {{5, 7, 11}, {1, 1, 1}, {64, 48, 33}, {3, 4, 0}, {0, 4, 3}};
  for (const auto& [m, n, k] : kSizes) {
    for (int variant = 0; variant < 8; ++variant) {
      const bool transpose_a = variant & 1;
      const bool transpose_b = variant & 2;
      const bool add = variant & 4;
      SCOPED_TRACE(testing::Message() << m << " " << n << " " << k << " variant " << variant);
      const NDArray a = Random(transpose_a ? k : m, (transpose_a ? m : k) + 2, 1);
      const NDArray b = Random(transpose_b ? n : k, (transpose_b ? k : n) + 3, 2);
      const NDArray c = Random(m, n + 1, 3);
      const int64_t lda = a.shape()[1], ldb = b.shape()[1], ldc = c.shape()[1];
      COOPER_ASSERT_OK_AND_ASSIGN(const NDArray gpu_a, a.CopyTo(Context::Gpu(0)));
      COOPER_ASSERT_OK_AND_ASSIGN(const NDArray gpu_b, b.CopyTo(Context::Gpu(0)));
      COOPER_ASSERT_OK_AND_ASSIGN(const NDArray gpu_c, c.CopyTo(Context::Gpu(0)));
      COOPER_ASSERT_OK(cublas->Gemm(nullptr, transpose_a, transpose_b, m, n, k, Pointer(gpu_a), lda,
                                    Pointer(gpu_b), ldb, add, Pointer(gpu_c), ldc));
      Gemm(transpose_a, transpose_b, m, n, k, 1.0f, Pointer(a), lda, Pointer(b), ldb,
           add ? 1.0f : 0.0f, Pointer(c), ldc);
      const std::vector<float> expected = *c.ToVector<float>();
      const std::vector<float> got = *gpu_c.ToVector<float>();
      // Each of two sums of k products of normals, which are below 5 * 5, errs by an epsilon each.
      const float tolerance = 2e-7f * 25 * static_cast<float>(k + 1);
      for (size_t i = 0; i < expected.size(); ++i) {
        EXPECT_NEAR(got[i], expected[i], tolerance) << "element " << i;
      }
    }
  }
}

class CublasDTypeTest : public testing::TestWithParam<DType> {};

// Small integers, of which every sum is exact in every dtype.
std::vector<float> Integers(int64_t count, uint64_t seed) {
  RandomGenerator random(seed);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& v : values) v = static_cast<float>(random.NextBelow(5)) - 2;
  return values;
}

NDArray Converted(const NDArray& array, DType dtype) {
  const NDArray result = *NDArray::Empty(array.shape(), dtype);
  COOPER_EXPECT_OK(result.CopyFrom(array));
  return result;
}

TEST_P(CublasDTypeTest, MultipliesAsFloat32Does) {
  COOPER_REQUIRE_GPU();
  if (CudaSymbol("libcublas.so.13", "cublasGemmEx_64") == nullptr) {
    GTEST_SKIP() << "no cublasGemmEx_64";
  }
  COOPER_ASSERT_OK_AND_ASSIGN(Cublas * cublas, Cublas::Of(0));
  constexpr int64_t m = 5, n = 7, k = 11;
  for (int variant = 0; variant < 8; ++variant) {
    const bool transpose_a = variant & 1;
    const bool transpose_b = variant & 2;
    const bool add = variant & 4;
    SCOPED_TRACE(testing::Message() << "variant " << variant);
    const NDArray a = *NDArray::FromVector<float>({m, k}, Integers(m * k, 1));
    const NDArray b = *NDArray::FromVector<float>({k, n}, Integers(k * n, 2));
    const NDArray c = *NDArray::FromVector<float>({m, n}, Integers(m * n, 3));
    const auto on_gpu = [](const NDArray& array) {
      return *Converted(array, GetParam()).CopyTo(Context::Gpu(0));
    };
    const NDArray gpu_a = on_gpu(a), gpu_b = on_gpu(b), gpu_c = on_gpu(c);
    const int64_t lda = transpose_a ? m : k, ldb = transpose_b ? k : n;
    COOPER_ASSERT_OK(cublas->Gemm(nullptr, GetParam(), transpose_a, transpose_b, m, n, k,
                                  gpu_a.raw_data(), lda, gpu_b.raw_data(), ldb, add,
                                  gpu_c.raw_data(), n));
    Gemm(transpose_a, transpose_b, m, n, k, 1.0f, Pointer(a), lda, Pointer(b), ldb,
         add ? 1.0f : 0.0f, Pointer(c), n);
    COOPER_ASSERT_OK_AND_ASSIGN(const NDArray got, gpu_c.CopyTo(Context::Cpu(0)));
    EXPECT_EQ(*Converted(got, DType::kFloat32).ToVector<float>(), *c.ToVector<float>());
  }
}

TEST_P(CublasDTypeTest, BatchesAreSingleProducts) {
  COOPER_REQUIRE_GPU();
  if (CudaSymbol("libcublas.so.13", "cublasGemmEx_64") == nullptr) {
    GTEST_SKIP() << "no cublasGemmEx_64";
  }
  COOPER_ASSERT_OK_AND_ASSIGN(Cublas * cublas, Cublas::Of(0));
  constexpr int64_t m = 2, n = 3, k = 4, count = 5;
  const auto on_gpu = [](int64_t elements, uint64_t seed) {
    const NDArray array = *NDArray::FromVector<float>({elements}, Integers(elements, seed));
    return *Converted(array, GetParam()).CopyTo(Context::Gpu(0));
  };
  const NDArray a = on_gpu(m * k * count, 1), b = on_gpu(k * n * count, 2);
  for (const GemmBatch& batch :
       {GemmBatch{count, m * k, k * n, m * n + 1}, GemmBatch{count, 0, k * n, m * n}}) {
    for (bool add : {false, true}) {
      const NDArray c = on_gpu((m * n + 1) * count, 3), expected = on_gpu((m * n + 1) * count, 3);
      const int64_t size = SizeOf(GetParam());
      for (int64_t i = 0; i < count; ++i) {
        COOPER_ASSERT_OK(
            cublas->Gemm(nullptr, GetParam(), false, true, m, n, k,
                         static_cast<char*>(a.raw_data()) + i * batch.stride_a * size, k,
                         static_cast<char*>(b.raw_data()) + i * batch.stride_b * size, k, add,
                         static_cast<char*>(expected.raw_data()) + i * batch.stride_c * size, n));
      }
      COOPER_ASSERT_OK(cublas->GemmBatched(nullptr, GetParam(), batch, false, true, m, n, k, 1,
                                           a.raw_data(), k, b.raw_data(), k, add, c.raw_data(), n));
      COOPER_ASSERT_OK_AND_ASSIGN(const NDArray got, c.CopyTo(Context::Cpu(0)));
      COOPER_ASSERT_OK_AND_ASSIGN(const NDArray want, expected.CopyTo(Context::Cpu(0)));
      EXPECT_EQ(*Converted(got, DType::kFloat32).ToVector<float>(),
                *Converted(want, DType::kFloat32).ToVector<float>());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Floats, CublasDTypeTest,
                         testing::Values(DType::kFloat32, DType::kFloat64, DType::kFloat16,
                                         DType::kBfloat16),
                         [](const auto& info) { return std::string(DTypeName(info.param)); });

}  // namespace
}  // namespace cooper
