// Tests that a mean and a maximum over time, and their gradients, use only each row's own steps, in
// any bucket.

#include "symbol/rnn/over_time.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "executor/executor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/random/random.h"
#include "ndarray/random/random_cases.h"
#include "symbol/graph/symbol.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kFeatures = 3;

// The steps of each row with their features.
using Rows = std::vector<std::vector<float>>;

struct Pooled {
  std::vector<float> values;     // (rows, features)
  std::vector<float> gradients;  // as the data: (rows, bucket, features), whatever the layout
};

// Pools random padding and the steps of `rows` in a bucket. `heads` is the head gradient of the
// pooled values.
Pooled Pool(bool mean, bool time_major, const Rows& rows, int64_t bucket,
            const std::vector<float>& heads, RandomGenerator& random) {
  const auto n = static_cast<int64_t>(rows.size());
  const auto at = [&](int64_t row, int64_t step, int64_t feature) {
    return ((time_major ? step * n + row : row * bucket + step)) * kFeatures + feature;
  };
  std::vector<float> data(n * bucket * kFeatures), lengths;
  for (float& value : data) value = static_cast<float>(random.NextBelow(2000)) - 1000;  // padding
  for (int64_t i = 0; i < n; ++i) {
    const auto steps = static_cast<int64_t>(rows[i].size()) / kFeatures;
    lengths.push_back(static_cast<float>(steps));
    for (int64_t t = 0; t < steps; ++t) {
      for (int64_t c = 0; c < kFeatures; ++c) data[at(i, t, c)] = rows[i][t * kFeatures + c];
    }
  }
  const Symbol x = Symbol::Variable("data"), valid = Symbol::Variable("lengths");
  const OverTimeOptions options = {.layout = time_major ? "TNC" : "NTC", .name = "pooled"};
  const Symbol pooled = mean ? MeanOverTime(x, valid, options) : MaxOverTime(x, valid, options);
  const Shape shape = time_major ? Shape({bucket, n, kFeatures}) : Shape({n, bucket, kFeatures});
  auto executor = Executor::SimpleBind(
      pooled, {.shapes = {{"data", PartialShape(shape.dims())}, {"lengths", PartialShape({n})}},
               .grad_req = WriteReq::kWrite,
               .grad_reqs = {{"lengths", WriteReq::kNull}}});
  EXPECT_THAT(executor, IsOk());
  COOPER_EXPECT_OK((*executor)->arg("data").CopyFrom(*NDArray::FromVector(shape, data)));
  COOPER_EXPECT_OK((*executor)->arg("lengths").CopyFrom(*NDArray::FromVector({n}, lengths)));
  COOPER_EXPECT_OK((*executor)->Forward(/*is_train=*/true));
  COOPER_EXPECT_OK((*executor)->Backward({*NDArray::FromVector({n, kFeatures}, heads)}));
  Pooled result = {.values = *(*(*executor)->outputs())[0].ToVector<float>()};
  const std::vector<float> gradients = *(*executor)->grad("data").ToVector<float>();
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t t = 0; t < bucket; ++t) {
      for (int64_t c = 0; c < kFeatures; ++c) result.gradients.push_back(gradients[at(i, t, c)]);
    }
  }
  return result;
}

TEST(OverTimeTest, IsOfTheStepsThatAreThere) {
  ForRandomCases(300, [](RandomGenerator& random) {
    Rows rows(1 + random.NextBelow(4));
    std::vector<float> heads(rows.size() * kFeatures);
    int64_t longest = 1;
    for (std::vector<float>& row : rows) {
      const auto steps = static_cast<int64_t>(1 + random.NextBelow(7));
      longest = std::max(longest, steps);
      row.resize(steps * kFeatures);
      for (float& value : row) value = static_cast<float>(random.NextBelow(1u << 20)) / 1024 - 512;
    }
    for (float& head : heads) head = static_cast<float>(random.NextBelow(64)) / 8 - 4;
    const bool mean = random.NextBelow(2) == 0, time_major = random.NextBelow(2) == 0;
    const int64_t bucket = longest + static_cast<int64_t>(random.NextBelow(4));
    const Pooled pooled = Pool(mean, time_major, rows, bucket, heads, random);
    for (size_t i = 0; i < rows.size(); ++i) {
      const size_t steps = rows[i].size() / kFeatures;
      for (int64_t c = 0; c < kFeatures; ++c) {
        double sum = 0, magnitude = 0;
        size_t best = 0;
        for (size_t t = 0; t < steps; ++t) {
          const float value = rows[i][t * kFeatures + c];
          sum += value;
          magnitude += std::abs(value);
          if (value > rows[i][best * kFeatures + c]) best = t;
        }
        const float value = pooled.values[i * kFeatures + c], head = heads[i * kFeatures + c];
        const double rounding = 8 * std::numeric_limits<float>::epsilon();
        if (mean) {
          ASSERT_NEAR(value, sum / static_cast<double>(steps), rounding * magnitude);
        } else {
          ASSERT_EQ(value, rows[i][best * kFeatures + c]);
        }
        for (int64_t t = 0; t < bucket; ++t) {
          const float gradient = pooled.gradients[(i * bucket + t) * kFeatures + c];
          const bool counts = t < static_cast<int64_t>(steps);
          if (mean && counts) {
            ASSERT_NEAR(gradient, head / static_cast<float>(steps), rounding * std::abs(head));
          } else if (!counts || rows[i][t * kFeatures + c] != value) {
            ASSERT_EQ(gradient, 0) << "row " << i << ", step " << t;
          }
        }
      }
    }
  });
}

// A row without steps, as rows of padding are, takes its first position, so that no value is NaN.
TEST(OverTimeTest, OfNoStepIsTheFirst) {
  for (const bool mean : {false, true}) {
    RandomGenerator random(1);
    const Pooled pooled = Pool(mean, false, {{}, {1, 2, 3}}, 2, std::vector<float>(6, 1), random);
    for (const float value : pooled.values) EXPECT_TRUE(std::abs(value) <= 1000) << value;
    for (const float gradient : pooled.gradients) EXPECT_TRUE(std::abs(gradient) <= 1) << gradient;
    EXPECT_EQ(pooled.values[3], 1);
  }
}

TEST(OverTimeTest, RefusesOtherLayouts) {
  const Symbol data = Symbol::Variable("data"), valid = Symbol::Variable("lengths");
  for (const Symbol& symbol :
       {MeanOverTime(data, valid, {.layout = "TN"}), MaxOverTime(data, valid, {.layout = "TN"})}) {
    EXPECT_THAT(symbol.status(), StatusIs(absl::StatusCode::kInvalidArgument,
                                          HasSubstr("layout is 'TN', expected 'NTC' or 'TNC'")));
  }
}

}  // namespace
}  // namespace cooper
