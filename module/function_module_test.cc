// Tests FunctionModule: functions take part in training like operators, and their results are
// checked.

#include "module/function_module.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/iterators/ndarray_iter.h"
#include "module/initializer/initializers.h"
#include "module/metric/classification.h"
#include "module/network/module.h"
#include "module/sequential_module.h"
#include "ndarray/base/status_matchers.h"
#include "tests/module/module_fixtures.h"

namespace cooper {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pointwise;

using Arrays = absl::StatusOr<std::vector<NDArray>>;

constexpr auto kInvalidArgument = absl::StatusCode::kInvalidArgument;
constexpr auto kFailedPrecondition = absl::StatusCode::kFailedPrecondition;

// softmax(scores) - one_hot(labels): the gradient of SoftmaxOutput.
absl::StatusOr<NDArray> SoftmaxGradient(const NDArray& scores, const NDArray& labels) {
  const std::vector<float> ids = Floats(labels);
  std::vector<float> grad = Floats(scores);
  const size_t classes = grad.size() / ids.size();
  for (size_t i = 0; i < ids.size(); ++i) {
    float* const row = grad.data() + i * classes;
    const float largest = *std::max_element(row, row + classes);
    float sum = 0;
    for (size_t c = 0; c < classes; ++c) sum += row[c] = std::exp(row[c] - largest);
    for (size_t c = 0; c < classes; ++c) row[c] /= sum;
    row[static_cast<size_t>(ids[i])] -= 1;
  }
  return NDArray::FromVector<float>(scores.shape(), grad);
}

// TwoLayers() without its SoftmaxOutput.
std::unique_ptr<Module> Logits() {
  const Symbol fc1 =
      Op("FullyConnected",
         {.name = "fc1", .inputs = {Symbol::Variable("data")}, .attrs = {{"num_hidden", "5"}}});
  const Symbol act =
      Op("Activation", {.name = "act", .inputs = {fc1}, .attrs = {{"act_type", "tanh"}}});
  return *Module::Create(
      Op("FullyConnected", {.name = "fc2", .inputs = {act}, .attrs = {{"num_hidden", "3"}}}),
      {.label_names = {}});
}

SequentialModule LossChain() {
  SequentialModule chain;
  COOPER_EXPECT_OK(chain.Add(Logits()));
  auto loss = FunctionLossModule({.grad_func = SoftmaxGradient});
  EXPECT_TRUE(loss.ok()) << loss.status();
  COOPER_EXPECT_OK(chain.Add(*std::move(loss), {.take_labels = true, .auto_wiring = true}));
  return chain;
}

TEST(FunctionModuleTest, ALossTrainsAsTheOperatorDoes) {
  const NDArray rows = RandomArray({18, 6}, 1);
  const NDArray labels = Classes(18, 3, 1);
  const auto train = [&](BaseModule& model, EvalMetric& metric) {
    auto data =
        *NDArrayIter::Create({{"data", rows}}, {{"softmax_label", labels}}, {.batch_size = 6});
    COOPER_EXPECT_OK(model.Fit(
        *data, {.eval_metric = &metric,
                .optimizer = {.optimizer_params = {{"learning_rate", "0.2"}, {"momentum", "0.9"}}},
                .params = {.initializer = init::Uniform(0.5), .seed = 2},
                .num_epoch = 4}));
    return *model.GetParams();
  };
  auto whole = *Module::Create(TwoLayers());
  SequentialModule chain = LossChain();
  EXPECT_THAT(chain.label_names(), ElementsAre("softmax_label"));
  EXPECT_THAT(chain.output_names(), ElementsAre("loss_output"));
  const auto whole_metric = Accuracy({});
  const auto chain_metric = Accuracy({});
  const ModuleParams expected = train(*whole, *whole_metric);
  const ModuleParams got = train(chain, *chain_metric);
  ASSERT_EQ(got.args.size(), expected.args.size());
  for (const auto& [name, array] : expected.args) {
    EXPECT_THAT(Floats(got.args.at(name)), Pointwise(FloatNear(1e-5f), Floats(array))) << name;
  }
  EXPECT_EQ(chain_metric->GetNameValue(), whole_metric->GetNameValue());
}

// c = a * b and a + b, element by element, with data (n,).
FunctionModuleOptions ProductAndSum() {
  const auto combine = [](const NDArray& a, const NDArray& b, bool product) {
    std::vector<float> values = Floats(a);
    const std::vector<float> others = Floats(b);
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = product ? values[i] * others[i] : values[i] + others[i];
    }
    return *NDArray::FromVector<float>(a.shape(), values);
  };
  return {.data_names = {"a", "b"},
          .output_names = {"product", "sum"},
          .forward = [combine](const DataBatch& batch, bool) -> Arrays {
            return std::vector<NDArray>{combine(batch.data[0], batch.data[1], true),
                                        combine(batch.data[0], batch.data[1], false)};
          },
          .backward = [combine](const DataBatch& batch, absl::Span<const NDArray>,
                                absl::Span<const NDArray> heads) -> Arrays {
            std::vector<NDArray> grads;
            for (size_t i = 0; i < 2; ++i) {
              const NDArray product = combine(heads[0], batch.data[1 - i], true);
              grads.push_back(combine(product, heads[1], false));
            }
            return grads;
          }};
}

std::unique_ptr<FunctionModule> Make(FunctionModuleOptions options) {
  auto module = FunctionModule::Create(std::move(options));
  EXPECT_TRUE(module.ok()) << module.status();
  return *std::move(module);
}

NDArray Row(const std::vector<float>& values) {
  return *NDArray::FromVector<float>({static_cast<int64_t>(values.size())}, values);
}

ModuleBindOptions TwoRows() {
  return {.data_shapes = {{.name = "a", .shape = {2}}, {.name = "b", .shape = {2}}},
          .inputs_need_grad = true};
}

TEST(FunctionModuleTest, ComputesAndDifferentiatesWithSeveralArrays) {
  auto module = Make(ProductAndSum());
  COOPER_ASSERT_OK(module->Bind(TwoRows()));
  EXPECT_THAT(module->output_shapes(),
              ElementsAre(testing::Pair("product", Shape({2})), testing::Pair("sum", Shape({2}))));
  COOPER_ASSERT_OK(module->Forward({.data = {Row({2, 3}), Row({5, 7})}}));
  EXPECT_THAT(Floats((*module->GetOutputs())[0]), ElementsAre(10, 21));
  EXPECT_THAT(Floats((*module->GetOutputs())[1]), ElementsAre(7, 10));
  COOPER_ASSERT_OK(module->Backward({Row({1, 10}), Row({100, 1000})}));
  EXPECT_THAT(Floats((*module->GetInputGrads())[0]), ElementsAre(105, 1070));
  EXPECT_THAT(Floats((*module->GetInputGrads())[1]), ElementsAre(102, 1030));
  // By name if the batch has names, and with another size.
  COOPER_ASSERT_OK(module->Forward(
      {.data = {Row({4, 5, 6}), Row({1, 2, 3})},
       .provide_data = {{.name = "b", .shape = {3}}, {.name = "a", .shape = {3}}}}));
  EXPECT_EQ(module->data_shapes()[0].shape, Shape({3}));
  EXPECT_EQ(module->output_shapes()[0].second, Shape({3}));
  COOPER_ASSERT_OK(module->Backward({Row({1, 1, 1}), Row({0, 0, 0})}));
  EXPECT_THAT(Floats((*module->GetInputGrads())[0]), ElementsAre(4, 5, 6)) << "b is a's gradient";
}

TEST(FunctionModuleTest, HasNothingToLearn) {
  auto module = Make(ProductAndSum());
  COOPER_ASSERT_OK(module->Bind(TwoRows()));
  COOPER_EXPECT_OK(module->InitParams());
  COOPER_EXPECT_OK(module->InitOptimizer());
  COOPER_EXPECT_OK(module->Update());
  EXPECT_THAT((*module->GetParams()).args, IsEmpty());
  EXPECT_THAT(*module->GetStates(), IsEmpty());
  EXPECT_THAT(module->GetGrad("a"), StatusIs(absl::StatusCode::kNotFound, HasSubstr("'a'")));
  COOPER_EXPECT_OK(module->SetParams({{"w", Row({1})}}, {}));
  EXPECT_THAT(module->SetParams({{"w", Row({1})}}, {}, {.allow_missing = true}),
              StatusIs(kInvalidArgument, HasSubstr("'w'")));
  EXPECT_THAT(module->SetStates({Row({1})}), StatusIs(kInvalidArgument, HasSubstr("1 arrays")));
  EXPECT_THAT(module->symbol(), StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("symbol")));
}

TEST(FunctionModuleTest, AMonitorSeesOutputs) {
  auto module = Make(ProductAndSum());
  COOPER_ASSERT_OK(module->Bind(TwoRows()));
  std::vector<std::string> seen;
  COOPER_ASSERT_OK(module->InstallMonitor(
      [&seen](const std::string& name, const NDArray&) { seen.push_back(name); },
      /*monitor_all=*/true));
  COOPER_ASSERT_OK(module->Forward({.data = {Row({2, 3}), Row({5, 7})}}));
  EXPECT_THAT(seen, ElementsAre("a", "b", "product", "sum"));
}

TEST(FunctionModuleTest, ACallThatComesTooEarlyNamesTheMissingOne) {
  auto module = Make(ProductAndSum());
  const DataBatch batch = {.data = {Row({2, 3}), Row({5, 7})}};
  const auto missing = [](const char* call) {
    return StatusIs(kFailedPrecondition, HasSubstr(call));
  };
  EXPECT_THAT(module->InitParams(), missing("InitParams: call Bind first"));
  EXPECT_THAT(module->InitOptimizer(), missing("InitOptimizer: call Bind first"));
  EXPECT_THAT(module->Forward(batch), missing("Forward: call Bind first"));
  EXPECT_THAT(module->Backward(), missing("Backward: call Bind first"));
  EXPECT_THAT(module->Update(), missing("Update: call Bind first"));
  EXPECT_THAT(module->GetOutputs(), missing("GetOutputs: call Bind first"));
  COOPER_ASSERT_OK(module->Bind(TwoRows()));
  EXPECT_THAT(module->GetOutputs(), missing("GetOutputs: call Forward first"));
  EXPECT_THAT(module->GetInputGrads(), missing("GetInputGrads: call Backward first"));
  COOPER_ASSERT_OK(module->Forward(batch, /*is_train=*/false));
  EXPECT_THAT(module->Backward(), missing("call Forward(is_train=true) first"));
  ModuleBindOptions bind = TwoRows();
  bind.force_rebind = true;
  bind.inputs_need_grad = false;
  COOPER_ASSERT_OK(module->Bind(bind));
  EXPECT_THAT(module->GetInputGrads(), missing("call Bind with inputs_need_grad first"));
  bind.for_training = false;
  COOPER_ASSERT_OK(module->Bind(bind));
  EXPECT_THAT(module->Backward(), missing("call Bind with for_training first"));
}

TEST(FunctionModuleTest, WhatDoesNotFitIsNamedWithItsShape) {
  EXPECT_THAT(FunctionModule::Create({}), StatusIs(kInvalidArgument, HasSubstr("forward")));
  FunctionModuleOptions options = ProductAndSum();
  options.output_names = {"one"};
  EXPECT_THAT(FunctionModule::Create(options),
              StatusIs(kInvalidArgument, AllOf(HasSubstr("(a, b)"), HasSubstr("(one)"))));
  options.output_shapes =
      [](absl::Span<const DataDesc> data) -> absl::StatusOr<std::vector<Shape>> {
    return std::vector<Shape>(3, data[0].shape);
  };
  EXPECT_THAT(Make(options)->Bind(TwoRows()),
              StatusIs(kInvalidArgument, HasSubstr("output_shapes gave 3 shapes")));

  ModuleBindOptions bind = TwoRows();
  std::swap(bind.data_shapes[0], bind.data_shapes[1]);
  EXPECT_THAT(Make(ProductAndSum())->Bind(bind),
              StatusIs(kInvalidArgument, AllOf(HasSubstr("(b, a)"), HasSubstr("(a, b) in this"))));
  bind = TwoRows();
  bind.grad_req = WriteReq::kAdd;
  EXPECT_THAT(Make(ProductAndSum())->Bind(bind),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("gradient of 'a'")));

  auto module = Make(ProductAndSum());
  COOPER_ASSERT_OK(module->Bind(TwoRows()));
  EXPECT_THAT(module->Forward({.data = {Row({2, 3})}}),
              StatusIs(kInvalidArgument, AllOf(HasSubstr("1 data"), HasSubstr("b (2,)"))));
  COOPER_ASSERT_OK(module->Forward({.data = {Row({2, 3}), Row({5, 7})}}));
  EXPECT_THAT(module->Backward({Row({1, 1})}), StatusIs(kInvalidArgument, HasSubstr("1 head")));

  options = ProductAndSum();
  options.forward = [](const DataBatch& batch, bool) -> Arrays {
    return std::vector<NDArray>{batch.data[0], Row({1, 2, 3})};
  };
  options.backward = nullptr;
  module = Make(options);
  COOPER_ASSERT_OK(module->Bind(TwoRows()));
  EXPECT_THAT(module->Forward({.data = {Row({2, 3}), Row({5, 7})}}),
              StatusIs(kInvalidArgument, HasSubstr("forward gave output 'sum' (3,) float32 cpu(0), "
                                                   "expected (2,)")));
  EXPECT_THAT(module->GetOutputs(), StatusIs(kFailedPrecondition, HasSubstr("Forward")));
  COOPER_ASSERT_OK(module->Forward({.data = {Row({1, 2, 3}), Row({5, 7, 9})}}));
  EXPECT_THAT(module->Backward(), StatusIs(kFailedPrecondition, HasSubstr("no function backward")));
}

TEST(FunctionModuleTest, ALossNeedsLabelsAndNoHeadGradients) {
  EXPECT_THAT(FunctionLossModule({}), StatusIs(kInvalidArgument, HasSubstr("grad_func")));
  auto loss = *FunctionLossModule({.grad_func = SoftmaxGradient});
  COOPER_ASSERT_OK(loss->Bind({.data_shapes = {{.name = "data", .shape = {4, 3}}},
                               .label_shapes = {{.name = "softmax_label", .shape = {4}}},
                               .inputs_need_grad = true}));
  const NDArray scores = RandomArray({4, 3}, 1);
  COOPER_ASSERT_OK(loss->Forward({.data = {scores}}));
  EXPECT_EQ(Floats((*loss->GetOutputs())[0]), Floats(scores));
  EXPECT_THAT(loss->Backward(), StatusIs(kFailedPrecondition, HasSubstr("has 0 labels")));
  COOPER_ASSERT_OK(loss->Forward({.data = {scores}, .label = {Classes(4, 3, 1)}}));
  EXPECT_THAT(loss->Backward({scores}), StatusIs(kInvalidArgument, HasSubstr("no head gradients")));
  COOPER_ASSERT_OK(loss->Backward());

  auto wrong = *FunctionLossModule(
      {.grad_func = [](const NDArray&, const NDArray& labels) { return labels; }});
  COOPER_ASSERT_OK(wrong->Bind({.data_shapes = {{.name = "data", .shape = {4, 3}}},
                                .label_shapes = {{.name = "softmax_label", .shape = {4}}},
                                .inputs_need_grad = true}));
  COOPER_ASSERT_OK(wrong->Forward({.data = {scores}, .label = {Classes(4, 3, 1)}}));
  EXPECT_THAT(wrong->Backward(),
              StatusIs(kInvalidArgument, HasSubstr("backward gave the gradient of 'data' (4,) "
                                                   "float32 cpu(0), expected (4, 3)")));
}

TEST(FunctionModuleTest, ErrorsOfAPartNameItInTheChain) {
  SequentialModule chain = LossChain();
  COOPER_ASSERT_OK(chain.Bind({.data_shapes = {{.name = "data", .shape = {4, 6}}},
                               .label_shapes = {{.name = "softmax_label", .shape = {4}}}}));
  EXPECT_THAT(chain.Forward({.data = {RandomArray({4, 6}, 1)}}),
              StatusIs(kFailedPrecondition, HasSubstr("call InitParams first")));
  COOPER_ASSERT_OK(chain.InitParams());
  COOPER_ASSERT_OK(chain.Forward({.data = {RandomArray({4, 6}, 1)}}));
  EXPECT_THAT(chain.Backward(),
              StatusIs(kFailedPrecondition, AllOf(HasSubstr("module 1"), HasSubstr("0 labels"))));
}

}  // namespace
}  // namespace cooper
