// Tests metrics of modules with several outputs: each metric reads the labels and outputs that it
// names.

#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/iterators/ndarray_iter.h"
#include "module/function_module.h"
#include "module/metric/composite_metric.h"
#include "module/metric/regression.h"
#include "module/network/module.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/op/loss.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

NDArray Column(float first, float second) {
  return NDArray::FromVector<float>({2, 1}, {first, second}).value();
}

// Returns a batch whose data are the module's outputs: a differs from its label by 1, b by 3.
const DataBatch& Batch() {
  static const auto* batch =
      new DataBatch{.data = {Column(1, 1), Column(3, 3)}, .label = {Column(0, 0), Column(0, 0)}};
  return *batch;
}

std::unique_ptr<EvalMetric> ErrorOf(const std::string& name) {
  return Mse({.common = {.name = name,
                         .output_names = {{name + "_output"}},
                         .label_names = {{name + "_label"}}}});
}

std::unique_ptr<CompositeEvalMetric> ErrorsOfBoth() {
  auto metric = std::make_unique<CompositeEvalMetric>();
  metric->AddMetric(ErrorOf("b"));
  metric->AddMetric(ErrorOf("a"));
  return metric;
}

ModuleBindOptions Shapes() {
  return {
      .data_shapes = {{.name = "x", .shape = {2, 1}}, {.name = "y", .shape = {2, 1}}},
      .label_shapes = {{.name = "a_label", .shape = {2, 1}}, {.name = "b_label", .shape = {2, 1}}}};
}

std::unique_ptr<Module> TwoLosses(const std::vector<Context>& contexts) {
  const Symbol a = op::LinearRegressionOutput(Symbol::Variable("x"), {.name = "a"});
  const Symbol b = op::LinearRegressionOutput(Symbol::Variable("y"), {.name = "b"});
  auto module =
      Module::Create(Symbol::Group({a, b}).value(), {.data_names = {"x", "y"},
                                                     .label_names = {"a_label", "b_label"},
                                                     .compute = {.contexts = contexts}});
  EXPECT_TRUE(module.ok()) << module.status();
  COOPER_EXPECT_OK((*module)->Bind(Shapes()));
  COOPER_EXPECT_OK((*module)->InitParams());
  COOPER_EXPECT_OK((*module)->Forward(Batch()));
  return *std::move(module);
}

TEST(MetricNamesTest, SelectOutputsOfAModule) {
  for (const auto& contexts :
       {std::vector{Context::Cpu(0)}, std::vector{Context::Cpu(0), Context::Cpu(1)}}) {
    const auto module = TwoLosses(contexts);
    const auto metric = ErrorsOfBoth();
    COOPER_ASSERT_OK(module->UpdateMetric(*metric, Batch().label));
    EXPECT_THAT(metric->GetNameValue(), ElementsAre(Pair("b", 9), Pair("a", 1)));
  }
}

TEST(MetricNamesTest, SelectOutputsOfAFunctionModule) {
  COOPER_ASSERT_OK_AND_ASSIGN(
      const auto module,
      FunctionModule::Create({.data_names = {"x", "y"},
                              .label_names = {"a_label", "b_label"},
                              .output_names = {"a_output", "b_output"},
                              .forward = [](const DataBatch& batch, bool) { return batch.data; }}));
  COOPER_ASSERT_OK(module->Bind(Shapes()));
  COOPER_ASSERT_OK(module->Forward(Batch()));
  const auto metric = ErrorsOfBoth();
  COOPER_ASSERT_OK(module->UpdateMetric(*metric, Batch().label));
  EXPECT_THAT(metric->GetNameValue(), ElementsAre(Pair("b", 9), Pair("a", 1)));
}

TEST(MetricNamesTest, SelectOutputsOfAPaddedBatch) {
  const NDArray x = NDArray::FromVector<float>({3, 1}, {1, 1, 2}).value();
  const NDArray y = NDArray::FromVector<float>({3, 1}, {3, 3, 5}).value();
  const NDArray zero = NDArray::Zeros({3, 1}).value();
  COOPER_ASSERT_OK_AND_ASSIGN(
      const auto batches,
      NDArrayIter::Create({{"x", x}, {"y", y}}, {{"a_label", zero}, {"b_label", zero}},
                          {.batch_size = 2}));
  const auto module = TwoLosses({Context::Cpu()});
  const auto metric = ErrorsOfBoth();
  COOPER_ASSERT_OK(module->Score(*batches, *metric, {.count_padding = false}));
  // The values are means over two batches.
  EXPECT_THAT(metric->GetNameValue(), ElementsAre(Pair("b", (9 + 25) / 2.0), Pair("a", 2.5)));
}

// The module is bound to (a_label, b_label); the iterator serves (b_label, a_label).
TEST(MetricNamesTest, LabelsOfABatchComeInAnyOrder) {
  const auto whole = [](double value) { return NDArray::Full({3, 1}, value).value(); };
  for (const auto& contexts :
       {std::vector{Context::Cpu(0)}, std::vector{Context::Cpu(0), Context::Cpu(1)}}) {
    for (const bool count_padding : {true, false}) {
      const auto module = TwoLosses(contexts);
      COOPER_ASSERT_OK_AND_ASSIGN(
          const auto batches,
          NDArrayIter::Create({{"x", whole(1)}, {"y", whole(3)}},
                              {{"b_label", whole(10)}, {"a_label", whole(0)}}, {.batch_size = 2}));
      const auto named = ErrorsOfBoth();
      COOPER_ASSERT_OK(module->Score(*batches, *named, {.count_padding = count_padding}));
      EXPECT_THAT(named->GetNameValue(), ElementsAre(Pair("b", 49), Pair("a", 1)));
      const auto all = Mse({});
      COOPER_ASSERT_OK(module->Score(*batches, *all, {.count_padding = count_padding}));
      EXPECT_THAT(all->GetNameValue(), ElementsAre(Pair("mse", (49 + 1) / 2.0)));
    }
  }
}

TEST(MetricNamesTest, AnOutputThatIsNotThereIsAnError) {
  const auto module = TwoLosses({Context::Cpu()});
  EXPECT_THAT(module->UpdateMetric(*ErrorOf("c"), Batch().label),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("there is no output 'c_output'")));
}

}  // namespace
}  // namespace cooper
