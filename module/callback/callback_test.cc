#include "module/callback/callback.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "module/callback/progress.h"
#include "module/callback/speedometer.h"
#include "module/checkpoint/do_checkpoint.h"
#include "module/metric/create_metric.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {

// Completes the type that callback.h only declares. No callback here uses members of a module.
class BaseModule {};

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Collects the logged lines.
class Lines {
 public:
  LogLine log() {
    return [lines = lines_](const std::string& line) { lines->push_back(line); };
  }
  std::vector<std::string> Take() { return std::exchange(*lines_, {}); }

 private:
  std::shared_ptr<std::vector<std::string>> lines_ = std::make_shared<std::vector<std::string>>();
};

std::unique_ptr<EvalMetric> Mae(float error) {
  std::unique_ptr<EvalMetric> metric = *CreateMetric("mae");
  const NDArray zero = *NDArray::FromVector<float>({1}, {0});
  EXPECT_THAT(metric->Update({zero}, {*NDArray::FromVector<float>({1}, {error})}), IsOk());
  return metric;
}

TEST(SpeedometerTest, CountsSamplesAndTokensOfTheEpoch) {
  Lines lines;
  double now = 100;
  const BatchEndCallback callback =
      Speedometer({.frequent = 2, .log = lines.log(), .now = [&now] { return now; }});
  const auto metric = Mae(0.5f);
  DataBatch batch;
  batch.data = {*NDArray::Zeros({4, 5})};
  batch.lengths = {5, 3, 2, 0};
  batch.pad = 1;
  for (int64_t n = 0; n < 5; ++n) {
    EXPECT_TRUE(*callback({.epoch = 3, .nbatch = n, .eval_metric = metric.get(), .batch = &batch}));
    now += 1.5;
  }
  EXPECT_THAT(lines.Take(),
              ElementsAre("Epoch[3] Batch [0-2]\tSpeed: 2.00 samples/sec, 6.67 tokens/sec, "
                          "50.0 % padding\tmae=0.500000",
                          "Epoch[3] Batch [2-4]\tSpeed: 2.00 samples/sec, 6.67 tokens/sec, "
                          "50.0 % padding\tmae=nan"));
  // The next epoch restarts the count: the first batch is not timed.
  now += 1000;
  for (int64_t n = 0; n < 3; ++n) {
    COOPER_ASSERT_OK(
        callback({.epoch = 4, .nbatch = n, .eval_metric = metric.get(), .batch = &batch}));
    now += 3;
  }
  EXPECT_THAT(lines.Take(), ElementsAre(HasSubstr("Speed: 1.00 samples/sec")));
}

TEST(SpeedometerTest, PaddingIsAlongTheTimeAxis) {
  const struct {
    const char* layout;
    Shape shape;
    const char* line;
  } cases[] = {
      {"NT", {4, 5}, "4.00 samples/sec, 10.00 tokens/sec, 50.0 % padding"},
      {"TNC", {5, 4, 3}, "4.00 samples/sec, 10.00 tokens/sec, 50.0 % padding"},
      {"NCT", {4, 3, 5}, "4.00 samples/sec, 10.00 tokens/sec, 50.0 % padding"},
      {"NCHW", {4, 3, 5, 6}, "4.00 samples/sec"},  // the layout has no axis of time
      {"NCHW",
       {4, 5},
       "4.00 samples/sec, 10.00 tokens/sec, 50.0 % padding"},  // the layout is not this array's
  };
  for (const auto& c : cases) {
    Lines lines;
    double now = 0;
    const BatchEndCallback callback =
        Speedometer({.frequent = 1, .log = lines.log(), .now = [&now] { return now++; }});
    DataBatch batch;
    batch.data = {*NDArray::Zeros(c.shape)};
    batch.provide_data = {{.name = "data", .shape = c.shape, .layout = c.layout}};
    batch.lengths = {5, 3, 2, 0};
    for (int64_t n = 0; n < 2; ++n) COOPER_ASSERT_OK(callback({.nbatch = n, .batch = &batch}));
    EXPECT_THAT(lines.Take(), ElementsAre(absl::StrCat("Epoch[0] Batch [0-1]\tSpeed: ", c.line)))
        << c.layout;
  }
}

TEST(SpeedometerTest, WithoutResetTellsOfTheWholeEpoch) {
  Lines lines;
  double now = 0;
  const BatchEndCallback callback = Speedometer(
      {.frequent = 1, .auto_reset = false, .log = lines.log(), .now = [&now] { return now; }});
  const auto metric = Mae(0.5f);
  DataBatch batch;
  batch.data = {*NDArray::Zeros({7, 2})};
  batch.provide_data = {{.name = "data", .shape = {7, 2}, .layout = "TN"}};
  for (int64_t n = 0; n < 3; ++n) {
    COOPER_ASSERT_OK(callback({.nbatch = n, .eval_metric = metric.get(), .batch = &batch}));
    now += 1;
  }
  EXPECT_THAT(lines.Take(),
              ElementsAre("Epoch[0] Batch [0-1]\tSpeed: 2.00 samples/sec\tmae=0.500000",
                          "Epoch[0] Batch [0-2]\tSpeed: 2.00 samples/sec\tmae=0.500000"));
}

TEST(ProgressBarTest, FillsUp) {
  Lines lines;
  const BatchEndCallback callback = ProgressBar(4, 8, lines.log());
  for (int64_t n : {0, 1, 4, 9}) COOPER_ASSERT_OK(callback({.nbatch = n}));
  EXPECT_THAT(lines.Take(),
              ElementsAre("[--------] 0%", "[==------] 25%", "[========] 100%", "[========] 100%"));
}

// A computed period or number may be 0 or negative.
TEST(CallbackTest, NumbersThatAreTooSmallCountAsTheSmallest) {
  Lines lines;
  const auto metric = Mae(0.5f);
  for (const int bad : {0, -3}) {
    const BatchEndCallback callbacks[] = {
        Speedometer(
            {.frequent = bad, .auto_reset = false, .log = lines.log(), .now = [] { return 0.0; }}),
        LogTrainMetric({.period = bad, .log = lines.log()}), ProgressBar(bad, bad, lines.log()),
        ProgressBar(bad, 4, lines.log())};
    for (int64_t n = 0; n < 2; ++n) {
      for (const BatchEndCallback& callback : callbacks) {
        EXPECT_TRUE(*callback({.nbatch = n, .eval_metric = metric.get()}));
      }
    }
    EXPECT_THAT(lines.Take(),
                ElementsAre("Iter[0] Batch[0] Train-mae=0.500000", "[] 0%", "[----] 0%",
                            HasSubstr("Batch [0-1]"), "Iter[0] Batch[1] Train-mae=0.500000",
                            "[] 100%", "[====] 100%"));
  }
}

TEST(LogTrainMetricTest, LogsEveryPeriod) {
  Lines lines;
  const auto metric = Mae(0.5f);
  const BatchEndCallback callback =
      LogTrainMetric({.period = 2, .auto_reset = true, .log = lines.log()});
  for (int64_t n = 1; n < 5; ++n) {
    COOPER_ASSERT_OK(callback({.epoch = 1, .nbatch = n, .eval_metric = metric.get()}));
  }
  EXPECT_THAT(lines.Take(),
              ElementsAre("Iter[1] Batch[2] Train-mae=0.500000", "Iter[1] Batch[4] Train-mae=nan"));
}

TEST(LogValidationMetricsTest, LogsEachValue) {
  Lines lines;
  const auto metric = Mae(0.5f);
  COOPER_EXPECT_OK(
      LogValidationMetrics(lines.log())({.epoch = 2, .eval_metric = metric.get()}).status());
  EXPECT_THAT(lines.Take(), ElementsAre("Epoch[2] Validation-mae=0.500000"));
}

TEST(DoCheckpointTest, SavesEveryPeriodWithTheNumberOfEpochs) {
  std::vector<int> saved;
  BaseModule module;
  const EpochEndCallback callback = DoCheckpoint(
      [&](int number, BaseModule&) {
        saved.push_back(number);
        return absl::OkStatus();
      },
      2);
  for (int epoch = 0; epoch < 5; ++epoch) EXPECT_THAT(callback(epoch, module), IsOkAndHolds(true));
  EXPECT_THAT(saved, ElementsAre(2, 4));
}

TEST(DoCheckpointTest, PassesErrorsOn) {
  BaseModule module;
  const EpochEndCallback callback =
      DoCheckpoint([](int, BaseModule&) { return absl::UnavailableError("disk full"); });
  EXPECT_THAT(callback(0, module),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("disk full")));
}

TEST(DoCheckpointTest, AnErrorThatIsToldEndsNothing) {
  std::vector<std::string> lines;
  BaseModule module;
  const EpochEndCallback callback =
      DoCheckpoint([](int, BaseModule&) { return absl::UnavailableError("disk full"); }, 1,
                   [&](const std::string& line) { lines.push_back(line); });
  EXPECT_THAT(callback(4, module), IsOkAndHolds(true));
  EXPECT_THAT(lines, ElementsAre("checkpoint of epoch 5: disk full"));
}

}  // namespace
}  // namespace cooper
