// Tests executors on one GPU, each with its own arena, that read each other's results. Under the
// emulator, work runs only when something waits for it, so a missing wait changes the results.

#include <memory>

#include "absl/strings/str_cat.h"
#include "executor/executor.h"
#include "executor/executor_fixtures.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/context.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/cuda/require_gpu.h"

namespace cooper {
namespace {

using ::testing::Each;

COOPER_EMULATE(LAZY, "1");

const Context kGpu = Context::Gpu(0);
// Computes out (100, 1) = weight * in (100, 1).
class Scaling {
 public:
  Scaling(const char* name, float weight) {
    const Symbol symbol =
        Op("FullyConnected", {.name = name,
                              .inputs = {Symbol::Variable("in")},
                              .attrs = {{"num_hidden", "1"}, {"no_bias", "True"}}});
    executor_ = *Executor::SimpleBind(symbol, {.context = kGpu, .shapes = {{"in", {100, 1}}}});
    COOPER_EXPECT_OK(executor_->arg(absl::StrCat(name, "_weight")).Fill(weight));
  }

  void Forward(const NDArray& in) const {
    COOPER_ASSERT_OK(executor_->SetArg("in", in));
    COOPER_ASSERT_OK(executor_->Forward(/*is_train=*/true));
  }
  void Backward(const NDArray& head) const { COOPER_ASSERT_OK(executor_->Backward({&head, 1})); }
  NDArray out() const { return (*executor_->outputs())[0]; }
  NDArray in_grad() const { return executor_->grad("in"); }

 private:
  std::unique_ptr<Executor> executor_;
};

class QueueOrderTest : public testing::Test {
 protected:
  void SetUp() override {
    COOPER_REQUIRE_GPU();
    first_ = std::make_unique<Scaling>("first", 2);
    second_ = std::make_unique<Scaling>("second", 5);
    COOPER_ASSERT_OK_AND_ASSIGN(three_, NDArray::Full({100, 1}, 3, DType::kFloat32, kGpu));
    COOPER_ASSERT_OK_AND_ASSIGN(hundred_, NDArray::Full({100, 1}, 100, DType::kFloat32, kGpu));
  }

  std::unique_ptr<Scaling> first_, second_;
  NDArray three_, hundred_;
};

TEST_F(QueueOrderTest, AReaderWaitsForTheWriter) {
  first_->Forward(three_);
  second_->Forward(first_->out());
  EXPECT_THAT(second_->out().ToVector<float>(), IsOkAndHolds(Each(30)));
}

TEST_F(QueueOrderTest, GradientsWaitForEachOther) {
  first_->Forward(three_);
  second_->Forward(first_->out());
  second_->Backward(hundred_);
  first_->Backward(second_->in_grad());
  EXPECT_THAT(first_->in_grad().ToVector<float>(), IsOkAndHolds(Each(1000)));
}

TEST_F(QueueOrderTest, AWriterWaitsForTheReader) {
  first_->Forward(three_);
  second_->Forward(first_->out());
  first_->Forward(hundred_);  // overwrites the array that the second one reads
  EXPECT_THAT(second_->out().ToVector<float>(), IsOkAndHolds(Each(30)));
}

}  // namespace
}  // namespace cooper
