#include "executor/kernels/index/key_order.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "gtest/gtest.h"
#include "ndarray/random/random.h"

namespace cooper {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

TEST(KeyOrderTest, KeysAreOrderedAsFloats) {
  const float rising[] = {-kInf, -3e38F, -1.5F, -1e-45F, 0.0F, 1e-45F, 1.5F, 3e38F, kInf, kNaN};
  for (size_t i = 1; i < std::size(rising); ++i) {
    EXPECT_LT(OrderKey(rising[i - 1]), OrderKey(rising[i])) << rising[i];
  }
  EXPECT_EQ(OrderKey(0.0F), OrderKey(-0.0F));
  EXPECT_EQ(OrderKey(kNaN), OrderKey(-kNaN));
}

std::vector<int64_t> Expected(const std::vector<float>& in, bool ascend) {
  std::vector<int64_t> order(in.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) {
    return ascend ? OrderKey(in[i]) < OrderKey(in[j]) : OrderKey(in[j]) < OrderKey(in[i]);
  });
  return order;
}

TEST(KeyOrderTest, IsTheStableOrder) {
  RandomGenerator random(1);
  for (const int64_t n : {1, 2, 100, 127, 128, 1000, 5000}) {
    // Values with many duplicates, with few, and with a single exponent.
    for (const int kind : {0, 1, 2}) {
      std::vector<float> in(n);
      for (float& x : in) {
        x = static_cast<float>(random.NextNormal());
        if (kind == 0) x = std::round(x);
        if (kind == 2) x = 1 + std::abs(x) / 16;
      }
      if (n > 3) in[n / 2] = kNaN, in[n / 3] = -0.0F, in[0] = -kInf;
      for (const bool ascend : {true, false}) {
        std::vector<int64_t> expected = Expected(in, ascend);
        for (const int64_t k : {n, (n + 1) / 2, int64_t{1}}) {
          std::vector<int64_t> order(2 * n);
          OrderByKeys(in.data(), 1, n, k, ascend, order.data());
          order.resize(k);
          expected.resize(k);
          EXPECT_EQ(order, expected) << n << " " << kind << " " << k;
        }
      }
    }
  }
}

TEST(KeyOrderTest, Columns) {
  const float in[] = {3, 0, 1, 0, 2, 0};
  int64_t order[6];
  OrderByKeys(in, 2, 3, 3, true, order);
  EXPECT_EQ(std::vector<int64_t>(order, order + 3), (std::vector<int64_t>{1, 2, 0}));
}

TEST(KeyOrderTest, SortsIntegers) {
  std::vector<int32_t> in = {5, -1, std::numeric_limits<int32_t>::min(),
                             5, 0,  std::numeric_limits<int32_t>::max()};
  std::vector<int64_t> order(2 * in.size());
  OrderByKeys(in.data(), 1, 6, 6, /*ascend=*/true, order.data());
  order.resize(in.size());
  EXPECT_EQ(order, (std::vector<int64_t>{2, 1, 4, 0, 3, 5}));
  const uint8_t bytes[] = {200, 3, 100};
  int64_t falling[6];
  OrderByKeys(bytes, 1, 3, 3, /*ascend=*/false, falling);
  EXPECT_EQ(falling[0], 0);
  EXPECT_EQ(falling[2], 1);
}

}  // namespace
}  // namespace cooper
