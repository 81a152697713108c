#include "module/fit/early_stopping.h"

#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/iterators/ndarray_iter.h"
#include "module/initializer/initializers.h"
#include "module/kwargs/kwargs.h"
#include "module/metric/classification.h"
#include "module/metric/create_metric.h"
#include "module/metric/custom_metric.h"
#include "module/metric/metric_registry.h"
#include "module/network/module.h"
#include "ndarray/base/status_matchers.h"
#include "tests/module/module_fixtures.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::unique_ptr<DataIter> MakeIter() {
  return *NDArrayIter::Create({{"data", RandomArray({8, 6}, 5)}},
                              {{"softmax_label", Classes(8, 3, 5)}}, {.batch_size = 4});
}

// Returns a metric called `name` with values[i] as its value in evaluation i, of two batches.
std::unique_ptr<EvalMetric> Scripted(const std::string& name, std::vector<double> values) {
  auto calls = std::make_shared<size_t>(0);
  return CustomMetric(
      [calls, values = std::move(values)](const NDArray&, const NDArray&) -> SumAndCount {
        const size_t evaluation = (*calls)++ / 2;  // two batches in each
        return {.sum = values.at(evaluation), .count = 1};
      },
      {.common = {.name = name}});
}

std::map<std::string, std::vector<float>> Params(const BaseModule& module) {
  std::map<std::string, std::vector<float>> params;
  const ModuleParams copies = *module.GetParams();
  for (const auto& [name, array] : copies.args) params[name] = Floats(array);
  return params;
}

struct Outcome {
  int epochs = 0;
  std::vector<std::map<std::string, std::vector<float>>> params;  // after each epoch
  std::unique_ptr<Module> module;
};

// Trains for up to 10 epochs; evaluation i has values[i].
Outcome Train(EarlyStopping& stopping, const std::string& name, const std::vector<double>& values) {
  Outcome outcome;
  outcome.module = *Module::Create(TwoLayers());
  auto train = MakeIter(), valid = MakeIter();
  const auto metric = Accuracy({});
  const auto scripted = Scripted(name, values);
  COOPER_EXPECT_OK(
      outcome.module->Fit(*train, {.eval_data = valid.get(),
                                   .eval_metric = metric.get(),
                                   .validation_metric = scripted.get(),
                                   .epoch_end_callbacks = {[&](int, BaseModule& module) {
                                     ++outcome.epochs;
                                     outcome.params.push_back(Params(module));
                                     return true;
                                   }},
                                   .eval_end_callbacks = {stopping.AtEvalEnd()},
                                   .optimizer = {.optimizer_params = {{"learning_rate", "0.5"}}},
                                   .params = {.initializer = init::Uniform(0.5)},
                                   .num_epoch = 10}));
  return outcome;
}

TEST(EarlyStoppingTest, EndsTheTrainingAndGoesBackToTheBest) {
  std::vector<std::string> lines;
  EarlyStopping stopping(
      {.patience = 2, .log = [&](const std::string& line) { lines.push_back(line); }});
  const Outcome outcome = Train(stopping, "loss", {5, 3, 4, 2, 2, 2.5, 1});
  EXPECT_EQ(outcome.epochs, 6);
  EXPECT_TRUE(stopping.stopped());
  EXPECT_EQ(stopping.best(), 2);
  EXPECT_EQ(stopping.best_epoch(), 3);
  EXPECT_EQ(Params(*outcome.module), outcome.params[3]);
  EXPECT_NE(outcome.params[5], outcome.params[3]);
  EXPECT_THAT(lines, ElementsAre("EarlyStopping: loss is 2.5 after epoch 5, no better than 2 after "
                                 "epoch 3"));
}

TEST(EarlyStoppingTest, OfAccuraciesTheLargestIsBest) {
  EarlyStopping stopping({.log = nullptr});
  const Outcome outcome = Train(stopping, "accuracy", {0.5, 0.7, 0.6, 0.9});
  EXPECT_EQ(outcome.epochs, 3);
  EXPECT_EQ(stopping.best(), 0.7);
  EXPECT_EQ(Params(*outcome.module), outcome.params[1]);
}

// Covers every kind of metric, under its default name.
TEST(EarlyStoppingTest, KnowsWhichMetricsAGoodModelHasLarge) {
  const std::map<std::string, bool> larger_is_better = {
      {"accuracy", true},
      {"caffe", false},
      {"cross-entropy", false},
      {"f1", true},
      {"loss", false},
      {"mae", false},
      {"mAP", true},
      {"mcc", true},
      {"mse", false},
      {"nll-loss", false},
      {"pcc", true},
      {"pearsonr", true},
      {"perplexity", false},
      {"rmse", false},
      {"torch", false},
      {"top_k_accuracy_2", true},
  };
  const NDArray row = RandomArray({1, 1}, 1);
  for (const std::string& kind : Metrics().names()) {
    if (absl::StartsWith(kind, "composite")) continue;  // has the names of its metrics
    Kwargs kwargs;
    if (absl::StartsWith(kind, "top")) kwargs["top_k"] = "2";
    COOPER_ASSERT_OK_AND_ASSIGN(const auto made, CreateMetric(kind, kwargs));
    const std::string name = made->GetNameValue().at(0).first;
    ASSERT_TRUE(larger_is_better.contains(name)) << name;

    EarlyStopping stopping({.patience = 2, .restore_best = false, .log = nullptr});
    for (const double value : {1, 2}) {
      const auto metric =
          CustomMetric([value](const auto&, const auto&) { return SumAndCount{.sum = value}; },
                       {.common = {.name = name}});
      COOPER_ASSERT_OK(metric->Update({row}, {row}));
      EXPECT_TRUE(*stopping.AtEvalEnd()({.eval_metric = metric.get()}));
    }
    EXPECT_EQ(stopping.best(), larger_is_better.at(name) ? 2 : 1) << name;
  }
}

// The watched value covers the whole evaluation, even if a callback resets the local sums
// meanwhile.
TEST(EarlyStoppingTest, LooksAtTheWholeEvaluation) {
  auto module = *Module::Create(TwoLayers());
  auto train = MakeIter(), valid = MakeIter();
  const auto loss = Scripted("loss", std::vector<double>(10, 1));
  EarlyStopping stopping({.log = nullptr});
  COOPER_ASSERT_OK(
      module->Fit(*train, {.eval_data = valid.get(),
                           .validation_metric = loss.get(),
                           .eval_end_callbacks = {stopping.AtEvalEnd()},
                           .eval_batch_end_callbacks = {[](const BatchEndParam& param) {
                             param.eval_metric->ResetLocal();
                             return true;
                           }},
                           .num_epoch = 2}));
  EXPECT_EQ(stopping.best(), 1);
  COOPER_ASSERT_OK_AND_ASSIGN(
      const auto values,
      module->Score(*valid, *loss, {.batch_end_callbacks = {[](const auto& param) {
                                      param.eval_metric->ResetLocal();
                                      return true;
                                    }}}));
  EXPECT_EQ(values.at(0).second, 1);
}

TEST(EarlyStoppingTest, TooSmallAGainAndNaNAreNone) {
  EarlyStopping stopping(
      {.patience = 2, .min_delta = 0.5, .larger_is_better = false, .log = nullptr});
  const Outcome outcome = Train(stopping, "accuracy", {3, 2.75, std::nan(""), 1});
  EXPECT_EQ(outcome.epochs, 3);
  EXPECT_EQ(stopping.best_epoch(), 0);
}

TEST(EarlyStoppingTest, TheBestIsThereAfterTheLastEpochToo) {
  EarlyStopping stopping({.patience = 100});
  const Outcome outcome = Train(stopping, "loss", {3, 1, 2, 2, 2, 2, 2, 2, 2, 2});
  EXPECT_EQ(outcome.epochs, 10);
  EXPECT_FALSE(stopping.stopped());
  EXPECT_EQ(Params(*outcome.module), outcome.params[9]);
  COOPER_EXPECT_OK(stopping.RestoreBest(*outcome.module));
  EXPECT_EQ(Params(*outcome.module), outcome.params[1]);
}

TEST(EarlyStoppingTest, WithoutCopiesThereIsNothingToRestore) {
  EarlyStopping stopping({.restore_best = false, .log = nullptr});
  const Outcome outcome = Train(stopping, "loss", {3, 4});
  EXPECT_EQ(outcome.epochs, 2);
  EXPECT_EQ(Params(*outcome.module), outcome.params[1]);
  EXPECT_THAT(stopping.RestoreBest(*outcome.module),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("restore_best is false")));
}

TEST(EarlyStoppingTest, AMetricWithoutThatNameFails) {
  auto module = *Module::Create(TwoLayers());
  auto train = MakeIter(), valid = MakeIter();
  EarlyStopping stopping({.metric = "perplexity"});
  EXPECT_THAT(
      module->Fit(
          *train,
          {.eval_data = valid.get(), .eval_end_callbacks = {stopping.AtEvalEnd()}, .num_epoch = 3}),
      StatusIs(absl::StatusCode::kNotFound,
               HasSubstr("Score: after the evaluation of epoch 0: EarlyStopping: the metric "
                         "has no value 'perplexity', but 'accuracy'")));
  EXPECT_FALSE(stopping.stopped());
}

// A run that loads the state after any evaluation decides in the same way as the uninterrupted one.
TEST(EarlyStoppingTest, GoesOnFromAState) {
  const std::vector<double> values = {5, 3, 4, 2, 2, 2.5};
  auto module = *Module::Create(TwoLayers());
  auto iter = MakeIter();
  COOPER_ASSERT_OK(module->Bind({.data_shapes = iter->provide_data()}));
  COOPER_ASSERT_OK(module->InitParams());
  const auto evaluate = [&](EarlyStopping& stopping, size_t epoch) {
    const float weight = static_cast<float>(epoch);
    const std::string name = module->GetParams()->args.begin()->first;
    ArrayMap params = module->GetParams()->args;
    COOPER_EXPECT_OK(params[name].Fill(weight));
    COOPER_EXPECT_OK(module->SetParams(params, {}));
    const auto metric =
        CustomMetric([&](const auto&, const auto&) { return SumAndCount{.sum = values[epoch]}; },
                     {.common = {.name = "loss"}});
    const NDArray row = RandomArray({1, 1}, 1);
    COOPER_EXPECT_OK(metric->Update({row}, {row}));
    return *stopping.AtEvalEnd()(
        {.epoch = static_cast<int>(epoch), .eval_metric = metric.get(), .module = module.get()});
  };
  for (size_t killed = 0; killed < values.size(); ++killed) {
    EarlyStopping before({.patience = 2, .log = nullptr});
    for (size_t epoch = 0; epoch < killed; ++epoch) EXPECT_TRUE(evaluate(before, epoch));
    EarlyStopping after({.patience = 2, .log = nullptr});
    COOPER_ASSERT_OK_AND_ASSIGN(const ArrayMap state, before.SaveState());
    COOPER_ASSERT_OK(after.LoadState(state));
    for (size_t epoch = killed; epoch < values.size(); ++epoch) {
      EXPECT_EQ(evaluate(after, epoch), epoch + 1 < values.size()) << killed << " " << epoch;
    }
    EXPECT_EQ(after.best_epoch(), 3);
    EXPECT_EQ(after.best(), 2);
    EXPECT_EQ(Params(*module).begin()->second[0], 3) << killed;
  }

  EarlyStopping stopping({.log = nullptr});
  EXPECT_THAT(stopping.LoadState({}), StatusIs(absl::StatusCode::kInvalidArgument,
                                               HasSubstr("'counts' is not three numbers")));
  EXPECT_THAT(stopping.LoadState({{"other", RandomArray({1}, 1)}}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("unknown array 'other'")));
}

}  // namespace
}  // namespace cooper
