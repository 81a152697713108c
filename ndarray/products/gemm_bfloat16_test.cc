// Tests products with factors rounded to bfloat16. Skipped on processors that have none.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/float16.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/products/gemm.h"
#include "ndarray/random/random.h"
#include "ndarray/threads/each_cpu_level.h"
#include "ndarray/threads/parallel.h"

namespace cooper {
namespace {

struct Product {
  bool transpose_a, transpose_b;
  int64_t m, n, k;
  float alpha = 1, beta = 0;
  int64_t padding = 0;  // elements between rows that must stay as they are

  int64_t lda() const { return (transpose_a ? m : k) + padding; }
  int64_t ldb() const { return (transpose_b ? k : n) + padding; }
  int64_t ldc() const { return n + padding; }
};

struct Operands {
  std::vector<float> a, b, c;
};

// Returns operands for `p` whose elements are the results of successive calls of value().
template <typename Fn>
Operands Fill(const Product& p, const Fn& value) {
  Operands x;
  x.a.resize((p.transpose_a ? p.k : p.m) * p.lda());
  x.b.resize((p.transpose_b ? p.n : p.k) * p.ldb());
  x.c.resize(p.m * p.ldc());
  for (auto* values : {&x.a, &x.b, &x.c}) {
    for (float& v : *values) v = value();
  }
  return x;
}

std::vector<float> Multiply(const Product& p, const Operands& x, GemmPrecision precision) {
  COOPER_EXPECT_OK(SetGemmPrecision(precision));
  std::vector<float> c = x.c;
  Gemm(p.transpose_a, p.transpose_b, p.m, p.n, p.k, p.alpha, x.a.data(), p.lda(), x.b.data(),
       p.ldb(), p.beta, c.data(), p.ldc());
  return c;
}

// Computes the product with the factors rounded beforehand.
std::vector<float> MultiplyRounded(const Product& p, Operands x) {
  for (auto* factor : {&x.a, &x.b}) {
    for (float& v : *factor) v = static_cast<float>(BFloat16(v));
  }
  return Multiply(p, x, GemmPrecision::kFloat32);
}

class GemmBfloat16Test : public testing::Test {
 protected:
  void SetUp() override {
    const absl::Status status = SetGemmPrecision(GemmPrecision::kBfloat16);
    if (absl::IsUnimplemented(status)) GTEST_SKIP() << status.message();
    COOPER_ASSERT_OK(status);
    EXPECT_EQ(GetGemmPrecision(), GemmPrecision::kBfloat16);
  }
  void TearDown() override {
    COOPER_EXPECT_OK(SetGemmPrecision(GemmPrecision::kFloat32));
    SetNumThreads(0);
  }

  float Uniform() { return 2 * static_cast<float>(generator_.NextUniform()) - 1; }
  // Up to 300 of either sign: those above 256 may be rounded.
  float WholeNumber() { return std::nearbyint(300 * Uniform()); }

  RandomGenerator generator_{1};
};

// Sums of integers are exact here in any order, since they stay below 2^24. The last rows of some
// shapes are not rounded.
TEST_F(GemmBfloat16Test, MultipliesRoundedFactors) {
  for (int threads : {1, 2, 3}) {
    SetNumThreads(threads);
    for (bool transpose_a : {false, true}) {
      for (bool transpose_b : {false, true}) {
        for (float beta : {0.0f, 1.0f, -2.0f}) {
          for (int64_t padding : {0, 3}) {
            for (const auto& [m, n, k] :
                 {std::tuple{130, 140, 16}, {200, 97, 33}, {96, 513, 100}, {400, 401, 50}}) {
              SCOPED_TRACE(testing::Message()
                           << "threads=" << threads << " transpose " << transpose_a << transpose_b
                           << " m=" << m << " n=" << n << " k=" << k << " beta=" << beta
                           << " padding=" << padding);
              const Product p{transpose_a, transpose_b, m, n, k, 1, beta, padding};
              const Operands x = Fill(p, [&] { return WholeNumber(); });
              const std::vector<float> got = Multiply(p, x, GemmPrecision::kBfloat16);
              const auto rounded = static_cast<int64_t>(m / 16 * 16 * p.ldc());
              const auto first = [&](const std::vector<float>& c) {
                return std::vector<float>(c.begin(), c.begin() + rounded);
              };
              const auto rest = [&](const std::vector<float>& c) {
                return std::vector<float>(c.begin() + rounded, c.end());
              };
              ASSERT_EQ(first(got), first(MultiplyRounded(p, x)));
              const std::vector<float> exact = Multiply(p, x, GemmPrecision::kFloat32);
              ASSERT_EQ(rest(got), rest(exact));
              ASSERT_NE(first(got), first(exact)) << "it was computed in float32";
            }
          }
        }
      }
    }
  }
}

// The product with the identity is the rounded factor itself.
TEST_F(GemmBfloat16Test, FactorsAreRoundedToTheNearestTiesToEven) {
  const Product p{false, false, 96, 128, 128};
  Operands x = Fill(p, [&] {
    const auto exponent = static_cast<int>(200 * generator_.NextUniform()) - 100;
    return std::ldexp(Uniform(), exponent);
  });
  for (int i = 0; i < 64; ++i) x.a[i] = 1 + std::ldexp(static_cast<float>(i), -8);  // half are ties
  for (int64_t i = 0; i < p.k; ++i) {
    for (int64_t j = 0; j < p.n; ++j) x.b[i * p.n + j] = i == j ? 1.0f : 0.0f;
  }
  ForEachCpuLevel([&] {
    const std::vector<float> got = Multiply(p, x, GemmPrecision::kBfloat16);
    for (size_t i = 0; i < got.size(); ++i) {
      int exponent = 0;
      const float fraction = std::frexp(x.a[i], &exponent);
      const float expected = std::ldexp(std::nearbyint(std::ldexp(fraction, 8)), exponent - 8);
      ASSERT_EQ(got[i], expected) << "of " << x.a[i];
    }
  });
}

TEST_F(GemmBfloat16Test, ErrorsAreThoseOfRoundedFactors) {
  const Product p{false, true, 150, 260, 300};
  const Operands x = Fill(p, [&] { return Uniform(); });
  const std::vector<float> got = Multiply(p, x, GemmPrecision::kBfloat16);
  double largest = 0;
  for (int64_t i = 0; i < p.m; ++i) {
    for (int64_t j = 0; j < p.n; ++j) {
      double sum = 0, magnitudes = 0;
      for (int64_t k = 0; k < p.k; ++k) {
        const double term = static_cast<double>(x.a[i * p.k + k]) * x.b[j * p.k + k];
        sum += term;
        magnitudes += std::abs(term);
      }
      const double error = std::abs(got[i * p.n + j] - sum) / magnitudes;
      largest = std::max(largest, error);
      // Each factor is off by up to 2^-8 of itself, their product by twice as much and a little.
      ASSERT_LE(error, std::ldexp(1.01, -7)) << "row " << i << ", column " << j;
    }
  }
  EXPECT_GT(largest, std::ldexp(1.0, -16)) << "it was computed in float32";
}

TEST_F(GemmBfloat16Test, SmallAndScaledProductsStayInFloat32) {
  for (const Product& p : {Product{false, false, 1, 500, 500},
                           {false, false, 16, 800, 200},
                           {false, false, 300, 300, 8},
                           {true, false, 200, 200, 200, 0.5f}}) {
    const Operands x = Fill(p, [&] { return Uniform(); });
    EXPECT_EQ(Multiply(p, x, GemmPrecision::kBfloat16), Multiply(p, x, GemmPrecision::kFloat32))
        << "m=" << p.m << " n=" << p.n << " k=" << p.k << " alpha=" << p.alpha;
  }
}

TEST_F(GemmBfloat16Test, TheSameThreadsGiveTheSameBits) {
  SetNumThreads(2);
  const Product p{true, false, 300, 200, 500};
  const Operands x = Fill(p, [&] { return Uniform(); });
  const std::vector<float> first = Multiply(p, x, GemmPrecision::kBfloat16);
  for (int i = 0; i < 20; ++i) ASSERT_EQ(Multiply(p, x, GemmPrecision::kBfloat16), first);
}

// A thread keeps 512 oneDNN primitives, one per shape. Two threads multiply 1,200 shapes, so at
// least one of them discards its primitives.
TEST_F(GemmBfloat16Test, ManyShapesInsideOfALoop) {
  SetNumThreads(2);
  constexpr int64_t kShapes = 1200;
  const Product largest{false, false, 48, 64 + kShapes, 16};
  const Operands x = Fill(largest, [&] { return WholeNumber(); });
  const std::vector<float> expected = MultiplyRounded(largest, x);
  COOPER_ASSERT_OK(SetGemmPrecision(GemmPrecision::kBfloat16));
  std::vector<int> wrong(kShapes, -1);
  ParallelForPlain(kShapes, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t n = largest.n - i;
      std::vector<float> c(largest.m * n);
      Gemm(false, false, largest.m, n, largest.k, 1.0f, x.a.data(), largest.lda(), x.b.data(),
           largest.ldb(), 0.0f, c.data(), n);
      wrong[i] = 0;
      for (int64_t row = 0; row < largest.m; ++row) {
        for (int64_t j = 0; j < n; ++j) {
          wrong[i] += c[row * n + j] == expected[row * largest.n + j] ? 0 : 1;
        }
      }
    }
  });
  EXPECT_THAT(wrong, testing::Each(0));
}

TEST_F(GemmBfloat16Test, WhatIsNoNumberComesThrough) {
  const Product p{false, false, 128, 192, 64};
  Operands x = Fill(p, [] { return 1.0f; });
  // This NaN differs from infinity only in the half that rounding drops.
  x.a[5 * p.k + 7] = std::bit_cast<float>(0x7f800001u);
  x.a[9 * p.k] = std::numeric_limits<float>::infinity();
  x.c.assign(x.c.size(), std::numeric_limits<float>::quiet_NaN());  // not read with beta 0
  const std::vector<float> got = Multiply(p, x, GemmPrecision::kBfloat16);
  for (int64_t j = 0; j < p.n; ++j) {
    EXPECT_TRUE(std::isnan(got[5 * p.n + j]));
    EXPECT_EQ(got[9 * p.n + j], std::numeric_limits<float>::infinity());
    EXPECT_EQ(got[8 * p.n + j], 64);
  }
}

}  // namespace
}  // namespace cooper
