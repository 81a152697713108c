// Tests Fit's callbacks that end a training, its checks for non-finite values, and its defaults.
// Ids: fit_ids_test.cc.

#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/batch/data_iter.h"
#include "io/iterators/ndarray_iter.h"
#include "io/iterators/prefetching_iter.h"
#include "module/initializer/initializers.h"
#include "module/metric/classification.h"
#include "module/metric/regression.h"
#include "module/network/module.h"
#include "module/sequential_module.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/op/loss.h"
#include "symbol/op/nn.h"
#include "tests/module/log_lines.h"
#include "tests/module/module_fixtures.h"

namespace cooper {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr auto kInvalidArgument = absl::StatusCode::kInvalidArgument;
constexpr auto kOutOfRange = absl::StatusCode::kOutOfRange;
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

std::unique_ptr<DataIter> Rows(const NDArray& data, const NDArray& label, int64_t batch_size = 4) {
  return *NDArrayIter::Create({{"data", data}}, {{"softmax_label", label}},
                              {.batch_size = batch_size});
}

std::unique_ptr<DataIter> RandomRows(int64_t rows) {
  return Rows(RandomArray({rows, 6}, 5), Classes(rows, 3, 5));
}

using Values = std::map<std::string, std::vector<float>>;

Values Params(const BaseModule& module) {
  Values params;
  const ModuleParams copies = *module.GetParams();
  for (const ArrayMap* arrays : {&copies.args, &copies.auxs}) {
    for (const auto& [name, array] : *arrays) params[name] = Floats(array);
  }
  return params;
}

FitOptions Options(int num_epoch = 1) {
  return {.progress = nullptr,
          .optimizer = {.optimizer_params = {{"learning_rate", "0.1"}}},
          .params = {.initializer = init::Uniform(0.5)},
          .num_epoch = num_epoch};
}

// --- Callbacks and metrics.

TEST(FitCallbackTest, AnErrorOfEachKindEndsTheTraining) {
  const std::map<std::string, const char*> messages = {
      {"batch", "Fit: epoch 0, batch 0: no"},
      {"epoch", "no"},
      {"eval_batch", "Score: epoch 0, batch 0: no"},
      {"eval", "Score: after the evaluation of epoch 0: no"}};
  for (const auto& [kind, message] : messages) {
    SCOPED_TRACE(kind);
    auto module = *Module::Create(TwoLayers());
    auto train = RandomRows(8), valid = RandomRows(8);
    FitOptions options = Options(10);
    options.eval_data = valid.get();
    const auto fail = [](const BatchEndParam&) { return absl::DataLossError("no"); };
    if (kind == "batch") options.batch_end_callbacks.push_back(fail);
    if (kind == "eval_batch") options.eval_batch_end_callbacks.push_back(fail);
    if (kind == "eval") options.eval_end_callbacks.push_back(fail);
    if (kind == "epoch") {
      options.epoch_end_callbacks.push_back(
          [](int, BaseModule&) -> absl::StatusOr<bool> { return absl::DataLossError("no"); });
    }
    EXPECT_THAT(module->Fit(*train, options), StatusIs(absl::StatusCode::kDataLoss, message));
  }
}

TEST(FitMetricTest, WarnsOfAccuracyOfARegression) {
  const Symbol scores = op::FullyConnected(Symbol::Variable("data"), {.num_hidden = 1});
  const Symbol label = Symbol::Variable("softmax_label");
  const std::pair<Symbol, const char*> networks[] = {
      {op::LinearRegressionOutput(scores, {.label = label, .name = "out"}),
       "LinearRegressionOutput 'out'"},
      {op::MAERegressionOutput(scores, {.label = label, .name = "out"}),
       "MAERegressionOutput 'out'"},
      {op::LogisticRegressionOutput(scores, {.label = label, .name = "out"}),
       "LogisticRegressionOutput 'out'"},
      {TwoLayers(), nullptr}};
  const auto mse = Mse({});
  for (const auto& [network, named] : networks) {
    for (EvalMetric* metric : {static_cast<EvalMetric*>(nullptr), mse.get()}) {
      if (named == nullptr && metric != nullptr) continue;
      auto module = *Module::Create(network);
      auto train = Rows(RandomArray({8, 6}, 5), Classes(8, 3, 5));
      FitOptions options = Options();
      options.eval_metric = metric;
      options.progress = nullptr;
      const LogLines log;
      COOPER_EXPECT_OK(module->Fit(*train, options));
      if (named == nullptr || metric != nullptr) {
        EXPECT_THAT(log.lines, testing::IsEmpty());
      } else {
        EXPECT_THAT(log.lines, ElementsAre(AllOf(HasSubstr("no eval_metric is given"),
                                                 HasSubstr(named), HasSubstr("CreateMetric"))));
      }
    }
  }
}

TEST(FitMetricTest, AScoreThatIsNaNIsAnError) {
  auto module = *Module::Create(TwoLayers());
  auto train = RandomRows(8);
  COOPER_ASSERT_OK(module->Fit(*train, Options()));
  const auto metric = Perplexity({.ignore_label = 0});
  const auto ignored = Rows(RandomArray({8, 6}, 5), *NDArray::Zeros({8}));
  EXPECT_THAT(module->Score(*ignored, *metric),
              StatusIs(kOutOfRange, AllOf(HasSubstr("Score: metric 'perplexity' is NaN over 2 "
                                                    "batches"),
                                          HasSubstr("all labels are ignored"))));
}

TEST(FitCallbackTest, EachKindEndsTheTraining) {
  for (const std::string kind : {"batch", "epoch", "eval_batch", "eval"}) {
    SCOPED_TRACE(kind);
    auto module = *Module::Create(TwoLayers());
    auto train = RandomRows(8), valid = RandomRows(8);
    int epochs = 0, calls = 0;
    FitOptions options = Options(10);
    options.eval_data = valid.get();
    options.epoch_end_callbacks.push_back([&](int epoch, BaseModule&) -> absl::StatusOr<bool> {
      epochs = epoch + 1;
      return kind != "epoch" || epoch < 1;
    });
    const auto stop = [&](const BatchEndParam& param) {
      ++calls;
      return param.epoch < 1;
    };
    if (kind == "batch") options.batch_end_callbacks.push_back(stop);
    if (kind == "eval_batch") options.eval_batch_end_callbacks.push_back(stop);
    if (kind == "eval") options.eval_end_callbacks.push_back(stop);
    COOPER_EXPECT_OK(module->Fit(*train, options));
    EXPECT_EQ(epochs, kind == "batch" ? 1 : 2);
    // A callback that is called after batches is called last for the second epoch's first batch.
    const std::map<std::string, int> expected = {
        {"batch", 3}, {"epoch", 0}, {"eval_batch", 3}, {"eval", 2}};
    EXPECT_EQ(calls, expected.at(kind));
  }
}

// --- Values that are not finite.

// Returns data (batch_size, 6) -> fc (3), batch_norm, + 3 -> log -> softmax: the log is NaN where
// the norm is below -3.
Symbol LogOfNorm() {
  const Symbol fc =
      Op("FullyConnected",
         {.name = "fc", .inputs = {Symbol::Variable("data")}, .attrs = {{"num_hidden", "3"}}});
  const Symbol norm = Op("BatchNorm", {.name = "bn", .inputs = {fc}});
  const Symbol shifted =
      Op("_plus_scalar", {.name = "up", .inputs = {norm}, .attrs = {{"scalar", "3"}}});
  return Op("SoftmaxOutput",
            {.name = "softmax", .inputs = {Op("log", {.name = "log", .inputs = {shifted}})}});
}

TEST(FitFiniteTest, TheBatchIsToldWithTheFirstNode) {
  // Row 20, the first of batch 1, is far from the others, so that some norms are below -3.
  NDArray data = RandomArray({40, 6}, 5);
  for (int64_t column = 0; column < 6; ++column) {
    (*data.Data<float>())[20 * 6 + column] = 1e4f * (column % 2 == 0 ? 1.0f : -0.5f);
  }
  // With check_ids the update is a call of its own; without it the training step includes the
  // update.
  for (const bool check_ids : {true, false}) {
    auto train = Rows(data, Classes(40, 3, 5), 20);
    auto module = *Module::Create(LogOfNorm());
    Values before;
    FitOptions options = Options();
    options.check_ids = check_ids;
    options.batch_end_callbacks.push_back([&](const BatchEndParam& param) {
      before = Params(*param.module);
      return true;
    });
    const absl::Status status = module->Fit(*train, options);
    EXPECT_THAT(status,
                StatusIs(kOutOfRange,
                         AllOf(HasSubstr("Fit: epoch 0, batch 1: the loss 'softmax_output' has "
                                         "elements that are not finite"),
                               HasSubstr("first made was log_output by log 'log', with "),
                               HasSubstr("the module is as it was before the batch"))));
    EXPECT_EQ(Params(*module), before) << "the last good state";
  }
}

TEST(FitFiniteTest, ABatchThatBringsThemIsTold) {
  for (const float value : {kNaN, std::numeric_limits<float>::infinity()}) {
    NDArray data = RandomArray({12, 6}, 5);
    (*data.Data<float>())[8 * 6 + 2] = value;
    auto train = Rows(data, Classes(12, 3, 5));
    auto module = *Module::Create(TwoLayers());
    EXPECT_THAT(module->Fit(*train, Options()),
                StatusIs(kOutOfRange, AllOf(HasSubstr("epoch 0, batch 2"),
                                            HasSubstr("it came with the batch: data has 1 of 24 "
                                                      "elements, the first at 2"))));
  }
}

TEST(FitFiniteTest, AParameterThatHasThemIsTold) {
  auto module = *Module::Create(TwoLayers());
  auto train = RandomRows(8);
  FitOptions options = Options();
  options.batch_end_callbacks.push_back([](const BatchEndParam& param) {
    ModuleParams params = *param.module->GetParams();
    COOPER_EXPECT_OK(params.args.at("fc1_bias").Fill(kNaN));
    COOPER_EXPECT_OK(param.module->SetParams(params.args, params.auxs));
    return true;
  });
  EXPECT_THAT(
      module->Fit(*train, options),
      StatusIs(kOutOfRange, AllOf(HasSubstr("epoch 0, batch 1"),
                                  HasSubstr("in a parameter before: fc1_bias has 5 of 5"))));
}

// The gradient of the weight overflows although all values of the forward pass are finite.
TEST(FitFiniteTest, GradientsAreLookedAtToo) {
  const Symbol scaled =
      Op("_mul_scalar",
         {.name = "down", .inputs = {Symbol::Variable("data")}, .attrs = {{"scalar", "1e-30"}}});
  const Symbol weight = Symbol::Variable("weight", {.shape = {1, 6}});
  const Symbol product = Op("broadcast_mul", {.name = "product", .inputs = {scaled, weight}});
  const Symbol up =
      Op("_mul_scalar", {.name = "up", .inputs = {product}, .attrs = {{"scalar", "1e30"}}});
  const Symbol loss =
      Op("MakeLoss", {.name = "loss", .inputs = {up}, .attrs = {{"grad_scale", "1e20"}}});
  auto module = *Module::Create(loss, {.label_names = {}});
  auto train = *NDArrayIter::Create({{"data", RandomArray({8, 6}, 1)}}, {}, {.batch_size = 4});
  FitOptions options = Options();
  const auto metric = Loss({});
  options.eval_metric = metric.get();
  EXPECT_THAT(module->Fit(*train, options),
              StatusIs(kOutOfRange, AllOf(HasSubstr("batch 0: the gradient of 'weight' has"),
                                          HasSubstr("by the gradient of _mul_scalar 'up'"))));
}

TEST(FitFiniteTest, ParametersAreLookedAtAfterAnEpoch) {
  auto module = *Module::Create(TwoLayers());
  auto train = RandomRows(4);  // one batch: no later batch would notice
  bool saved = false;
  FitOptions options = Options();
  options.optimizer.optimizer_params["learning_rate"] = "1e38";
  options.optimizer.optimizer_params["rescale_grad"] = "1000";
  options.epoch_end_callbacks.push_back([&](int, BaseModule&) {
    saved = true;
    return true;
  });
  EXPECT_THAT(module->Fit(*train, options),
              StatusIs(kOutOfRange, AllOf(HasSubstr("Fit: after epoch 0: the parameter 'fc"),
                                          HasSubstr("not finite"))));
  EXPECT_FALSE(saved);
}

TEST(FitFiniteTest, AMaskMayBeInfinite) {
  const Symbol scores = *Symbol::Create(
      "FullyConnected",
      {.name = "fc", .inputs = {Symbol::Variable("data")}, .attrs = {{"num_hidden", "4"}}});
  const Symbol mask = Symbol::Variable("a_mask", {.shape = {1, 4}});
  const Symbol masked = *Symbol::Create("broadcast_add", {.inputs = {scores, mask}});
  const Symbol loss = *Symbol::Create("SoftmaxOutput", {.name = "softmax", .inputs = {masked}});
  const auto module = *Module::Create(loss, {.compute = {.fixed_param_names = {"a_mask"}}});
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  FitOptions options = Options();
  options.params.arg_params = {
      {"a_mask", *NDArray::FromVector<float>({1, 4}, {0, 0, 0, -kInfinity})}};
  options.params.allow_missing = true;
  const auto train = RandomRows(8);
  COOPER_EXPECT_OK(module->Fit(*train, options));
  // A NaN that a callback puts into another parameter is still found, and the mask is not blamed.
  options.batch_end_callbacks.push_back([](const BatchEndParam& param) {
    ModuleParams params = *param.module->GetParams();
    COOPER_EXPECT_OK(params.args.at("fc_bias").Fill(kNaN));
    COOPER_EXPECT_OK(param.module->SetParams(params.args, params.auxs));
    return true;
  });
  EXPECT_THAT(module->Fit(*train, options),
              StatusIs(kOutOfRange, HasSubstr("in a parameter before: fc_bias has 4 of 4")));
}

TEST(FitFiniteTest, AddedUpGradientsAreForgotten) {
  NDArray data = RandomArray({8, 6}, 5);
  (*data.Data<float>())[4 * 6] = kNaN;
  auto train = Rows(data, Classes(8, 3, 5));
  auto module = *Module::Create(TwoLayers());
  FitOptions options = Options();
  options.accumulate_batches = 2;
  EXPECT_THAT(module->Fit(*train, options), StatusIs(kOutOfRange, HasSubstr("batch 1")));
  EXPECT_EQ(Floats(*module->GetGrad("fc1_bias")), std::vector<float>(5, 0));
}

TEST(FitFiniteTest, ItCanBeTurnedOff) {
  NDArray data = RandomArray({4, 6}, 5);
  (*data.Data<float>())[0] = kNaN;
  auto train = Rows(data, Classes(4, 3, 5));
  auto module = *Module::Create(TwoLayers());
  FitOptions options = Options();
  options.check_finite = false;
  COOPER_EXPECT_OK(module->Fit(*train, options));
  EXPECT_TRUE(std::isnan(Params(*module).at("fc1_bias")[0]));
}

// Neither check changes a bit of the trained parameters.
TEST(FitFiniteTest, ChangesNothingElse) {
  std::vector<Values> params;
  for (const auto& [check, check_ids] :
       {std::pair(true, true), std::pair(false, true), std::pair(true, false)}) {
    auto module = *Module::Create(LogOfNorm());
    auto train = RandomRows(20);
    FitOptions options = Options(2);
    options.check_finite = check;
    options.check_ids = check_ids;
    COOPER_EXPECT_OK(module->Fit(*train, options));
    params.push_back(Params(*module));
  }
  EXPECT_THAT(params, testing::Each(params[0]));
}

TEST(FitFiniteTest, AChainNamesItsModule) {
  auto chain = std::make_unique<SequentialModule>();
  const Symbol fc =
      Op("FullyConnected",
         {.name = "fc", .inputs = {Symbol::Variable("data")}, .attrs = {{"num_hidden", "3"}}});
  const Symbol softmax =
      Op("SoftmaxOutput",
         {.name = "softmax",
          .inputs = {Op("log", {.name = "log", .inputs = {Symbol::Variable("data")}})}});
  COOPER_ASSERT_OK(chain->Add(*Module::Create(fc, {.label_names = {}})));
  COOPER_ASSERT_OK(
      chain->Add(*Module::Create(softmax), {.take_labels = true, .auto_wiring = true}));
  auto train = RandomRows(4);
  EXPECT_THAT(chain->Fit(*train, Options()),
              StatusIs(kOutOfRange, HasSubstr("batch 0: module 0: the gradient of 'fc_weight'")));
}

// --- Defaults.

TEST(FitDefaultsTest, EpochsAreLogged) {
  auto module = *Module::Create(TwoLayers());
  auto train = RandomRows(8), valid = RandomRows(8);
  std::vector<std::string> lines;
  FitOptions options = Options(2);
  options.eval_data = valid.get();
  options.progress = [&](const std::string& line) { lines.push_back(line); };
  COOPER_EXPECT_OK(module->Fit(*train, options));
  EXPECT_THAT(lines,
              ElementsAre(HasSubstr("Epoch[0] Train-accuracy=0."), HasSubstr("Epoch[0] Time cost="),
                          HasSubstr("Epoch[0] Validation-accuracy="),
                          HasSubstr("Epoch[1] Train-accuracy=0."), HasSubstr("Epoch[1] Time cost="),
                          HasSubstr("Epoch[1] Validation-accuracy=")));
  // It tells what an iterator counts.
  std::vector<std::unique_ptr<DataIter>> iters;
  iters.push_back(RandomRows(8));
  auto ahead = *PrefetchingIter::Create(std::move(iters));
  lines.clear();
  options.eval_data = nullptr;
  COOPER_EXPECT_OK((*Module::Create(TwoLayers()))->Fit(*ahead, options));
  ASSERT_EQ(lines.size(), 8);
  for (const int epoch : {0, 1}) {
    EXPECT_THAT(lines[4 * epoch + 2],
                HasSubstr(absl::StrCat("Epoch[", epoch, "] Data: 2 batches")));
    EXPECT_THAT(lines[4 * epoch + 3], HasSubstr(" s waiting for data"));
  }
  // The log also tells how many labels are no class.
  module = *Module::Create(TwoLayers());
  train = Rows(RandomArray({4, 6}, 1), *NDArray::Full({4}, 3));
  lines.clear();
  options.check_ids = false;
  options.eval_data = nullptr;
  options.num_epoch = 1;
  COOPER_EXPECT_OK(module->Fit(*train, options));
  EXPECT_THAT(lines, Contains("Epoch[0] Train: 4 labels were no class of the predictions"));
}

TEST(FitDefaultsTest, OneSeedIsEnough) {
  const auto fit = [](std::optional<uint64_t> seed, std::optional<uint64_t> params_seed) {
    auto module = *Module::Create(TwoLayers());
    auto train = RandomRows(8);
    FitOptions options = Options();
    options.seed = seed;
    options.params.seed = params_seed;
    COOPER_EXPECT_OK(module->Fit(*train, options));
    return Params(*module);
  };
  EXPECT_EQ(fit(7, std::nullopt), fit(std::nullopt, 7));
  EXPECT_NE(fit(7, std::nullopt), fit(8, std::nullopt));
  EXPECT_EQ(fit(7, 3), fit(8, 3)) << "one of its own wins";
  EXPECT_EQ(fit(std::nullopt, std::nullopt), fit(std::nullopt, 0));
}

// With batches of 4, padding repeats two of the 6 rows.
TEST(FitDefaultsTest, AValidationCountsEachSampleOnce) {
  for (bool padding : {false, true}) {
    auto module = *Module::Create(TwoLayers());
    auto train = RandomRows(8), valid = RandomRows(6);
    std::vector<float> counted;
    const auto metric = Accuracy({});
    const auto count = Perplexity({});
    FitOptions options = Options();
    options.eval_data = valid.get();
    options.eval_metric = metric.get();
    options.validation_metric = count.get();
    options.validation_counts_padding = padding;
    COOPER_EXPECT_OK(module->Fit(*train, options));
    // The state of a perplexity has a sum, the number of labels, and the number of labels that are
    // no class.
    EXPECT_THAT(count->SaveState(), HasSubstr(padding ? ",8,0" : ",6,0"));
  }
}

}  // namespace
}  // namespace cooper
