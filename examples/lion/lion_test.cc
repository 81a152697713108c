#include "examples/lion/lion.h"

#include <memory>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/iterators/ndarray_iter.h"
#include "module/metric/classification.h"
#include "module/network/module.h"
#include "module/optimizer/create_optimizer.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/random/random.h"
#include "symbol/graph/symbol.h"
#include "symbol/op/loss.h"
#include "symbol/op/nn.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatEq;
using ::testing::HasSubstr;

NDArray Vector(const std::vector<float>& values) {
  return *NDArray::FromVector<float>({static_cast<int64_t>(values.size())}, values);
}

TEST(LionTest, StepsByTheFormula) {
  const auto optimizer = Lion({.common = {.wd = 0.5, .learning_rate = 0.25}, .beta2 = 0.5});
  const NDArray weight = Vector({1, 1, 1});
  COOPER_ASSERT_OK_AND_ASSIGN(ParameterState state, optimizer->CreateState(weight));
  COOPER_ASSERT_OK(optimizer->Update("w_weight", weight, Vector({4, -4, 0}), &state));
  EXPECT_THAT(*weight.ToVector<float>(),
              ElementsAre(1 - 0.25F * 1.5F, 1 + 0.25F * 0.5F, 1 - 0.25F * 0.5F));
  EXPECT_THAT(*state.arrays[0].ToVector<float>(), ElementsAre(2, -2, 0));
  // m outweighs a small gradient: 0.9 * 2 > 0.1 * 10.
  COOPER_ASSERT_OK(optimizer->Update("w_weight", weight, Vector({-10, 0, 0}), &state));
  EXPECT_THAT((*weight.ToVector<float>())[0], FloatEq(0.625F - 0.25F * (1 + 0.5F * 0.625F)));
}

TEST(LionTest, IsMadeByName) {
  COOPER_ASSERT_OK_AND_ASSIGN(
      const auto optimizer,
      CreateOptimizer("lion", {{"beta1", "0.8"}, {"learning_rate", 0.01}}, nullptr));
  EXPECT_EQ(optimizer->kind(), "lion");
  EXPECT_EQ(optimizer->learning_rate(), 0.01);
  EXPECT_THAT(CreateOptimizer("lion", {{"beta3", "1"}}, nullptr),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("beta3")));
}

// The class of a row is the position of its largest element.
TEST(LionTest, TrainsAModuleThatNamesIt) {
  RandomGenerator random(1);
  std::vector<float> rows, labels;
  for (int i = 0; i < 60; ++i) {
    for (int j = 0; j < 3; ++j) {
      rows.push_back(static_cast<float>(0.3 * random.NextNormal() + (j == i % 3 ? 1 : 0)));
    }
    labels.push_back(static_cast<float>(i % 3));
  }
  const Symbol classifier = op::SoftmaxOutput(
      op::FullyConnected(Symbol::Variable("data"), {.num_hidden = 3}), {.name = "softmax"});
  COOPER_ASSERT_OK_AND_ASSIGN(
      const auto data,
      NDArrayIter::Create({{"data", *NDArray::FromVector<float>({60, 3}, rows)}},
                          {{"softmax_label", Vector(labels)}}, {.batch_size = 10}));
  COOPER_ASSERT_OK_AND_ASSIGN(const auto model, Module::Create(classifier));
  COOPER_ASSERT_OK(model->Fit(
      *data, {.optimizer = {.optimizer = "lion", .optimizer_params = {{"learning_rate", 0.05}}},
              .num_epoch = 20}));
  COOPER_ASSERT_OK_AND_ASSIGN(const auto scores, model->Score(*data, *Accuracy({})));
  EXPECT_GT(scores[0].second, 0.95);
}

}  // namespace
}  // namespace cooper
