// Tests what a predictor keeps for concurrent calls.

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "module/predict/predictor.h"
#include "ndarray/base/status_matchers.h"
#include "tests/module/module_fixtures.h"

namespace cooper {
namespace {

constexpr int64_t kUnits = 20000;

std::unique_ptr<const Predictor> Uncertain(PredictorOptions options = {}) {
  auto predictor = Predictor::Create(
      Op("Dropout", {.inputs = {Symbol::Variable("data")}, .attrs = {{"mode", "always"}}}), {}, {},
      std::move(options));
  EXPECT_TRUE(predictor.ok()) << predictor.status();
  return *std::move(predictor);
}

std::vector<float> Sample(const Predictor& predictor) {
  const auto outputs = predictor.Predict({{"data", *NDArray::Full({kUnits}, 1)}});
  EXPECT_TRUE(outputs.ok()) << outputs.status();
  return Floats((*outputs)[0]);
}

TEST(PredictorWorkersTest, TheSeedSaysWhatIsDrawn) {
  const std::vector<float> first = Sample(*Uncertain());
  EXPECT_EQ(Sample(*Uncertain({.seed = 0})), first);
  EXPECT_NE(Sample(*Uncertain({.seed = 1})), first);
}

TEST(PredictorWorkersTest, NoTwoCallsDrawTheSame) {
  const auto predictor = Uncertain();
  constexpr int kThreads = 8, kCalls = 30;
  std::vector<std::set<std::vector<float>>> drawn(kThreads);
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int k = 0; k < kCalls; ++k) drawn[t].insert(Sample(*predictor));
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<std::vector<float>> all;
  for (auto& samples : drawn) all.merge(samples);
  EXPECT_EQ(all.size(), kThreads * kCalls);
}

// An idle worker that is kept continues its stream of random numbers; a new worker's first draw
// depends only on its number.
TEST(PredictorWorkersTest, KeepsSoManyIdleOnes) {
  const auto kept = Uncertain(), forgotten = Uncertain({.max_idle_workers = 0});
  EXPECT_EQ(Sample(*kept), Sample(*forgotten));
  EXPECT_NE(Sample(*kept), Sample(*forgotten)) << "of a new worker";
  EXPECT_THAT(
      Predictor::Create(Symbol::Variable("data"), {}, {}, {.max_idle_workers = -1}),
      StatusIs(absl::StatusCode::kInvalidArgument, testing::HasSubstr("max_idle_workers is -1")));
}

}  // namespace
}  // namespace cooper
