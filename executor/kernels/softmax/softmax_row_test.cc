#include "executor/kernels/softmax/softmax_row.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "ndarray/threads/each_cpu_level.h"

namespace cooper {
namespace {

// Returns spread numbers without a random generator; the largest ones are adjacent.
std::vector<float> Row(int64_t n, float scale) {
  std::vector<float> row(n);
  for (int64_t i = 0; i < n; ++i) row[i] = scale * std::sin(static_cast<float>(i * i + 1));
  return row;
}

std::vector<double> Reference(const std::vector<float>& row) {
  const double top = *std::max_element(row.begin(), row.end());
  std::vector<double> result;
  double sum = 0;
  for (float x : row) sum += result.emplace_back(std::exp(x - top));
  for (double& y : result) y /= sum;
  return result;
}

// The relative error of a term is a few units of 2^-24, plus that of its rounded distance from the
// maximum, which grows with the distance. Each addition of a lane adds one unit to the sum's error.
TEST(SoftmaxRowTest, MatchesDouble) {
  ForEachCpuLevel([] {
    for (float scale : {0.1f, 3.0f, 40.0f, 200.0f}) {
      for (int64_t n : {1, 2, 7, 8, 15, 16, 17, 100, 10000}) {
        const std::vector<float> row = Row(n, scale);
        const std::vector<double> expected = Reference(row);
        std::vector<float> softmax(n), log_softmax(n);
        SoftmaxRow(row.data(), n, softmax.data());
        LogSoftmaxRow(row.data(), n, log_softmax.data());
        const double tolerance = (8 + 4 * scale + static_cast<double>(n) / 16) * 0x1p-24;
        for (int64_t i = 0; i < n; ++i) {
          EXPECT_NEAR(softmax[i], expected[i], tolerance * expected[i] + 1e-37)
              << "n " << n << " scale " << scale << " at " << i;
          EXPECT_NEAR(log_softmax[i], std::log(expected[i]),
                      tolerance - std::log(expected[i]) * 0x1p-23)
              << "n " << n << " scale " << scale << " at " << i;
        }
      }
    }
  });
}

// The tolerance covers a sum of n terms and the difference from a gradient.
TEST(SoftmaxRowTest, GradientsMatchDouble) {
  ForEachCpuLevel([] {
    for (int64_t n : {1, 7, 32, 33, 1000}) {
      const std::vector<float> g = Row(n, 2.0f);
      std::vector<float> y = Row(n, 1.0f), log_y(n), grad(n), log_grad(n);
      LogSoftmaxRow(y.data(), n, log_y.data());
      SoftmaxRow(y.data(), n, y.data());
      SoftmaxGradientRow(g.data(), y.data(), n, grad.data());
      LogSoftmaxGradientRow(g.data(), log_y.data(), n, log_grad.data());
      double sum = 0, dot = 0, magnitude = 2;
      for (int64_t i = 0; i < n; ++i) {
        sum += g[i];
        dot += double{g[i]} * y[i];
        magnitude += std::abs(g[i]);
      }
      const double tolerance = magnitude * (4 + static_cast<double>(n) / 16) * 0x1p-24;
      for (int64_t i = 0; i < n; ++i) {
        EXPECT_NEAR(grad[i], y[i] * (g[i] - dot), tolerance) << n << " at " << i;
        EXPECT_NEAR(log_grad[i], g[i] - std::exp(double{log_y[i]}) * sum, tolerance)
            << n << " at " << i;
      }
    }
  });
}

TEST(SoftmaxRowTest, InPlace) {
  ForEachCpuLevel([] {
    std::vector<float> row = Row(37, 2.0f);
    std::vector<float> apart(37);
    SoftmaxRow(row.data(), 37, apart.data());
    SoftmaxRow(row.data(), 37, row.data());
    EXPECT_EQ(row, apart);
  });
}

// Adding the bias first and then computing the softmax has the same operations in the same order.
TEST(SoftmaxRowTest, BiasIsAddedFirst) {
  ForEachCpuLevel([] {
    for (int64_t n : {0, 1, 5, 31, 32, 33, 64, 1000}) {
      const std::vector<float> row = Row(n, 5.0f);
      std::vector<float> bias(n), sum(n), apart(n), in_place = row;
      for (int64_t i = 0; i < n; ++i) {
        // The largest sum is at another index than the largest score.
        bias[i] = 7.0f * std::cos(static_cast<float>(i));
        sum[i] = row[i] + bias[i];
      }
      SoftmaxRow(sum.data(), n, sum.data());
      BiasedSoftmaxRow(row.data(), bias.data(), n, apart.data());
      BiasedSoftmaxRow(in_place.data(), bias.data(), n, in_place.data());
      EXPECT_EQ(apart, sum) << n;
      EXPECT_EQ(in_place, sum) << n;
    }
  });
}

// Parts of a row, combined by their maxima, give the whole row's softmax.
TEST(SoftmaxRowTest, RowInPieces) {
  ForEachCpuLevel([] {
    const float inf = std::numeric_limits<float>::infinity();
    for (int64_t n : {1, 40, 1000}) {
      for (int64_t cut : {int64_t{0}, n / 3, n}) {
        for (const bool masked : {false, true}) {
          const std::vector<float> row = Row(n, 5.0f);
          std::vector<float> bias(n, 0.5f), whole(n), pieces(n);
          if (masked && cut < n) std::fill_n(bias.begin(), cut, -inf);
          BiasedSoftmaxRow(row.data(), bias.data(), n, whole.data());
          const auto first = BiasedExpRow(row.data(), bias.data(), cut, pieces.data());
          const auto second =
              BiasedExpRow(row.data() + cut, bias.data() + cut, n - cut, pieces.data() + cut);
          const float top = std::max(cut == 0 ? -inf : first.top, cut == n ? -inf : second.top);
          const float to_top[] = {std::exp(first.top - top), std::exp(second.top - top)};
          const float sum =
              (cut == 0 ? 0 : to_top[0] * first.sum) + (cut == n ? 0 : to_top[1] * second.sum);
          for (int64_t j = 0; j < n; ++j) {
            EXPECT_NEAR(pieces[j] * to_top[j < cut ? 0 : 1] / sum, whole[j],
                        32 * 0x1p-24 * whole[j] + 1e-37)
                << n << " cut at " << cut << (masked ? ", masked, at " : " at ") << j;
          }
        }
      }
    }
  });
}

TEST(SoftmaxRowTest, ColumnsAreRows) {
  ForEachCpuLevel([] {
    constexpr int64_t kClasses = 5, kInner = 131;
    const std::vector<float> data = Row(kClasses * kInner, 3.0f);
    std::vector<float> out(data.size(), -1.0f);
    SoftmaxColumns(data.data(), kClasses, kInner, 1, kInner, out.data());
    for (int64_t c = 1; c < kInner; ++c) {
      std::vector<float> column(kClasses);
      for (int64_t j = 0; j < kClasses; ++j) column[j] = data[j * kInner + c];
      const std::vector<double> expected = Reference(column);
      for (int64_t j = 0; j < kClasses; ++j) {
        EXPECT_NEAR(out[j * kInner + c], expected[j], 16 * 0x1p-24 * expected[j]) << c << " " << j;
      }
    }
    EXPECT_EQ(out[0], -1.0f) << "a column that was not asked for";
  });
}

// Each function of columns gives what the function of rows gives, in float and in double.
template <typename T>
void ExpectColumnsAreRows() {
  constexpr int64_t kClasses = 5, kInner = 131;
  const std::vector<float> floats = Row(kClasses * kInner, 3.0f);
  const std::vector<T> data(floats.begin(), floats.end());
  const T tolerance = 64 * std::numeric_limits<T>::epsilon();
  std::vector<T> y(data.size()), log_y(data.size()), grad(data.size()), log_grad(data.size());
  for (int64_t cut : {int64_t{70}, kInner}) {
    SoftmaxColumns(data.data(), kClasses, kInner, cut == kInner ? 70 : 0, cut, y.data());
    LogSoftmaxColumns(data.data(), kClasses, kInner, cut == kInner ? 70 : 0, cut, log_y.data());
  }
  SoftmaxGradientColumns(data.data(), y.data(), kClasses, kInner, 0, kInner, grad.data());
  LogSoftmaxGradientColumns(data.data(), log_y.data(), kClasses, kInner, 0, kInner,
                            log_grad.data());
  for (int64_t c = 0; c < kInner; ++c) {
    T x[kClasses], row[kClasses], log_row[kClasses], row_grad[kClasses], log_row_grad[kClasses];
    for (int64_t j = 0; j < kClasses; ++j) x[j] = data[j * kInner + c];
    SoftmaxRow(x, kClasses, row);
    LogSoftmaxRow(x, kClasses, log_row);
    SoftmaxGradientRow(x, row, kClasses, row_grad);
    LogSoftmaxGradientRow(x, log_row, kClasses, log_row_grad);
    for (int64_t j = 0; j < kClasses; ++j) {
      const int64_t at = j * kInner + c;
      EXPECT_NEAR(y[at], row[j], tolerance) << c << " " << j;
      EXPECT_NEAR(log_y[at], log_row[j], tolerance * 8) << c << " " << j;
      EXPECT_NEAR(grad[at], row_grad[j], tolerance * 8) << c << " " << j;
      EXPECT_NEAR(log_grad[at], log_row_grad[j], tolerance * 16) << c << " " << j;
    }
    T sum = 0;
    for (T value : row) sum += value;
    EXPECT_NEAR(sum, 1, tolerance);
    EXPECT_NEAR(log_row[0], std::log(row[0]), tolerance * 8);
  }
}

TEST(SoftmaxRowTest, ColumnsOfEveryFunctionAreRows) {
  ForEachCpuLevel([] {
    ExpectColumnsAreRows<float>();
    ExpectColumnsAreRows<double>();
  });
}

TEST(SoftmaxRowTest, SpecialValues) {
  ForEachCpuLevel([] {
    const float inf = std::numeric_limits<float>::infinity();
    std::vector<float> row(20, -inf);
    row[3] = 1e30f;
    SoftmaxRow(row.data(), 20, row.data());
    for (int i = 0; i < 20; ++i) EXPECT_EQ(row[i], i == 3 ? 1.0f : 0.0f);
    for (int at : {0, 5, 19}) {
      row.assign(20, 1.0f);
      row[at] = std::numeric_limits<float>::quiet_NaN();
      SoftmaxRow(row.data(), 20, row.data());
      for (float y : row) EXPECT_TRUE(std::isnan(y)) << "NaN at " << at;
    }
    SoftmaxRow(row.data(), 0, row.data());  // nothing to do
  });
}

}  // namespace
}  // namespace cooper
