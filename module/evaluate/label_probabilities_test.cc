// Tests ComputeOptions::label_probabilities: the training is the same although outputs are only the
// label's probability.

#include "symbol/ops/loss/label_probabilities.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "module/initializer/initializers.h"
#include "module/metric/create_metric.h"
#include "module/network/module.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/threads/parallel.h"
#include "tests/module/module_fixtures.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;

// Returns data (batch_size, 6) -> tanh -> pred (classes) -> softmax; label 0 is padding.
Symbol Classifier(int64_t classes, bool bias, AttrMap softmax_attrs) {
  const Symbol hidden = Op("tanh", {.inputs = {Symbol::Variable("data")}});
  const Symbol scores =
      Op("FullyConnected",
         {.name = "pred",
          .inputs = {hidden},
          .attrs = {{"num_hidden", absl::StrCat(classes)}, {"no_bias", bias ? "False" : "True"}}});
  return Op("SoftmaxOutput",
            {.name = "softmax", .inputs = {scores}, .attrs = std::move(softmax_attrs)});
}

struct Case {
  int64_t rows = 13;
  int64_t classes = 7;
  bool bias = true;
  AttrMap attrs;
  std::vector<Context> contexts = {Context::Cpu()};
  int64_t masked = 0;  // number of leading classes with probability 0: their bias is -infinity
  // Number of threads during Bind and during the runs; 0: one for each core.
  int bind_threads = 0, run_threads = 0;
};

// Returns the given parameters: a bias that masks the first classes.
std::optional<ArrayMap> GivenParams(const Case& c) {
  if (c.masked == 0) return std::nullopt;
  std::vector<float> bias(c.classes, 0.1f);
  std::fill_n(bias.begin(), c.masked, -std::numeric_limits<float>::infinity());
  return ArrayMap{{"pred_bias", *NDArray::FromVector<float>({c.classes}, bias)}};
}

std::unique_ptr<Module> MakeTrainable(const Case& c, bool label_probabilities) {
  auto module = Module::Create(
      Classifier(c.classes, c.bias, c.attrs),
      {.compute = {.contexts = c.contexts, .label_probabilities = label_probabilities}});
  EXPECT_TRUE(module.ok()) << module.status();
  COOPER_EXPECT_OK((*module)->Bind(
      {.data_shapes = {{.name = "data", .shape = {c.rows, 6}, .layout = "NC"}},
       .label_shapes = {{.name = "softmax_label", .shape = {c.rows}, .layout = "N"}},
       .inputs_need_grad = true}));
  COOPER_EXPECT_OK((*module)->InitParams(
      {.initializer = init::Uniform(0.5), .arg_params = GivenParams(c), .allow_missing = true}));
  COOPER_EXPECT_OK((*module)->InitOptimizer({.optimizer_params = {{"learning_rate", "0.1"}}}));
  return *std::move(module);
}

std::unique_ptr<EvalMetric> PaddedPerplexity() {
  auto metric = CreateMetric("perplexity", {{"ignore_label", "0"}});
  EXPECT_TRUE(metric.ok()) << metric.status();
  return *std::move(metric);
}

void ExpectNear(const NDArray& a, const NDArray& b, const std::string& what) {
  const std::vector<float> x = Floats(a), y = Floats(b);
  ASSERT_EQ(x.size(), y.size()) << what;
  for (size_t i = 0; i < x.size(); ++i) {
    if (x[i] == y[i]) continue;  // equal infinities, whose difference is NaN
    ASSERT_NEAR(x[i], y[i], 2e-5 * (1 + std::abs(y[i]))) << what << " at " << i;
  }
}

// Trains with and without label_probabilities, and compares parameters, gradients and perplexities.
void ExpectSameTraining(const Case& c) {
  SCOPED_TRACE(absl::StrCat(c.rows, " rows, ", c.classes, " classes, bias ", c.bias));
  SetNumThreads(c.bind_threads);
  auto labels_only = MakeTrainable(c, true);
  auto all_classes = MakeTrainable(c, false);
  SetNumThreads(c.run_threads);
  EXPECT_EQ(labels_only->output_shapes()[0].second, Shape({c.rows, 1}));
  auto perplexity = PaddedPerplexity();
  auto expected = PaddedPerplexity();
  for (uint64_t step = 0; step < 3; ++step) {
    const NDArray label = Classes(c.rows, static_cast<int>(c.classes), step);
    const DataBatch batch = {.data = {RandomArray({c.rows, 6}, step)}, .label = {label}};
    for (Module* module : {labels_only.get(), all_classes.get()}) {
      COOPER_ASSERT_OK(module->ForwardBackward(batch));
      COOPER_ASSERT_OK(
          module->UpdateMetric(module == labels_only.get() ? *perplexity : *expected, {&label, 1}));
    }
    ExpectNear((*labels_only->GetInputGrads())[0], (*all_classes->GetInputGrads())[0], "data");
    for (Module* module : {labels_only.get(), all_classes.get()})
      COOPER_ASSERT_OK(module->Update());
    for (const std::string& name : labels_only->param_names()) {
      ExpectNear(labels_only->GetParams()->args.at(name), all_classes->GetParams()->args.at(name),
                 name);
    }
    // In evaluation the output is available after Forward.
    for (Module* module : {labels_only.get(), all_classes.get()}) {
      COOPER_ASSERT_OK(module->Forward(batch, /*is_train=*/false));
      COOPER_ASSERT_OK(
          module->UpdateMetric(module == labels_only.get() ? *perplexity : *expected, {&label, 1}));
    }
  }
  const double value = expected->GetNameValue()[0].second;
  EXPECT_NEAR(perplexity->GetNameValue()[0].second, value, 1e-5 * (1 + value));
  SetNumThreads(0);
}

TEST(LabelProbabilitiesTest, SameTraining) {
  for (const bool bias : {true, false}) {
    for (const char* use_ignore : {"True", "False"}) {
      for (const char* normalization : {"null", "batch", "valid"}) {
        ExpectSameTraining({.bias = bias,
                            .attrs = {{"use_ignore", use_ignore},
                                      {"ignore_label", "0"},
                                      {"normalization", normalization},
                                      {"grad_scale", "0.5"}}});
      }
    }
  }
}

// There are several blocks of classes, the last of which is smaller.
TEST(LabelProbabilitiesTest, SeveralBlocks) {
  ExpectSameTraining({.rows = 110, .classes = 11000});
  ExpectSameTraining(
      {.rows = 110, .classes = 11000, .attrs = {{"use_ignore", "True"}, {"ignore_label", "0"}}});
}

// Each thread gets a slice of the classes, which stays the same if the number of threads changes
// later.
TEST(LabelProbabilitiesTest, ClassesInSlices) {
  for (const int run_threads : {4, 1, 6}) {
    for (const char* use_ignore : {"True", "False"}) {
      ExpectSameTraining({.rows = 50,
                          .classes = 1100,
                          .attrs = {{"use_ignore", use_ignore}, {"ignore_label", "0"}},
                          .bind_threads = 4,
                          .run_threads = run_threads});
    }
  }
}

// All classes of one slice have probability 0, which must not produce NaN.
TEST(LabelProbabilitiesTest, MaskedSlice) {
  ExpectSameTraining({.classes = 1100, .masked = 300, .bind_threads = 4, .run_threads = 4});
}

TEST(LabelProbabilitiesTest, SeveralContexts) {
  ExpectSameTraining({.contexts = {Context::Cpu(0), Context::Cpu(1)}});
}

TEST(LabelProbabilitiesTest, OutputsComeAfterBackward) {
  auto module = MakeTrainable({}, true);
  const NDArray label = Classes(13, 7, 1);
  COOPER_ASSERT_OK(
      module->Forward({.data = {RandomArray({13, 6}, 1)}, .label = {label}}, /*is_train=*/true));
  const absl::Status early = module->GetOutputs().status();
  EXPECT_EQ(early.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(early.message()), HasSubstr("'softmax_output' is computed by Backward"));
  COOPER_ASSERT_OK(module->Backward());
  COOPER_EXPECT_OK(module->GetOutputs().status());
}

TEST(LabelProbabilitiesTest, IgnoredRowsAreNaN) {
  auto module = MakeTrainable({.attrs = {{"use_ignore", "True"}, {"ignore_label", "3"}}}, true);
  NDArray label = Classes(13, 7, 1);
  (*label.Data<float>())[4] = 3;
  const DataBatch batch = {.data = {RandomArray({13, 6}, 1)}, .label = {label}};
  for (const bool is_train : {true, false}) {
    COOPER_ASSERT_OK(module->Forward(batch, is_train));
    if (is_train) {
      COOPER_ASSERT_OK(module->Backward());
    }
    const std::vector<float> p = Floats((*module->GetOutputs())[0]);
    for (size_t i = 0; i < p.size(); ++i) {
      EXPECT_EQ(std::isnan(p[i]), Floats(label)[i] == 3) << i;
    }
  }
}

TEST(LabelProbabilitiesTest, NothingHasTheSizeOfTheOutput) {
  const Case c = {.rows = 5000, .classes = 4000};
  const int64_t output_bytes = c.rows * c.classes * 4;
  EXPECT_GT(MakeTrainable(c, false)->memory().planned_bytes, output_bytes);
  EXPECT_LT(MakeTrainable(c, true)->memory().planned_bytes, output_bytes / 3);
}

TEST(LabelProbabilitiesTest, MetricsOfAllClassesAreRefused) {
  auto module = MakeTrainable({}, true);
  const NDArray label = Classes(13, 7, 1);
  COOPER_ASSERT_OK(
      module->Forward({.data = {RandomArray({13, 6}, 1)}, .label = {label}}, /*is_train=*/false));
  for (const std::vector<std::string>& names :
       {std::vector<std::string>{"acc"}, {"perplexity", "acc"}}) {
    auto metric = CreateMetrics(names);
    COOPER_ASSERT_OK(metric.status());
    const absl::Status status = module->UpdateMetric(**metric, {&label, 1});
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()), HasSubstr("accuracy needs the predictions of all"));
  }
  for (const char* name : {"ce", "nll_loss", "perplexity"}) {
    auto metric = CreateMetric(name);
    COOPER_ASSERT_OK(metric.status());
    COOPER_EXPECT_OK(module->UpdateMetric(**metric, {&label, 1}));
  }
}

std::string Refusal(const Symbol& symbol) {
  const absl::Status status = LabelProbabilities(symbol).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  return std::string(status.message());
}

TEST(LabelProbabilitiesTest, RefusesWhatCannotBeHadSo) {
  EXPECT_THAT(Refusal(Symbol::Variable("data")), HasSubstr("no output is a SoftmaxOutput"));
  EXPECT_THAT(Refusal(Classifier(7, true, {{"smooth_alpha", "0.1"}})),
              HasSubstr("SoftmaxOutput 'softmax': expected smooth_alpha=0, got 0.1"));
  EXPECT_THAT(Refusal(Classifier(7, true, {{"multi_output", "True"}})), HasSubstr("multi_output"));
  EXPECT_THAT(Refusal(Classifier(7, true, {{"out_grad", "True"}})), HasSubstr("out_grad"));
  const Symbol softmax = Classifier(7, true, {});
  COOPER_ASSERT_OK_AND_ASSIGN(
      const Symbol used, Symbol::Group({softmax, Op("sum", {.name = "all", .inputs = {softmax}})}));
  EXPECT_THAT(Refusal(used), HasSubstr("sum 'all' uses the probabilities of all classes"));
}

// A loss that is listed twice becomes one node, and a second call changes nothing.
TEST(LabelProbabilitiesTest, OutputsListedTwice) {
  const Symbol softmax = Classifier(7, true, {});
  COOPER_ASSERT_OK_AND_ASSIGN(const Symbol twice, Symbol::Group({softmax, softmax}));
  COOPER_ASSERT_OK_AND_ASSIGN(const Symbol made, LabelProbabilities(twice));
  EXPECT_EQ(made.outputs()[0].node, made.outputs()[1].node);
  EXPECT_EQ(made.ListOutputs(), twice.ListOutputs());
  EXPECT_EQ(made.ListArguments(), twice.ListArguments());
  COOPER_ASSERT_OK_AND_ASSIGN(const Symbol again, LabelProbabilities(made));
  EXPECT_EQ(again.outputs()[0].node, made.outputs()[0].node);
}

}  // namespace
}  // namespace cooper
