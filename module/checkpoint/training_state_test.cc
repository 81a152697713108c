// Tests that a captured state is restored bit for bit, and that damaged files are refused.

#include "module/checkpoint/training_state.h"

#include <cstdint>
#include <memory>
#include <optional>
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
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/files/params_file.h"
#include "tests/module/module_fixtures.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;

constexpr auto kInvalidArgument = absl::StatusCode::kInvalidArgument;

// A model, its data and its metric.
struct TrainedModel {
  std::unique_ptr<Module> model;
  std::unique_ptr<NDArrayIter> iter;
  std::unique_ptr<EvalMetric> metric = Accuracy({});
  InitOptimizerOptions optimizer = {.optimizer = "adam"};
};

TrainedModel MakeRun(uint64_t seed) {
  TrainedModel run;
  run.model = *Module::Create(TwoLayers());
  run.iter = *NDArrayIter::Create({{"data", RandomArray({22, 6}, 5)}},
                                  {{"softmax_label", Classes(22, 3, 5)}},
                                  {.batch_size = 4, .shuffle = true, .seed = 17});
  COOPER_EXPECT_OK(run.model->Bind(
      {.data_shapes = run.iter->provide_data(), .label_shapes = run.iter->provide_label()}));
  COOPER_EXPECT_OK(run.model->InitParams({.initializer = init::Uniform(0.5), .seed = seed}));
  COOPER_EXPECT_OK(run.model->InitOptimizer(run.optimizer));
  return run;
}

// Trains on `batches` batches, continuing over the ends of epochs.
void Train(TrainedModel& run, int batches) {
  for (int i = 0; i < batches; ++i) {
    COOPER_ASSERT_OK_AND_ASSIGN(auto batch, run.iter->Next());
    if (!batch.has_value()) {
      COOPER_ASSERT_OK(run.iter->Reset());
      run.metric->Reset();
      COOPER_ASSERT_OK_AND_ASSIGN(batch, run.iter->Next());
    }
    COOPER_ASSERT_OK(run.model->ForwardBackward(*batch));
    COOPER_ASSERT_OK(run.model->UpdateMetric(*run.metric, batch->label));
    COOPER_ASSERT_OK(run.model->Update());
  }
}

TEST(TrainingStateTest, ARestoredRunEndsLikeTheOther) {
  const std::string path = testing::TempDir() + "/run.state";
  for (int done : {1, 4, 6, 8}) {
    SCOPED_TRACE(done);
    TrainedModel whole = MakeRun(1);
    Train(whole, done);
    COOPER_ASSERT_OK_AND_ASSIGN(
        const TrainingState state,
        CaptureTraining(
            {.module = whole.model.get(), .iter = whole.iter.get(), .metric = whole.metric.get()},
            done / 6, done % 6));
    COOPER_ASSERT_OK(SaveTrainingState(path, state));
    Train(whole, 9);

    TrainedModel resumed = MakeRun(2);
    Train(resumed, 3);  // RestoreTraining discards these batches
    COOPER_ASSERT_OK_AND_ASSIGN(const TrainingState loaded, LoadTrainingState(path));
    EXPECT_EQ(loaded.epoch, done / 6);
    EXPECT_EQ(loaded.nbatch, done % 6);
    COOPER_ASSERT_OK(RestoreTraining(
        loaded,
        {.module = resumed.model.get(), .iter = resumed.iter.get(), .metric = resumed.metric.get()},
        resumed.optimizer));
    Train(resumed, 9);
    COOPER_ASSERT_OK_AND_ASSIGN(const ModuleParams expected, whole.model->GetParams());
    COOPER_ASSERT_OK_AND_ASSIGN(const ModuleParams got, resumed.model->GetParams());
    for (const auto& [name, array] : expected.args) {
      EXPECT_EQ(Floats(got.args.at(name)), Floats(array)) << name;
    }
    EXPECT_EQ(resumed.metric->GetNameValue(), whole.metric->GetNameValue());
  }
}

TEST(TrainingStateTest, DamagedFilesAreRefused) {
  const std::string path = testing::TempDir() + "/damaged.state";
  EXPECT_THAT(LoadTrainingState(path),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("damaged.state")));
  TrainedModel run = MakeRun(1);
  Train(run, 2);
  COOPER_ASSERT_OK_AND_ASSIGN(
      const TrainingState state,
      CaptureTraining(
          {.module = run.model.get(), .iter = run.iter.get(), .metric = run.metric.get()}, 0, 2));
  COOPER_ASSERT_OK(SaveTrainingState(path, state));
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string bytes, ReadFile(path));
  for (size_t length = 0; length < bytes.size(); length += 97) {
    COOPER_ASSERT_OK(WriteFileAtomically(path, bytes.substr(0, length)));
    EXPECT_FALSE(LoadTrainingState(path).ok()) << length;
  }

  COOPER_ASSERT_OK(WriteFileAtomically(path, "version https://git-lfs.github.com/spec/v1\n"));
  EXPECT_THAT(LoadTrainingState(path),
              StatusIs(kInvalidArgument, HasSubstr("the file is a Git LFS pointer; fetch")));

  const auto refuse = [&path](const NamedArrays& list, const std::string& words) {
    COOPER_ASSERT_OK(SaveNamedArrays(path, list));
    EXPECT_THAT(LoadTrainingState(path), StatusIs(kInvalidArgument, HasSubstr(words)));
  };
  const NDArray one = *NDArray::FromVector<int64_t>({1}, {1});
  refuse({}, "no training state");
  refuse({{"arg:data", one}},
         "is no training state, its first array is 'arg:data': parameters (.params) and");
  refuse({{"cooper:training_state", *NDArray::FromVector<int64_t>({1}, {99})}}, "version 99");
  refuse({{"cooper:training_state", one}}, "'position' is missing");
  refuse({{"cooper:training_state", one}, {"position", one}}, "'position' is no position");
  refuse({{"cooper:training_state", one}, {"colour", one}}, "unknown entry 'colour'");
  refuse({{"cooper:training_state", one}, {"score", *NDArray::Zeros({2}, DType::kFloat64)}},
         "'score' is no score");
  refuse({{"cooper:training_state", one}, {"updates", *NDArray::FromVector<int64_t>({1}, {-1})}},
         "'updates' is no number of updates");
}

TEST(TrainingStateTest, AScoreIsKept) {
  const std::string path = testing::TempDir() + "/score.state";
  for (const std::optional<double> score : {std::optional<double>(0.1), std::optional<double>()}) {
    COOPER_ASSERT_OK(SaveTrainingState(path, {.score = score}));
    COOPER_ASSERT_OK_AND_ASSIGN(const TrainingState loaded, LoadTrainingState(path));
    EXPECT_EQ(loaded.score, score);
  }
}

TEST(TrainingStateTest, UpdatesOfSeveralProcessesArePartOfThePosition) {
  const std::string path = testing::TempDir() + "/updates.state";
  TrainingState state{.epoch = 1, .nbatch = 3};
  EXPECT_EQ(state.position(), StatePosition(1, 3));
  state.updates = 12;
  COOPER_ASSERT_OK(SaveTrainingState(path, state));
  COOPER_ASSERT_OK_AND_ASSIGN(const TrainingState loaded, LoadTrainingState(path));
  EXPECT_EQ(loaded.updates, 12);
  EXPECT_EQ(loaded.position(), StatePosition(1, 12));
}

TEST(TrainingStateTest, AFileOfVersion2IsRead) {
  const std::string path = testing::TempDir() + "/version2.state";
  COOPER_ASSERT_OK(
      SaveNamedArrays(path, {{"cooper:training_state", *NDArray::FromVector<int64_t>({1}, {2})},
                             {"position", *NDArray::FromVector<int64_t>({4}, {3, 7, 1, 2})},
                             {"cooper:crc32", *NDArray::FromVector<int64_t>({1}, {0x5f997038})}}));
  COOPER_ASSERT_OK_AND_ASSIGN(const TrainingState loaded, LoadTrainingState(path));
  EXPECT_EQ(loaded.epoch, 3);
  EXPECT_EQ(loaded.nbatch, 7);
  EXPECT_EQ(loaded.score, std::nullopt);
}

TEST(TrainingStateTest, AStateOfAnotherModelIsRefused) {
  TrainedModel run = MakeRun(1);
  Train(run, 2);
  COOPER_ASSERT_OK_AND_ASSIGN(
      TrainingState state,
      CaptureTraining(
          {.module = run.model.get(), .iter = run.iter.get(), .metric = run.metric.get()}, 0, 2));
  state.args["fc1_weight"] = RandomArray({7, 6}, 1);
  EXPECT_THAT(
      RestoreTraining(
          state, {.module = run.model.get(), .iter = run.iter.get(), .metric = run.metric.get()},
          run.optimizer),
      StatusIs(kInvalidArgument, HasSubstr("fc1_weight")));
  state.args.erase("fc1_weight");
  EXPECT_THAT(
      RestoreTraining(
          state, {.module = run.model.get(), .iter = run.iter.get(), .metric = run.metric.get()},
          run.optimizer),
      StatusIs(kInvalidArgument, HasSubstr("fc1_weight")));
}

// Optimizer states of a file are checked before they are used: the first update would read beyond
// the end of a weight's copy with another shape.
TEST(TrainingStateTest, AnOptimizerStateThatDoesNotFitItsWeightIsRefused) {
  TrainedModel run = MakeRun(1);
  Train(run, 2);
  COOPER_ASSERT_OK_AND_ASSIGN(
      const TrainingState state,
      CaptureTraining(
          {.module = run.model.get(), .iter = run.iter.get(), .metric = run.metric.get()}, 0, 2));
  const std::string path = testing::TempDir() + "/hostile.state";
  const std::pair<std::pair<const char*, NDArray>, const char*> kCases[] = {
      {{"fc1_weight:master", RandomArray({1}, 1)}, "'fc1_weight'"},
      {{"fc1_weight:master", RandomArray({5, 6}, 1)}, "has a float32 copy"},
      {{"fc1_weight:mean", RandomArray({2}, 1)}, "its optimizer state (2,)"},
      {{"fc1_weight:num_updates", *NDArray::FromVector<int64_t>({1}, {INT64_MAX})},
       "9223372036854775807"},
  };
  for (const auto& [entry, error] : kCases) {
    TrainingState changed = state;
    std::erase_if(changed.optimizer,
                  [&, name = entry.first](const auto& e) { return e.first == name; });
    changed.optimizer.emplace_back(entry.first, entry.second);
    COOPER_ASSERT_OK(SaveTrainingState(path, changed));
    COOPER_ASSERT_OK_AND_ASSIGN(const TrainingState loaded, LoadTrainingState(path));
    EXPECT_THAT(
        RestoreTraining(
            loaded, {.module = run.model.get(), .iter = run.iter.get(), .metric = run.metric.get()},
            run.optimizer),
        StatusIs(kInvalidArgument, HasSubstr(error)));
  }
}

TEST(TrainingStateTest, AChainHasNoStateOfItsOwn) {
  TrainedModel run = MakeRun(1);
  SequentialModule chain;
  EXPECT_THAT(CaptureTraining({.module = &chain, .iter = run.iter.get()}, 0, 0),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("the modules it is made of")));
}

}  // namespace
}  // namespace cooper
