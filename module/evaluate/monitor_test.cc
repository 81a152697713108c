// Tests Monitor: which values it reports, when, and with which numbers.

#include "module/evaluate/monitor.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/iterators/ndarray_iter.h"
#include "module/bucketing/bucketing_module.h"
#include "module/initializer/initializers.h"
#include "module/network/module.h"
#include "module/sequential_module.h"
#include "ndarray/base/status_matchers.h"
#include "tests/module/module_fixtures.h"

namespace cooper {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::unique_ptr<Module> BoundModule() {
  auto model = *Module::Create(TwoLayers());
  COOPER_EXPECT_OK(
      model->Bind({.data_shapes = {{.name = "data", .shape = {4, 6}, .layout = "NC"}},
                   .label_shapes = {{.name = "softmax_label", .shape = {4}, .layout = "N"}}}));
  COOPER_EXPECT_OK(model->InitParams({.initializer = init::Uniform(0.5)}));
  return model;
}

std::unique_ptr<Monitor> Make(MonitorOptions options, BaseModule& model) {
  auto monitor = Monitor::Create(std::move(options));
  EXPECT_TRUE(monitor.ok()) << monitor.status();
  COOPER_EXPECT_OK((*monitor)->Install(model));
  return *std::move(monitor);
}

DataBatch Batch(uint64_t seed) {
  return {.data = {RandomArray({4, 6}, seed)}, .label = {Classes(4, 3, seed)}};
}

// Returns the monitor's statistics of one batch.
std::vector<MonitorStat> Watch(Monitor& monitor, BaseModule& model, const DataBatch& batch) {
  COOPER_EXPECT_OK(monitor.Tic());
  COOPER_EXPECT_OK(model.ForwardBackward(batch));
  auto stats = monitor.Toc();
  EXPECT_TRUE(stats.ok()) << stats.status();
  return *std::move(stats);
}

std::vector<std::string> Names(const std::vector<MonitorStat>& stats) {
  std::vector<std::string> names;
  names.reserve(stats.size());
  for (const MonitorStat& stat : stats) names.push_back(stat.name);
  return names;
}

double RootMeanSquare(const NDArray& array) {
  double sum = 0;
  for (float value : Floats(array)) sum += static_cast<double>(value) * value;
  return std::sqrt(sum / static_cast<double>(array.size()));
}

TEST(MonitorTest, ReportsOutputsThenParametersThenTheirGradients) {
  auto model = BoundModule();
  auto monitor = Make({}, *model);
  const std::vector<MonitorStat> stats = Watch(*monitor, *model, Batch(1));
  EXPECT_THAT(Names(stats),
              ElementsAre("fc1_output", "act_output", "fc2_output", "softmax_output",
                          "softmax_backward_data", "fc2_backward_data", "fc2_backward_weight",
                          "fc2_backward_bias", "act_backward_output", "fc1_backward_weight",
                          "fc1_backward_bias", "fc1_bias", "fc1_weight", "fc2_bias", "fc2_weight",
                          "fc1_bias_grad", "fc1_weight_grad", "fc2_bias_grad", "fc2_weight_grad"));
  std::map<std::string, NDArray> arrays = {{"softmax_output", (*model->GetOutputs())[0]}};
  COOPER_ASSERT_OK_AND_ASSIGN(const ModuleParams params, model->GetParams());
  for (const auto& [name, array] : params.args) {
    arrays.emplace(name, array);
    arrays.emplace(name + "_grad", *model->GetGrad(name));
  }
  for (const MonitorStat& stat : stats) {
    EXPECT_EQ(stat.batch, 1);
    ASSERT_EQ(stat.values.size(), 1u);
    const auto array = arrays.find(stat.name);
    if (array == arrays.end()) continue;
    EXPECT_NEAR(stat.values[0], RootMeanSquare(array->second), 1e-12) << stat.name;
  }
}

TEST(MonitorTest, WatchesEveryIntervalThBatch) {
  auto model = BoundModule();
  int calls = 0;
  auto monitor = Make({.interval = 3,
                       .stat_func =
                           [&calls](const NDArray& array) {
                             ++calls;
                             return std::vector<double>{static_cast<double>(array.size()), 0.5};
                           },
                       .pattern = "fc1_output"},
                      *model);
  std::vector<std::string> lines;
  for (uint64_t step = 0; step < 7; ++step) {
    for (const MonitorStat& stat : Watch(*monitor, *model, Batch(step))) {
      lines.push_back(stat.ToString());
    }
  }
  EXPECT_THAT(lines, ElementsAre("Batch:       1 fc1_output                     20\t0.5",
                                 "Batch:       4 fc1_output                     20\t0.5",
                                 "Batch:       7 fc1_output                     20\t0.5"));
  EXPECT_EQ(calls, 3);
  // After Toc the module has no callback.
  COOPER_ASSERT_OK(model->Forward(Batch(1)));
  EXPECT_EQ(calls, 3);
}

TEST(MonitorTest, ThePatternMatchesFromTheFirstCharacterOn) {
  auto model = BoundModule();
  const std::pair<const char*, std::vector<std::string>> cases[] = {
      {"fc1_b", {"fc1_backward_weight", "fc1_backward_bias", "fc1_bias", "fc1_bias_grad"}},
      {"bias", {}},
      {".*bias$", {"fc2_backward_bias", "fc1_backward_bias", "fc1_bias", "fc2_bias"}},
      {"act|softmax_o", {"act_output", "softmax_output", "act_backward_output"}},
  };
  for (const auto& [pattern, expected] : cases) {
    auto monitor = Make({.pattern = pattern}, *model);
    EXPECT_EQ(Names(Watch(*monitor, *model, Batch(1))), expected) << pattern;
  }
}

TEST(MonitorTest, SortsByName) {
  auto model = BoundModule();
  auto monitor = Make({.sort = true}, *model);
  const std::vector<std::string> names = Names(Watch(*monitor, *model, Batch(1)));
  EXPECT_EQ(names.size(), 19u);
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
}

TEST(MonitorTest, WithMonitorAllInputsAreSeenToo) {
  auto model = BoundModule();
  auto monitor = Make({.pattern = "fc1_|softmax_l", .monitor_all = true}, *model);
  const std::vector<std::string> names = Names(Watch(*monitor, *model, Batch(1)));
  EXPECT_THAT(std::vector<std::string>(names.begin(), names.begin() + 4),
              ElementsAre("fc1_data", "fc1_weight", "fc1_bias", "fc1_output"));
  EXPECT_THAT(names, Contains("softmax_label"));
  // These are the inputs of the backward operator, then the gradients, named after the arguments.
  monitor = Make({.pattern = "fc2_backward", .monitor_all = true}, *model);
  EXPECT_THAT(Names(Watch(*monitor, *model, Batch(1))),
              ElementsAre("fc2_backward_input_ograd", "fc2_backward_input_data",
                          "fc2_backward_input_weight", "fc2_backward_data", "fc2_backward_weight",
                          "fc2_backward_bias"));
}

TEST(MonitorTest, ReportsAuxiliaryStates) {
  const Symbol norm =
      Op("BatchNorm", {.name = "bn", .inputs = {Symbol::Variable("data")}, .attrs = {}});
  const Symbol fc =
      Op("FullyConnected", {.name = "fc", .inputs = {norm}, .attrs = {{"num_hidden", "3"}}});
  auto model = *Module::Create(Op("SoftmaxOutput", {.name = "softmax", .inputs = {fc}}),
                               {.compute = {.fixed_param_names = {"fc_bias"}}});
  COOPER_ASSERT_OK(model->Bind({.data_shapes = {{.name = "data", .shape = {4, 6}}},
                                .label_shapes = {{.name = "softmax_label", .shape = {4}}}}));
  COOPER_ASSERT_OK(model->InitParams());
  auto monitor = Make({.pattern = "bn_moving|.*grad"}, *model);
  EXPECT_THAT(Names(Watch(*monitor, *model, Batch(1))),
              ElementsAre("bn_beta_grad", "bn_gamma_grad", "fc_weight_grad", "bn_moving_mean",
                          "bn_moving_var"));
}

DataBatch SequenceBatch(int64_t length) {
  return {.data = {RandomArray({4, length, 3}, 1)},
          .label = {Classes(4, 2, 1)},
          .bucket_key = length,
          .provide_data = {{.name = "data", .shape = {4, length, 3}}},
          .provide_label = {{.name = "softmax_label", .shape = {4}}}};
}

TEST(MonitorTest, SeesBucketsThatAreBoundLaterAndEachWeightOnce) {
  const SymGen sym_gen = [](const BucketKey&) -> absl::StatusOr<BucketSymbol> {
    return BucketSymbol{.symbol = MeanOverTime()};
  };
  COOPER_ASSERT_OK_AND_ASSIGN(
      auto model, BucketingModule::Create({.sym_gen = sym_gen, .default_bucket_key = 4}));
  COOPER_ASSERT_OK(model->Bind({.data_shapes = SequenceBatch(4).provide_data,
                                .label_shapes = SequenceBatch(4).provide_label}));
  COOPER_ASSERT_OK(model->InitParams());
  auto monitor = Make({.interval = 2, .pattern = "mean_output|fc_output|.*_weight"}, *model);
  const std::vector<std::string> expected = {"mean_output",   "fc_output",     "fc_backward_weight",
                                             "a_weight",      "b_weight",      "fc_weight",
                                             "a_weight_grad", "b_weight_grad", "fc_weight_grad"};
  for (int64_t length : {4, 2, 7, 9, 2}) {
    const std::vector<MonitorStat> stats = Watch(*monitor, *model, SequenceBatch(length));
    const bool watched = length == 4 || length == 7 || (length == 2 && model->Report().size() == 4);
    EXPECT_EQ(Names(stats), watched ? expected : std::vector<std::string>()) << length;
  }
}

TEST(MonitorTest, FitWatchesItsBatches) {
  COOPER_ASSERT_OK_AND_ASSIGN(
      auto data, NDArrayIter::Create({{"data", RandomArray({12, 6}, 1)}},
                                     {{"softmax_label", Classes(12, 3, 1)}}, {.batch_size = 4}));
  std::vector<std::string> lines;
  COOPER_ASSERT_OK_AND_ASSIGN(
      auto monitor,
      Monitor::Create({.interval = 2,
                       .stat_func =
                           [](const NDArray& array) {
                             return std::vector<double>{static_cast<double>(array.size())};
                           },
                       .pattern = "softmax_output|fc2_bias",
                       .log = [&](const std::string& line) { lines.push_back(line); }}));
  auto model = *Module::Create(TwoLayers());
  COOPER_ASSERT_OK(
      model->Fit(*data, {.eval_data = data.get(), .monitor = monitor.get(), .num_epoch = 1}));
  EXPECT_THAT(lines, ElementsAre("Batch:       1 softmax_output                 12",
                                 "Batch:       1 fc2_bias                       3",
                                 "Batch:       1 fc2_bias_grad                  3",
                                 "Batch:       3 softmax_output                 12",
                                 "Batch:       3 fc2_bias                       3",
                                 "Batch:       3 fc2_bias_grad                  3"));
}

TEST(MonitorTest, ErrorsSayWhatIsWrong) {
  constexpr auto kInvalidArgument = absl::StatusCode::kInvalidArgument;
  constexpr auto kFailedPrecondition = absl::StatusCode::kFailedPrecondition;
  EXPECT_THAT(Monitor::Create({.interval = 0}), StatusIs(kInvalidArgument, HasSubstr("is 0")));
  EXPECT_THAT(Monitor::Create({.pattern = "fc[1"}),
              StatusIs(kInvalidArgument, HasSubstr("pattern 'fc[1'")));
  COOPER_ASSERT_OK_AND_ASSIGN(auto monitor, Monitor::Create({}));
  EXPECT_THAT(monitor->Tic(), StatusIs(kFailedPrecondition, HasSubstr("Install before Tic")));
  auto unbound = *Module::Create(TwoLayers());
  EXPECT_THAT(monitor->Install(*unbound), StatusIs(kFailedPrecondition, HasSubstr("Bind")));

  auto model = BoundModule();
  const auto fail = [](const NDArray&) { return absl::DataLossError("no number"); };
  monitor = Make({.stat_func = fail, .pattern = "act"}, *model);
  COOPER_ASSERT_OK(monitor->Tic());
  COOPER_ASSERT_OK(model->Forward(Batch(1)));
  EXPECT_THAT(monitor->Toc(),
              StatusIs(absl::StatusCode::kDataLoss,
                       AllOf(HasSubstr("'act_output', (4, 5)"), HasSubstr("no number"))));
}

TEST(MonitorTest, ACallbackThatIsLeftBehindDoesNothing) {
  auto model = BoundModule();
  auto monitor = Make({.interval = 2}, *model);
  COOPER_ASSERT_OK(monitor->Tic());  // no Toc follows: the batch failed
  COOPER_ASSERT_OK(monitor->Tic());
  COOPER_ASSERT_OK(model->Forward(Batch(1)));
  EXPECT_THAT(*monitor->Toc(), IsEmpty());
  COOPER_ASSERT_OK(monitor->Tic());
  monitor.reset();
  COOPER_EXPECT_OK(model->Forward(Batch(1)));
}

// Fit installs a monitor of its own to find the first NaN, and must restore the caller's.
TEST(MonitorTest, ACallbackIsStillThereAfterFitHasLookedForNaN) {
  const Symbol log = Op("log", {.name = "log", .inputs = {Symbol::Variable("data")}});
  Symbol net = Op("SoftmaxOutput", {.name = "softmax", .inputs = {log}});
  std::vector<std::unique_ptr<BaseModule>> modules;
  modules.push_back(*Module::Create(net));
  modules.push_back(*BucketingModule::Create(
      {.sym_gen = [&net](const BucketKey&) { return net; }, .default_bucket_key = 1}));
  auto chain = std::make_unique<SequentialModule>();
  COOPER_ASSERT_OK(chain->Add(*Module::Create(net), {.take_labels = true}));
  modules.push_back(std::move(chain));
  const auto data = *NDArrayIter::Create({{"data", *NDArray::Full({4, 3}, -1)}},
                                         {{"softmax_label", Classes(4, 3, 1)}}, {.batch_size = 4});
  for (const auto& module : modules) {
    COOPER_ASSERT_OK(
        module->Bind({.data_shapes = data->provide_data(), .label_shapes = data->provide_label()}));
    std::vector<std::string> seen;
    COOPER_ASSERT_OK(module->InstallMonitor(
        [&seen](const std::string& name, const NDArray&) { seen.push_back(name); }));
    COOPER_ASSERT_OK(data->Reset());
    EXPECT_THAT(module->Fit(*data, {.progress = nullptr, .num_epoch = 1}),
                StatusIs(absl::StatusCode::kOutOfRange, HasSubstr("first made was log_output")));
    seen.clear();
    COOPER_ASSERT_OK(
        module->Forward({.data = {*NDArray::Full({4, 3}, 1)}, .label = {Classes(4, 3, 1)}}));
    EXPECT_THAT(seen, Contains("log_output"));
  }
}

}  // namespace
}  // namespace cooper
