// Tests that Fit and Score leave padding out of metrics.

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/iterators/ndarray_iter.h"
#include "module/function_module.h"
#include "module/interface/base_module.h"
#include "module/metric/classification.h"
#include "module/metric/custom_metric.h"
#include "module/metric/regression.h"
#include "module/network/module.h"
#include "module/sequential_module.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/base/status_matchers.h"
#include "tests/module/module_fixtures.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

NDArray Numbers(const Shape& shape) {
  std::vector<float> values;
  for (int64_t i = 1; i <= shape.num_elements(); ++i) values.push_back(static_cast<float>(i));
  return *NDArray::FromVector<float>(shape, values);
}

// Serves three rows in batches of two; the last batch ends with the first row as padding.
std::unique_ptr<NDArrayIter> ThreeRows(const Shape& data, const Shape& label) {
  std::vector<std::pair<std::string, NDArray>> labels;
  if (label.rank() > 0) labels = {{"softmax_label", Numbers(label)}};
  return *NDArrayIter::Create({{"data", Numbers(data)}}, labels, {.batch_size = 2});
}

// Returns a module whose output is the data in the shape shape_of(data shape). If that has another
// number of elements, each of them is the mean of the data.
std::unique_ptr<FunctionModule> Reshaped(const std::function<Shape(const Shape&)>& shape_of) {
  const auto forward = [shape_of](const NDArray& data) -> absl::StatusOr<NDArray> {
    const Shape shape = shape_of(data.shape());
    if (shape.num_elements() == data.size()) return data.Reshape(shape);
    double sum = 0;
    for (const float value : Floats(data)) sum += value;
    return NDArray::Full(shape, sum / static_cast<double>(data.size()));
  };
  return *FunctionModule::Create(
      {.label_names = {"softmax_label"},
       .output_shapes = [shape_of](absl::Span<const DataDesc> data)
           -> absl::StatusOr<std::vector<Shape>> { return std::vector{shape_of(data[0].shape)}; },
       .forward = [forward](const DataBatch& batch, bool) -> absl::StatusOr<std::vector<NDArray>> {
         COOPER_ASSIGN_OR_RETURN(NDArray output, forward(batch.data[0]));
         return std::vector{std::move(output)};
       }});
}

std::unique_ptr<FunctionModule> Identity() {
  return Reshaped([](const Shape& shape) { return shape; });
}

absl::StatusOr<double> ScoreOf(BaseModule& module, DataIter& iter, EvalMetric& metric) {
  COOPER_RETURN_IF_ERROR(module.Bind({.data_shapes = iter.provide_data(),
                                      .label_shapes = iter.provide_label(),
                                      .for_training = false}));
  COOPER_RETURN_IF_ERROR(module.InitParams());
  COOPER_ASSIGN_OR_RETURN(const auto values, module.Score(iter, metric, {.count_padding = false}));
  return values.at(0).second;
}

// Returns a metric that appends the shapes of its arguments to `seen`.
std::unique_ptr<EvalMetric> Noting(std::vector<std::string>* seen) {
  return CustomMetric([seen](const NDArray& label, const NDArray& pred) {
    seen->push_back(label.shape().ToString() + " " + pred.shape().ToString());
    return SumAndCount();
  });
}

TEST(FeedMetricTest, EveryPartThatTakesLabelsCounts) {
  SequentialModule chain;
  COOPER_ASSERT_OK(chain.Add(Identity(), {.take_labels = true}));
  COOPER_ASSERT_OK(chain.Add(Identity(), {.take_labels = true, .auto_wiring = true}));
  std::vector<std::string> seen;
  const auto metric = Noting(&seen);
  COOPER_ASSERT_OK(ScoreOf(chain, *ThreeRows({3, 4}, {3}), *metric));
  EXPECT_THAT(seen, ElementsAre("(2,) (2, 4)", "(2,) (2, 4)", "(1,) (1, 4)", "(1,) (1, 4)"));
}

TEST(FeedMetricTest, MetricsOfAllClassesAreRefusedOfAPaddedBatchToo) {
  const auto module = *Module::Create(TwoLayers(), {.compute = {.label_probabilities = true}});
  const auto iter = *NDArrayIter::Create({{"data", RandomArray({3, 6}, 1)}},
                                         {{"softmax_label", Classes(3, 3, 1)}}, {.batch_size = 4});
  EXPECT_THAT(ScoreOf(*module, *iter, *Accuracy({})),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("accuracy needs the predictions of all classes")));
}

TEST(FeedMetricTest, ALossWithoutLabelsCountsNoPadding) {
  const Symbol loss = Op("MakeLoss", {.name = "loss", .inputs = {Symbol::Variable("data")}});
  for (const auto& contexts :
       {std::vector{Context::Cpu(0)}, std::vector{Context::Cpu(0), Context::Cpu(1)}}) {
    const auto module =
        *Module::Create(loss, {.label_names = {}, .compute = {.contexts = contexts}});
    EXPECT_THAT(ScoreOf(*module, *ThreeRows({3}, {}), *Loss({})), IsOkAndHolds((1 + 2 + 3) / 3.0));
  }
}

struct LossCase {
  const char* name;
  std::function<Shape(const Shape&)> shape_of;  // gets the shape of the data
  double value;
};

// Data and labels are (3, 2): the rows (1, 2), (3, 4) and (5, 6).
TEST(FeedMetricTest, ALossMayHaveAnyShape) {
  const LossCase kCases[] = {
      {"Positions", [](const Shape& data) { return Shape({data.num_elements()}); }, 21 / 6.0},
      // A mean cannot be split into samples: that of the second batch is over the rows (5, 6) and
      // (1, 2).
      {"Scalar", [](const Shape&) { return Shape({1}); }, (2.5 + 3.5) / 2},
  };
  for (const LossCase& c : kCases) {
    EXPECT_THAT(ScoreOf(*Reshaped(c.shape_of), *ThreeRows({3, 2}, {3, 2}), *Loss({})),
                IsOkAndHolds(c.value))
        << c.name;
  }
}

TEST(FeedMetricTest, AFunctionMayCompareRowsOfOtherWidths) {
  std::vector<std::string> seen;
  const auto metric = Noting(&seen);
  COOPER_ASSERT_OK(ScoreOf(*Identity(), *ThreeRows({3, 4}, {3, 2}), *metric));
  EXPECT_THAT(seen, ElementsAre("(2, 2) (2, 4)", "(1, 2) (1, 4)"));
}

}  // namespace
}  // namespace cooper
