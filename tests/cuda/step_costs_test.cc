// Tests the cost of a training step on a GPU after its bucket has run twice: one graph, and no wait
// of the host.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/buckets/bucket_sentence_iter.h"
#include "module/bucketing/bucketing_module.h"
#include "ndarray/array/device_graphs.h"
#include "ndarray/base/context.h"
#include "ndarray/base/status_matchers.h"
#include "tests/cuda_emulator/runtime/counters.h"
#include "tests/module/module_fixtures.h"
#include "tools/lm_train/language_model.h"

namespace cooper {
namespace {

using ::cooper::cuda_emulator::Costs;
using ::cooper::cuda_emulator::GetCosts;
using ::cooper::cuda_emulator::ResetCosts;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

constexpr int64_t kWords = 12, kRows = 3;

std::vector<DataDesc> Described(const char* name, int64_t length) {
  return {{.name = name, .shape = {kRows, length}, .layout = "NT"}};
}

class StepCostsTest : public testing::Test {
 protected:
  StepCostsTest() {
    model_ = *BucketingModule::Create(
        {.sym_gen = *MakeLanguageModel(
             {.vocab = kWords, .num_embed = 4, .num_hidden = 5, .num_layers = 2}),
         .default_bucket_key = 6,
         .compute = {.contexts = {Context::Gpu(0)}}});
    COOPER_EXPECT_OK(model_->Bind(
        {.data_shapes = Described("data", 6), .label_shapes = Described("softmax_label", 6)}));
    COOPER_EXPECT_OK(model_->InitParams({.initializer = LanguageModelInitializer()}));
    COOPER_EXPECT_OK(model_->InitOptimizer({.optimizer_params = {{"learning_rate", "0.1"}}}));
  }
  ~StepCostsTest() override { SetDeviceGraphs(true); }

  // Returns the cost of one step, without that of making its batch.
  Costs Step(int64_t length, bool in_one_call = true) {
    const auto ids = [&](uint64_t seed) {
      return *Classes(kRows * length, kWords, seed).Reshape({kRows, length});
    };
    const DataBatch batch = {.data = {ids(1)},
                             .label = {ids(2)},
                             .bucket_key = length,
                             .provide_data = Described("data", length),
                             .provide_label = Described("softmax_label", length)};
    ResetCosts();
    if (in_one_call) {
      COOPER_EXPECT_OK(model_->TrainStep(batch));
    } else {
      COOPER_EXPECT_OK(model_->ForwardBackward(batch));
      COOPER_EXPECT_OK(model_->Update());
    }
    return GetCosts();
  }

  std::unique_ptr<BucketingModule> model_;
};

TEST_F(StepCostsTest, AStepIsOneGraphAndWaitsForNothing) {
  for (int i = 0; i < 3; ++i) {
    for (int64_t length : {6, 4}) Step(length);
  }
  for (int64_t length : {6, 4, 4, 6}) {
    const Costs costs = Step(length);
    EXPECT_THAT(costs.queued, UnorderedElementsAre(Pair("graph", 1), Pair("copy", 2)))
        << "the graph, and data and label";
    EXPECT_THAT(costs.waits, IsEmpty());
    EXPECT_THAT(costs.allocations, IsEmpty());
    EXPECT_EQ(costs.frees, 0);
  }
}

// A step of the recurrence, forward or backward, is one kernel for each layer. In addition a layer
// has four products for its inputs and weights, one for its first state, a transposed weight and
// its biases' gradients.
TEST_F(StepCostsTest, AStepHasFewKernelsBesideItsRecurrence) {
  // Work is counted when it runs, so the test waits for a result.
  const auto finish = [this] { COOPER_EXPECT_OK((*model_->GetOutputs())[0].ToVector<float>()); };
  for (int i = 0; i < 2; ++i) Step(6);
  finish();
  Step(6);
  finish();
  int64_t recurrent = 0, others = 0;
  for (const auto& [name, cost] : GetCosts().kernels) {
    const bool is_step = absl::StrContains(name, "RunStep") ||
                         absl::StrContains(name, "RunGradientStep") ||
                         absl::StrContains(name, "CellGradients");
    (is_step ? recurrent : others) += cost.runs;
  }
  EXPECT_EQ(recurrent, 2 * 2 * 6);
  EXPECT_LE(others, 29);
}

TEST_F(StepCostsTest, InTwoCallsTheUpdateIsPutInByTheHost) {
  for (int i = 0; i < 2; ++i) Step(6, /*in_one_call=*/false);
  const Costs costs = Step(6, /*in_one_call=*/false);
  EXPECT_THAT(costs.queued,
              UnorderedElementsAre(Pair("graph", 1), Pair("copy", 2), Pair("kernel", 1)))
      << "all parameters are updated by one";
  EXPECT_THAT(costs.waits, IsEmpty());
  EXPECT_THAT(costs.allocations, IsEmpty());
}

// Counts the costs of the last batch of the second epoch, in which ids are no longer checked.
TEST_F(StepCostsTest, FitIsOneGraphAndWithACheckTheUpdateToo) {
  std::vector<std::vector<int>> sentences(4 * kRows, std::vector<int>(6));
  for (size_t i = 0; i < sentences.size(); ++i) {
    for (size_t k = 0; k < 6; ++k) sentences[i][k] = static_cast<int>((i + 5 * k) % kWords);
  }
  for (const bool check : {false, true}) {
    const auto train = *BucketSentenceIter::Create(sentences, kRows, {.buckets = {6}});
    Costs costs;
    COOPER_ASSERT_OK(model_->Fit(*train, {.batch_end_callbacks = {[&](const BatchEndParam&) {
                                            costs = GetCosts();
                                            ResetCosts();
                                            return true;
                                          }},
                                          .check_finite = check,
                                          .num_epoch = 2}));
    EXPECT_EQ(costs.queued["graph"], 1);
    EXPECT_EQ(costs.queued["kernel"], check ? 1 : 0);
  }
}

TEST_F(StepCostsTest, WithoutGraphsEveryKernelIsPutInByTheHost) {
  SetDeviceGraphs(false);
  for (int i = 0; i < 3; ++i) Step(6);
  const Costs costs = Step(6);
  EXPECT_EQ(costs.queued.count("graph"), 0);
  EXPECT_GT(costs.queued.at("kernel"), 6 * 2 * 4);
  EXPECT_THAT(costs.waits, IsEmpty());
  EXPECT_THAT(costs.allocations, IsEmpty());
}

}  // namespace
}  // namespace cooper
