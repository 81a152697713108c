// Tests Gemm. Compiled twice: with Eigen alone, and with oneDNN linked.

#include "ndarray/products/gemm.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/random/random.h"

// The library that this build must use; a define cannot hold quotes in every Bazel.
#define COOPER_TEXT(name) COOPER_TEXT_OF(name)
#define COOPER_TEXT_OF(name) #name

namespace cooper {
namespace {

using ::testing::HasSubstr;

template <typename T>
std::vector<T> RandomValues(RandomGenerator& generator, int64_t count) {
  std::vector<T> values(static_cast<size_t>(count));
  for (T& value : values) value = static_cast<T>(2 * generator.NextUniform() - 1);
  return values;
}

struct Product {
  bool transpose_a, transpose_b;
  int64_t m, n, k;
  double alpha, beta;
  int64_t padding;  // elements between rows that must stay as they are
};

template <typename T>
void CheckProduct(const Product& p) {
  SCOPED_TRACE(testing::Message() << "transpose " << p.transpose_a << p.transpose_b << " m=" << p.m
                                  << " n=" << p.n << " k=" << p.k << " alpha=" << p.alpha
                                  << " beta=" << p.beta << " padding=" << p.padding);
  const int64_t lda = (p.transpose_a ? p.m : p.k) + p.padding;
  const int64_t ldb = (p.transpose_b ? p.k : p.n) + p.padding;
  const int64_t ldc = p.n + p.padding;
  RandomGenerator generator(1);
  const auto a = RandomValues<T>(generator, (p.transpose_a ? p.k : p.m) * lda + 1);
  const auto b = RandomValues<T>(generator, (p.transpose_b ? p.n : p.k) * ldb + 1);
  auto c = RandomValues<T>(generator, p.m * ldc + 1);
  if (p.beta == 0) {  // not read: NaN must not come through
    for (int64_t i = 0; i < p.m; ++i) {
      for (int64_t j = 0; j < p.n; ++j) c[i * ldc + j] = std::numeric_limits<T>::quiet_NaN();
    }
  }
  std::vector<T> got = c;
  Gemm(p.transpose_a, p.transpose_b, p.m, p.n, p.k, static_cast<T>(p.alpha), a.data(), lda,
       b.data(), ldb, static_cast<T>(p.beta), got.data(), ldc);
  const double epsilon = std::numeric_limits<T>::epsilon();
  for (int64_t i = 0; i < p.m; ++i) {
    for (int64_t j = 0; j < ldc; ++j) {
      const int64_t at = i * ldc + j;
      if (j >= p.n) {
        ASSERT_EQ(got[at], c[at]) << "between rows " << i << " and " << i + 1;
        continue;
      }
      double sum = 0;
      for (int64_t k = 0; k < p.k; ++k) {
        sum += static_cast<double>(a[p.transpose_a ? k * lda + i : i * lda + k]) *
               static_cast<double>(b[p.transpose_b ? j * ldb + k : k * ldb + j]);
      }
      const double expected = p.alpha * sum + (p.beta == 0 ? 0 : p.beta * c[at]);
      // Each of the k products and sums, of terms up to 1, may be off by an epsilon.
      const double bound = epsilon * (std::abs(p.alpha) * 2 * static_cast<double>(p.k) + 4);
      ASSERT_NEAR(got[at], expected, bound) << "row " << i << ", column " << j;
    }
  }
}

TEST(GemmTest, MatchesAPlainLoop) {
  for (bool transpose_a : {false, true}) {
    for (bool transpose_b : {false, true}) {
      for (const auto& [m, n, k] : std::vector<std::array<int64_t, 3>>{
               {1, 1, 1}, {3, 5, 7}, {1, 9, 4}, {8, 1, 3}, {33, 17, 65}, {2, 3, 0}}) {
        for (double beta : {0.0, 1.0, -0.5}) {
          for (double alpha : {1.0, 0.25}) {
            for (int64_t padding : {0, 3}) {
              const Product p = {transpose_a, transpose_b, m, n, k, alpha, beta, padding};
              CheckProduct<float>(p);
              CheckProduct<double>(p);
            }
          }
        }
      }
    }
  }
}

TEST(GemmTest, FewRowsAndManyColumns) {
  for (int64_t m : {2, 17, 192, 193}) {
    for (int64_t n : {1000, 1001, 1008, 1009, 2017, 3000}) {
      CheckProduct<float>({.transpose_a = false,
                           .transpose_b = true,
                           .m = m,
                           .n = n,
                           .k = 3,
                           .alpha = 1,
                           .beta = 0.5,
                           .padding = 1});
    }
  }
}

TEST(GemmTest, EmptyResultsAreNotTouched) {
  float c = 7;
  Gemm(false, false, 0, 4, 4, 1.0f, nullptr, 4, nullptr, 4, 0.0f, &c, 4);
  Gemm(false, false, 4, 0, 4, 1.0f, nullptr, 4, nullptr, 1, 0.0f, &c, 1);
  EXPECT_EQ(c, 7);
}

TEST(GemmTest, SaysItsLibrary) {
  EXPECT_EQ(GemmLibrary(), std::string(COOPER_TEXT(COOPER_GEMM_LIBRARY)));
}

TEST(GemmTest, Bfloat16NeedsOneDnn) {
  if (GemmLibrary() != std::string("Eigen")) GTEST_SKIP() << "see gemm_bfloat16_test.cc";
  EXPECT_THAT(SetGemmPrecision(GemmPrecision::kBfloat16),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("gemm_onednn")));
  EXPECT_EQ(GetGemmPrecision(), GemmPrecision::kFloat32);
}

}  // namespace
}  // namespace cooper
