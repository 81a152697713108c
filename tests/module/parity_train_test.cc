// Tests parameters, optimizers and files. The tests correspond to functions of MXNet 1.9.1's
// test_module.py, which their comments name (docs/mxnet_tests.md).

#include <cmath>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/buckets/bucket_sentence_iter.h"
#include "module/bucketing/bucketing_module.h"
#include "module/evaluate/monitor.h"
#include "module/initializer/initializers.h"
#include "module/metric/classification.h"
#include "module/network/module.h"
#include "module/optimizer/sgd.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/random/random.h"
#include "symbol/json/json.h"
#include "tests/module/module_fixtures.h"
#include "tests/module/parity_fixtures.h"

namespace cooper {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

constexpr auto kInvalidArgument = absl::StatusCode::kInvalidArgument;

NDArray Array(const Shape& shape, const std::vector<float>& values) {
  return *NDArray::FromVector(shape, values);
}

std::map<std::string, std::vector<float>> Values(const ArrayMap& arrays) {
  std::map<std::string, std::vector<float>> values;
  for (const auto& [name, array] : arrays) values[name] = Floats(array);
  return values;
}

std::map<std::string, std::vector<float>> StatesOf(const Module& module) {
  const auto states = *module.group()->updater()->GetStates();
  return Values(ArrayMap(states.begin(), states.end()));
}

Symbol OneLayer() {
  return Op("FullyConnected",
            {.name = "fc", .inputs = {Symbol::Variable("data")}, .attrs = {{"num_hidden", "5"}}});
}

const ModuleBindOptions kEightRows = {.data_shapes = {{.name = "data", .shape = {8, 4}}}};

// test_save_load: symbol, parameters and optimizer states come back as they were saved, and a model
// that was trained on two contexts continues on one.
TEST(ParityTrainTest, ACheckpointBringsBackParametersAndStates) {
  const std::string prefix = testing::TempDir() + "/parity";
  const InitOptimizerOptions optimizer = {
      .optimizer_params = {{"learning_rate", "0.1"}, {"momentum", "0.9"}}};
  for (int num_contexts : {1, 2}) {
    auto module = Make(OneLayer(), {.compute = {.contexts = Cpus(num_contexts)}});
    COOPER_ASSERT_OK(module->Bind(kEightRows));
    COOPER_ASSERT_OK(module->InitParams());
    COOPER_ASSERT_OK(module->InitOptimizer(optimizer));
    COOPER_ASSERT_OK(module->Update()) << "without a gradient yet: zeros";
    COOPER_ASSERT_OK(module->Forward({.data = {RandomArray({8, 4}, 1)}}));
    COOPER_ASSERT_OK(module->Backward({RandomArray({8, 5}, 2)}));
    COOPER_ASSERT_OK(module->Update());
    COOPER_ASSERT_OK(module->SaveCheckpoint(prefix, 0, /*save_optimizer_states=*/true));

    COOPER_ASSERT_OK_AND_ASSIGN(auto loaded,
                                Module::Load(prefix, 0, /*load_optimizer_states=*/true));
    COOPER_ASSERT_OK(loaded->Bind(kEightRows));
    COOPER_ASSERT_OK(loaded->InitOptimizer(optimizer));
    EXPECT_EQ(SymbolToJson(*loaded->symbol()), SymbolToJson(*module->symbol()));
    EXPECT_EQ(Values(loaded->GetParams()->args), Values(module->GetParams()->args));
    EXPECT_EQ(StatesOf(*loaded), StatesOf(*module));
    EXPECT_NE(StatesOf(*loaded)["fc_weight:momentum"], std::vector<float>(20, 0.0f));
  }
}

// Returns sentences in which every word determines the next.
std::unique_ptr<BucketSentenceIter> Sentences(uint64_t seed) {
  RandomGenerator random(seed);
  std::vector<std::vector<int>> sentences(80);
  for (std::vector<int>& sentence : sentences) {
    int word = static_cast<int>(random.NextBelow(19));
    sentence.resize(4 + random.NextBelow(9));
    for (int& next : sentence) next = word = 1 + word * 7 % 19;
  }
  return *BucketSentenceIter::Create(sentences, 8,
                                     {.buckets = {3, 6, 9, 12}, .common = {.shuffle = false}});
}

// test_bucketing_save_load: a bucketed model that was trained, saved and loaded with sym_gen has
// its parameters, scores as before, and can be trained further.
TEST(ParityTrainTest, ABucketedCheckpointCanBeTrainedFurther) {
  const std::string prefix = testing::TempDir() + "/parity_buckets";
  const SymGen sym_gen = [](const BucketKey& key) -> absl::StatusOr<BucketSymbol> {
    return BucketSymbol{.symbol = WordsNet(static_cast<int>(key.int_value()))};
  };
  const auto train = Sentences(1), validation = Sentences(2);
  const auto perplexity = Perplexity({.ignore_label = -1});
  const auto score = [&](BaseModule& module) {
    auto scores = module.Score(*validation, *perplexity);
    EXPECT_TRUE(scores.ok()) << scores.status();
    return (*scores)[0].second;
  };
  const FitOptions fit = {.eval_data = validation.get(),
                          .eval_metric = perplexity.get(),
                          .optimizer = {.kvstore = "device",
                                        .optimizer_params = {{"learning_rate", "0.01"},
                                                             {"momentum", "0"},
                                                             {"wd", "0.00001"}}},
                          .params = {.initializer = init::Xavier(
                                         {.factor_type = init::FactorType::kIn, .magnitude = 2.3})},
                          .num_epoch = 2};
  COOPER_ASSERT_OK_AND_ASSIGN(
      auto model, BucketingModule::Create(
                      {.sym_gen = sym_gen, .default_bucket_key = train->default_bucket_key()}));
  COOPER_ASSERT_OK(model->Fit(*train, fit));
  EXPECT_GE(model->Report().size(), 3u);
  COOPER_ASSERT_OK(model->SaveCheckpoint(prefix, 0));

  COOPER_ASSERT_OK_AND_ASSIGN(
      auto loaded,
      BucketingModule::Load(
          prefix, 0, {.sym_gen = sym_gen, .default_bucket_key = train->default_bucket_key()}));
  COOPER_ASSERT_OK(
      loaded->Bind({.data_shapes = train->provide_data(), .label_shapes = train->provide_label()}));
  EXPECT_EQ(Values(loaded->GetParams()->args), Values(model->GetParams()->args));
  const double before = score(*loaded);
  EXPECT_EQ(before, score(*model));
  COOPER_ASSERT_OK(loaded->Fit(*train, fit));
  EXPECT_LT(score(*loaded), before);
}

const NDArray kRow = Array({1, 2}, {0.8f, -0.4f});
const NDArray kTarget = Array({1, 2}, {0.9f, 0.2f});

ArrayMap SigmoidParams() {
  return {{"fc_0_weight", Array({2, 2}, {0.5f, -0.25f, 0.75f, 0.125f})},
          {"fc_0_bias", Array({2}, {0.1f, -0.2f})},
          {"fc_1_weight", Array({2, 2}, {-0.5f, 1, 0.25f, -0.75f})},
          {"fc_1_bias", Array({2}, {0.3f, 0.05f})}};
}

std::unique_ptr<Module> BoundSigmoids() {
  auto module = Make(TwoSigmoids(), {});
  COOPER_EXPECT_OK(module->Bind({.data_shapes = {{.name = "data", .shape = {1, 2}}},
                                 .label_shapes = {{.name = "softmax_label", .shape = {1, 2}}}}));
  return module;
}

// test_module_set_params: missing and superfluous names are errors unless they are allowed, and an
// error changes nothing.
TEST(ParityTrainTest, SetParamsTakesMissingAndExtraNamesOnlyIfAllowed) {
  auto module = BoundSigmoids();
  const auto expect_output = [&] {
    COOPER_ASSERT_OK(module->Forward({.data = {kRow}, .label = {kTarget}}, /*is_train=*/false));
    // The expected values are MXNet's.
    EXPECT_THAT(Floats((*module->GetOutputs())[0]),
                Pointwise(FloatNear(1e-6f), {0.6373289f, 0.44311014f}));
  };
  const ArrayMap correct = SigmoidParams();
  COOPER_ASSERT_OK(module->SetParams(correct, {}));
  expect_output();

  ArrayMap missing = correct;
  missing.erase("fc_1_bias");
  ArrayMap extra = correct;
  extra["fc_2_weight"] = Array({2}, {0.6f, 0.6f});
  COOPER_EXPECT_OK(module->SetParams(missing, {}, {.allow_missing = true}));
  COOPER_EXPECT_OK(module->SetParams(extra, {}, {.allow_missing = true, .allow_extra = true}));
  expect_output();

  ArrayMap other = correct;
  for (auto& [name, array] : other) array = *NDArray::Zeros(array.shape());
  missing = other;
  missing.erase("fc_1_bias");
  extra = other;
  extra["fc_2_weight"] = Array({2}, {0.6f, 0.6f});
  const ArrayMap unrelated = {{"fc_2_weight", Array({2}, {0.6f, 0.6f})}};
  EXPECT_THAT(module->SetParams(missing, {}), StatusIs(kInvalidArgument, HasSubstr("'fc_1_bias'")));
  expect_output();
  EXPECT_THAT(module->SetParams(extra, {}, {.allow_missing = true}),
              StatusIs(kInvalidArgument, HasSubstr("no parameter 'fc_2_weight'")));
  expect_output();
  EXPECT_THAT(module->SetParams(unrelated, {}), StatusIs(kInvalidArgument, HasSubstr("'fc_0_")));
  EXPECT_THAT(module->SetParams(unrelated, {}, {.allow_missing = true}),
              StatusIs(kInvalidArgument, HasSubstr("no parameter 'fc_2_weight'")));
  expect_output();
}

double MeanMagnitude(const NDArray& array) {
  double sum = 0;
  for (float value : Floats(array)) sum += std::abs(static_cast<double>(value));
  return sum / static_cast<double>(array.size());
}

// test_monitor: a batch gives the statistics that MXNet gives, under cooper's names.
TEST(ParityTrainTest, AMonitorSeesWhatMxnetsSees) {
  auto module = BoundSigmoids();
  std::map<std::string, double> values;
  const auto watch = [&](MonitorOptions options) {
    options.stat_func = [](const NDArray& array) {
      return std::vector<double>{MeanMagnitude(array)};
    };
    auto monitor = *Monitor::Create(options);
    COOPER_ASSERT_OK(monitor->Install(*module));
    COOPER_ASSERT_OK(module->InitParams({.arg_params = SigmoidParams()}));
    COOPER_ASSERT_OK(monitor->Tic());
    COOPER_ASSERT_OK(module->ForwardBackward({.data = {kRow}, .label = {kTarget}}));
    COOPER_ASSERT_OK_AND_ASSIGN(const std::vector<MonitorStat> stats, monitor->Toc());
    for (const MonitorStat& stat : stats) {
      EXPECT_TRUE(values.emplace(stat.name, stat.values[0]).second) << stat.name << " comes twice";
    }
  };
  watch({.sort = true});
  // Also data and labels, which MXNet always reports.
  watch({.pattern = "fc_0_data|softmax_label", .monitor_all = true});
  const std::pair<const char*, double> expected[] = {
      // name here                MXNet 1.9.1's value, and its name where that is another
      {"act_0_output", 0.61613697},
      {"act_0_backward_output", 0.018005058},
      {"act_1_output", 0.54021955},
      {"act_1_backward_output", 0.060352355},
      {"fc_0_data", 0.6},  // data
      {"fc_0_output", 0.475},
      {"fc_0_weight", 0.40625},
      {"fc_0_bias", 0.15},
      {"fc_0_backward_weight", 0.0108030345},  // fc_0_backward_output1
      {"fc_0_backward_bias", 0.018005058},     // fc_0_backward_output2
      {"fc_1_output", 0.39616928},
      {"fc_1_weight", 0.625},
      {"fc_1_bias", 0.175},
      {"fc_1_backward_data", 0.07553085},    // fc_1_backward_output0
      {"fc_1_backward_weight", 0.03718532},  // fc_1_backward_output1
      {"fc_1_backward_bias", 0.060352355},   // fc_1_backward_output2
      {"softmax_label", 0.55},
      {"softmax_output", 0.54021955},
      {"softmax_backward_data", 0.2528906},  // softmax_backward_output0
      // Gradients that MXNet's monitor omits.
      {"fc_0_weight_grad", 0.0108030345},
      {"fc_0_bias_grad", 0.018005058},
      {"fc_1_weight_grad", 0.03718532},
      {"fc_1_bias_grad", 0.060352355},
  };
  for (const auto& [name, value] : expected) {
    ASSERT_TRUE(values.contains(name)) << name;
    EXPECT_NEAR(values[name], value, 1e-6 * value) << name;
  }
  // MXNet reports unrequested gradients with uninitialised values; cooper omits them.
  EXPECT_EQ(values.size(), std::size(expected));
}

// test_module_update_no_pragram: a module without parameters can be trained like any other.
TEST(ParityTrainTest, AModuleWithoutParametersUpdatesNothing) {
  const Symbol dropout =
      Op("Dropout", {.inputs = {Symbol::Variable("data")}, .attrs = {{"p", "0.5"}}});
  for (int num_contexts : {1, 2}) {
    auto module = Make(dropout, {.compute = {.contexts = Cpus(num_contexts)}});
    COOPER_ASSERT_OK(module->Bind(kEightRows));
    COOPER_ASSERT_OK(module->InitParams());
    COOPER_ASSERT_OK(module->InitOptimizer());
    COOPER_ASSERT_OK(module->ForwardBackward({.data = {RandomArray({8, 4}, 1)}}));
    COOPER_ASSERT_OK(module->Update());
    EXPECT_EQ((*module->GetOutputs())[0].shape(), Shape({8, 4}));
  }
}

// test_module_init_optimizer: an optimizer created by name or passed as an object knows the
// parameters' names: states have them, and biases get no weight decay.
TEST(ParityTrainTest, AnOptimizerKnowsTheParametersNames) {
  constexpr double kRescale = 1.0 / 8;
  const InitOptimizerOptions by_name = {
      .optimizer_params = {
          {"learning_rate", "1"}, {"momentum", "0.5"}, {"wd", "0.25"}, {"rescale_grad", "0.125"}}};
  const InitOptimizerOptions object = {
      .instance = Sgd(
          {.common = {.rescale_grad = kRescale, .wd = 0.25, .learning_rate = 1}, .momentum = 0.5})};
  for (const InitOptimizerOptions& options : {by_name, object}) {
    auto module = Make(OneLayer(), {.label_names = {}});
    COOPER_ASSERT_OK(module->Bind(kEightRows));
    const ArrayMap ones = {{"fc_weight", *NDArray::Full({5, 4}, 1)},
                           {"fc_bias", *NDArray::Full({5}, 1)}};
    COOPER_ASSERT_OK(module->InitParams({.arg_params = ones}));
    COOPER_ASSERT_OK(module->InitOptimizer(options));
    EXPECT_EQ(module->group()->updater()->optimizer().rescale_grad(), kRescale);
    COOPER_ASSERT_OK(module->Update());  // gradients of 0: decay alone
    COOPER_ASSERT_OK_AND_ASSIGN(const ModuleParams params, module->GetParams());
    EXPECT_THAT(Floats(params.args.at("fc_weight")), Each(0.75f));
    EXPECT_THAT(Floats(params.args.at("fc_bias")), Each(1));
    const auto states = StatesOf(*module);
    EXPECT_THAT(states, Contains(testing::Key("fc_weight:momentum")));
    EXPECT_THAT(states, Contains(testing::Key("fc_bias:momentum")));
  }
}

}  // namespace
}  // namespace cooper
