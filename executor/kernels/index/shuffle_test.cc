// Tests _shuffle: every order of rows is equally probable, and rows stay whole.

#include <cmath>
#include <cstdint>
#include <map>
#include <vector>

#include "executor/executor.h"
#include "gtest/gtest.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/graph/symbol.h"

namespace cooper {
namespace {

TEST(ShuffleTest, OrdersAreEquallyProbable) {
  auto executor =
      Executor::SimpleBind(*Symbol::Create("_shuffle", {.inputs = {Symbol::Variable("data")}}),
                           {.shapes = {{"data", {3, 2}}}, .grad_req = WriteReq::kNull});
  ASSERT_TRUE(executor.ok()) << executor.status();
  COOPER_ASSERT_OK((*executor)->arg("data").CopyFrom(
      *NDArray::FromVector<float>({3, 2}, {0, 10, 1, 11, 2, 12})));
  constexpr int kRuns = 6'000;
  std::map<std::vector<float>, int> counts;
  for (int run = 0; run < kRuns; ++run) {
    COOPER_ASSERT_OK((*executor)->Forward(/*is_train=*/false));
    const std::vector<float> rows = *(*(*executor)->outputs())[0].ToVector<float>();
    for (int row = 0; row < 3; ++row) ASSERT_EQ(rows[2 * row + 1], rows[2 * row] + 10);
    ++counts[{rows[0], rows[2], rows[4]}];
  }
  ASSERT_EQ(counts.size(), 6);
  for (const auto& [order, count] : counts) {
    EXPECT_NEAR(count, kRuns / 6.0, 5 * std::sqrt(kRuns * 5 / 36.0));
  }
}

}  // namespace
}  // namespace cooper
