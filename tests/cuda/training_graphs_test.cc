// Tests that recording training steps on a GPU, each bucket separately, and replaying them changes
// no bit of the results.

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "executor/executor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "module/bucketing/bucketing_module.h"
#include "module/devices/module_group.h"
#include "module/network/module.h"
#include "ndarray/array/device_graphs.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/context.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/cuda/require_gpu.h"
#include "tests/module/module_fixtures.h"
#include "tools/lm_train/language_model.h"

namespace cooper {
namespace {

using Results = std::vector<std::vector<float>>;

constexpr int64_t kWords = 12, kRows = 3;

std::vector<DataDesc> Described(const char* name, int64_t length) {
  return {{.name = name, .shape = {kRows, length}, .layout = "NT"}};
}

DataBatch Sentences(int64_t length, uint64_t seed) {
  return {.data = {*Classes(kRows * length, kWords, seed).Reshape({kRows, length})},
          .label = {*Classes(kRows * length, kWords, seed + 100).Reshape({kRows, length})},
          .bucket_key = length,
          .provide_data = Described("data", length),
          .provide_label = Described("softmax_label", length)};
}

std::unique_ptr<BucketingModule> LanguageModel(const std::string& cell, int64_t length) {
  auto model = *BucketingModule::Create(
      {.sym_gen = *MakeLanguageModel(
           {.vocab = kWords, .num_embed = 4, .num_hidden = 5, .num_layers = 2, .cell = cell}),
       .default_bucket_key = length,
       .compute = {.contexts = {Context::Gpu(0)}}});
  COOPER_EXPECT_OK(model->Bind({.data_shapes = Described("data", length),
                                .label_shapes = Described("softmax_label", length)}));
  COOPER_EXPECT_OK(model->InitParams({.initializer = LanguageModelInitializer(), .seed = 3}));
  return model;
}

void AppendParams(const BaseModule& model, Results* results) {
  COOPER_ASSERT_OK_AND_ASSIGN(const ModuleParams params, model.GetParams());
  for (const auto& [name, array] : params.args) results->push_back(*array.ToVector<float>());
}

// Forward, Backward and Update; ForwardBackward and Update; TrainStep, without and with a check.
enum Calls { kThree, kTwo, kOne, kOneChecked };

// Trains in buckets of 4 and 6 words, and later of 9, for which the arena grows; the update changes
// at one of the steps.
Results TrainInBuckets(const std::string& cell, const std::string& optimizer, Calls calls) {
  Results results;
  const auto model = LanguageModel(cell, 6);
  COOPER_EXPECT_OK(model->InitOptimizer(
      {.optimizer = optimizer, .optimizer_params = {{"learning_rate", "0.1"}}}));
  uint64_t seed = 0;
  for (int64_t length : {6, 6, 4, 6, 4, 4, 6, 6, 6, 9, 4, 6, 6, 9, 9, 4, 6, 9}) {
    const DataBatch batch = Sentences(length, ++seed);
    if (seed == 12) model->group()->learner().updater()->optimizer().set_rescale_grad(0.5);
    if (calls == kThree) {
      COOPER_EXPECT_OK(model->Forward(batch, /*is_train=*/true));
      results.push_back(*(*model->GetOutputs())[0].ToVector<float>());
      COOPER_EXPECT_OK(model->Backward());
    } else if (calls == kTwo) {
      COOPER_EXPECT_OK(model->ForwardBackward(batch));
      results.push_back(*(*model->GetOutputs())[0].ToVector<float>());
    }
    if (calls == kThree || calls == kTwo) {
      COOPER_EXPECT_OK(model->Update());
      continue;
    }
    COOPER_EXPECT_OK(model->TrainStep(batch, {.check_finite = calls == kOneChecked}));
    results.push_back(*(*model->GetOutputs())[0].ToVector<float>());
  }
  AppendParams(*model, &results);
  const int recorded = model->bucket(6)->executor_group()->executor(0).num_recorded();
  const int graphs = calls == kThree ? 2 : 1;  // forward and backward each, or one for both
  EXPECT_EQ(recorded, DeviceGraphsAreOn() ? graphs : 0);
  return results;
}

// Trains with one optimizer and then with another, whose momenta may be allocated where those of
// the first one were.
Results TrainByTwoOptimizers() {
  Results results;
  const auto model = LanguageModel("lstm", 4);
  uint64_t seed = 0;
  for (const char* momentum : {"0.9", "0.5"}) {
    COOPER_EXPECT_OK(model->InitOptimizer(
        {.optimizer_params = {{"learning_rate", "0.1"}, {"momentum", momentum}},
         .force_init = true}));
    for (int step = 0; step < 4; ++step) {
      COOPER_EXPECT_OK(model->TrainStep(Sentences(4, ++seed)));
      AppendParams(*model, &results);
    }
    EXPECT_EQ(model->bucket(4)->executor_group()->executor(0).num_recorded(),
              DeviceGraphsAreOn() ? 1 : 0);
  }
  return results;
}

TEST(TrainingGraphsTest, BucketsTrainAlike) {
  COOPER_REQUIRE_GPU();
  for (const char* cell : {"lstm", "fused_gru"}) {
    for (const char* optimizer : {"sgd", "adam"}) {
      SCOPED_TRACE(absl::StrCat(cell, ", ", optimizer));
      SetDeviceGraphs(false);
      const Results expected = TrainInBuckets(cell, optimizer, kThree);
      SetDeviceGraphs(true);
      for (const Calls calls : {kThree, kTwo, kOne, kOneChecked}) {
        EXPECT_EQ(TrainInBuckets(cell, optimizer, calls), expected) << calls;
      }
    }
  }
}

TEST(TrainingGraphsTest, ABatchThatIsNotFiniteIsNotLearntFrom) {
  COOPER_REQUIRE_GPU();
  const auto model = LanguageModel("lstm", 4);
  COOPER_ASSERT_OK(model->InitOptimizer({.optimizer_params = {{"learning_rate", "0.1"}}}));
  for (uint64_t seed = 1; seed < 5; ++seed) {
    COOPER_ASSERT_OK(model->TrainStep(Sentences(4, seed), {.check_finite = true}));
  }
  EXPECT_EQ(model->bucket(4)->executor_group()->executor(0).num_recorded(),
            DeviceGraphsAreOn() ? 1 : 0);
  COOPER_ASSERT_OK_AND_ASSIGN(ModuleParams before, model->GetParams());
  const auto& [broken, array] = *before.args.begin();
  COOPER_ASSERT_OK(array.Fill(std::numeric_limits<double>::quiet_NaN()));
  COOPER_ASSERT_OK(model->SetParams(before.args, before.auxs));
  EXPECT_THAT(model->TrainStep(Sentences(4, 5), {.check_finite = true}),
              StatusIs(absl::StatusCode::kOutOfRange,
                       testing::HasSubstr("bucket key 4: the loss 'softmax_output' has elements "
                                          "that are not finite")));
  COOPER_ASSERT_OK_AND_ASSIGN(const ModuleParams after, model->GetParams());
  for (const auto& [name, value] : after.args) {
    if (name == broken) continue;
    EXPECT_EQ(Floats(value), Floats(before.args.at(name))) << name;
  }
}

TEST(TrainingGraphsTest, AnotherOptimizerHasItsOwnConstants) {
  COOPER_REQUIRE_GPU();
  SetDeviceGraphs(false);
  const Results expected = TrainByTwoOptimizers();
  SetDeviceGraphs(true);
  EXPECT_EQ(TrainByTwoOptimizers(), expected);
}

}  // namespace
}  // namespace cooper
