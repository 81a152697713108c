// Tests _sample_multinomial: frequencies, logarithms of probabilities, their gradient, and
// independence of the number of threads.

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "executor/executor.h"
#include "gtest/gtest.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/threads/parallel.h"
#include "symbol/graph/symbol.h"

namespace cooper {
namespace {

constexpr int64_t kDraws = 40'000;
// The second row sums to 2.
const std::vector<float> kProbabilities = {0.1, 0, 0.6, 0.3, 0, 1, 0.5, 0.5};

struct Drawn {
  std::vector<double> outcomes;  // (2, kDraws)
  std::vector<float> logs;
  std::vector<float> gradient;  // for a head gradient of ones
};

Drawn Draw() {
  const AttrMap attrs = {{"shape", std::to_string(kDraws)}, {"get_prob", "True"}};
  auto symbol =
      Symbol::Create("_sample_multinomial", {.inputs = {Symbol::Variable("data")}, .attrs = attrs});
  EXPECT_TRUE(symbol.ok()) << symbol.status();
  auto executor = Executor::SimpleBind(*symbol, {.shapes = {{"data", {2, 4}}}});
  EXPECT_TRUE(executor.ok()) << executor.status();
  COOPER_EXPECT_OK(
      (*executor)->arg("data").CopyFrom(*NDArray::FromVector<float>({2, 4}, kProbabilities)));
  COOPER_EXPECT_OK((*executor)->Forward(/*is_train=*/true));
  const auto outputs = *(*executor)->outputs();
  const NDArray ones = *NDArray::Full({2, kDraws}, 1);
  const NDArray zeros = *NDArray::Zeros({2, kDraws}, DType::kInt32);
  COOPER_EXPECT_OK((*executor)->Backward({zeros, ones}));
  return {*(*outputs[0].AsType(DType::kFloat64)).ToVector<double>(), *outputs[1].ToVector<float>(),
          *(*executor)->grad("data").ToVector<float>()};
}

TEST(MultinomialTest, FrequenciesLogarithmsAndGradients) {
  const Drawn drawn = Draw();
  int64_t counts[8] = {};
  for (int64_t i = 0; i < 2 * kDraws; ++i) {
    const int64_t at = i / kDraws * 4 + static_cast<int64_t>(drawn.outcomes[i]);
    ++counts[at];
    ASSERT_FLOAT_EQ(drawn.logs[i], std::log(kProbabilities[at]));
  }
  for (int at = 0; at < 8; ++at) {
    const double p = kProbabilities[at] / (at < 4 ? 1 : 2);
    EXPECT_NEAR(static_cast<double>(counts[at]), p * kDraws, 5 * std::sqrt(p * (1 - p) * kDraws));
    const double gradient = p == 0 ? 0 : static_cast<double>(counts[at]) / kProbabilities[at];
    EXPECT_NEAR(drawn.gradient[at], gradient, 1e-3 * gradient);
  }
}

TEST(MultinomialTest, DoesNotDependOnThreads) {
  const int threads = NumThreads();
  SetNumThreads(1);
  const Drawn one = Draw();
  SetNumThreads(4);
  const Drawn four = Draw();
  SetNumThreads(threads);
  EXPECT_EQ(one.outcomes, four.outcomes);
  EXPECT_EQ(one.gradient, four.gradient);
}

}  // namespace
}  // namespace cooper
