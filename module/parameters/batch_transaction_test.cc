#include "module/parameters/batch_transaction.h"

#include <vector>

#include "executor/executor_fixtures.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "module/parameters/learner.h"
#include "module/parameters/parameters.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

using ::testing::Each;
using ::testing::IsEmpty;

constexpr auto kArg = ParameterKind::kArg;
constexpr auto kAux = ParameterKind::kAux;

class BatchTransactionTest : public testing::Test {
 protected:
  void SetUp() override {
    for (int i : {0, 1}) {
      COOPER_ASSERT_OK(parameters_.Allocate(kArg, "w", i, {.shape = {2}}));
      COOPER_ASSERT_OK(parameters_.AllocateGrad("w", i));
      COOPER_ASSERT_OK(parameters_.Allocate(kAux, "mean", i, {.shape = {3}}));
    }
  }
  // Overwrites what computing a batch changes.
  void Compute(double value) {
    for (int i : {0, 1}) {
      COOPER_ASSERT_OK(parameters_.Grad("w", i).Fill(value + i));
      COOPER_ASSERT_OK(parameters_.Value(kAux, "mean", i).Fill(value + i));
    }
  }
  void ExpectMeans(float value) {
    for (int i : {0, 1}) {
      EXPECT_THAT(Floats(parameters_.Value(kAux, "mean", i)), Each(value + i)) << "context " << i;
    }
  }
  void ExpectGrads(float value) {
    for (int i : {0, 1}) EXPECT_THAT(Floats(parameters_.Grad("w", i)), Each(value + i));
  }

  Parameters parameters_ = Parameters({Context::Cpu(0), Context::Cpu(1)});
  Learner learner_ = Learner(parameters_);
  const std::vector<Learner*> learners_ = {&learner_};
  BatchTransaction transaction_;
};

TEST_F(BatchTransactionTest, ABatchThatSucceedsStays) {
  Compute(1);
  COOPER_ASSERT_OK(transaction_.Begin(learners_));
  Compute(5);
  COOPER_ASSERT_OK(transaction_.Begin(learners_));
  ExpectMeans(5);
  Compute(9);
  COOPER_ASSERT_OK(transaction_.Rollback());
  ExpectMeans(5);
}

TEST_F(BatchTransactionTest, RollbackMayBeRepeated) {
  Compute(1);
  COOPER_ASSERT_OK(transaction_.Begin(learners_));
  for (double value : {5, 9}) {
    Compute(value);
    COOPER_ASSERT_OK(transaction_.Rollback());
    ExpectMeans(1);
  }
}

TEST_F(BatchTransactionTest, OnlySumsOfGradientsAreZeroed) {
  COOPER_ASSERT_OK(transaction_.Begin(learners_));
  Compute(5);
  COOPER_ASSERT_OK(transaction_.Rollback());
  ExpectGrads(5);  // the next batch overwrites them
  learner_.gradient_record().Accumulate("w");
  COOPER_ASSERT_OK(transaction_.Rollback());
  for (int i : {0, 1}) EXPECT_THAT(Floats(parameters_.Grad("w", i)), Each(0.0f));
  EXPECT_THAT(learner_.gradient_record().sums(), IsEmpty());
  Compute(9);  // a second backward pass of the batch
  COOPER_ASSERT_OK(transaction_.Rollback());
  for (int i : {0, 1}) EXPECT_THAT(Floats(parameters_.Grad("w", i)), Each(0.0f));
}

TEST_F(BatchTransactionTest, ArraysMayComeAndGo) {
  COOPER_ASSERT_OK(transaction_.Begin({}));
  COOPER_ASSERT_OK(transaction_.Rollback());
  Compute(1);
  COOPER_ASSERT_OK(transaction_.Begin(learners_));
  parameters_.DropArrays();
  COOPER_ASSERT_OK(transaction_.Rollback());
  for (int i : {0, 1}) {
    COOPER_ASSERT_OK(parameters_.Allocate(kAux, "mean", i, {.shape = {4}}));
    COOPER_ASSERT_OK(parameters_.Value(kAux, "mean", i).Fill(2 + i));
  }
  COOPER_ASSERT_OK(transaction_.Begin(learners_));
  for (int i : {0, 1}) COOPER_ASSERT_OK(parameters_.Value(kAux, "mean", i).Fill(7));
  COOPER_ASSERT_OK(transaction_.Rollback());
  ExpectMeans(2);
}

}  // namespace
}  // namespace cooper
