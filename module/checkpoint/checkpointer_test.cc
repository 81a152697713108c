// Tests checkpoints during training: which are kept, what happens when they cannot be written, and
// that runs resume from them bit for bit.

#include "module/checkpoint/checkpointer.h"

#include <sys/resource.h>

#include <cmath>
#include <csignal>
#include <filesystem>
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
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/status_matchers.h"
#include "tests/module/module_fixtures.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

// Returns a prefix in a new, empty folder for a test.
std::string Prefix(const std::string& name) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / name;
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return (folder / "run").string();
}

TrainingState SmallState(int epoch, int64_t nbatch) {
  TrainingState state{.epoch = epoch, .nbatch = nbatch};
  state.args["w"] = RandomArray({10, 10}, epoch * 100 + nbatch);
  return state;
}

std::vector<std::string> Names(const Checkpointer& checkpointer) {
  std::vector<std::string> names;
  for (const std::string& path : checkpointer.Paths()) {
    names.push_back(std::filesystem::path(path).filename().string());
  }
  return names;
}

TEST(CheckpointerTest, TheLastOnesAndTheBestStay) {
  for (bool background : {false, true}) {
    const std::string prefix = Prefix("keep");
    COOPER_ASSERT_OK_AND_ASSIGN(
        auto checkpointer,
        Checkpointer::Create({.prefix = prefix, .keep_last = 2, .background = background}));
    EXPECT_THAT(checkpointer->LoadLatest(),
                StatusIs(absl::StatusCode::kNotFound, HasSubstr("no usable state")));
    const double scores[] = {5, 2, 3, 4};
    for (int i = 0; i < 4; ++i) COOPER_ASSERT_OK(checkpointer->Save(SmallState(0, i), scores[i]));
    COOPER_ASSERT_OK(checkpointer->Wait());
    EXPECT_THAT(Names(*checkpointer),
                ElementsAre("run-0000-00000002.state", "run-0000-00000003.state"));
    COOPER_ASSERT_OK_AND_ASSIGN(const TrainingState latest, checkpointer->LoadLatest());
    EXPECT_EQ(latest.nbatch, 3);
    EXPECT_EQ(LoadTrainingState(checkpointer->best_path())->nbatch, 1);

    // A resumed run knows the best score, and removes older states as it saves new ones.
    checkpointer.reset();
    COOPER_ASSERT_OK_AND_ASSIGN(checkpointer,
                                Checkpointer::Create({.prefix = prefix, .background = background}));
    COOPER_ASSERT_OK(checkpointer->LoadLatest());
    COOPER_ASSERT_OK(checkpointer->Save(SmallState(1, 0), 2.5));
    COOPER_ASSERT_OK(checkpointer->Wait());
    EXPECT_EQ(LoadTrainingState(checkpointer->best_path())->nbatch, 1);
    COOPER_ASSERT_OK(checkpointer->Save(SmallState(1, 7), 1));
    COOPER_ASSERT_OK(checkpointer->Wait());
    EXPECT_EQ(LoadTrainingState(checkpointer->best_path())->nbatch, 7);
    EXPECT_THAT(Names(*checkpointer),
                ElementsAre("run-0001-00000000.state", "run-0001-00000007.state"));
  }
}

TEST(CheckpointerTest, ARunThatBeginsAnewLeavesTheOldOneBehind) {
  const std::string prefix = Prefix("anew");
  {
    COOPER_ASSERT_OK_AND_ASSIGN(auto old, Checkpointer::Create({.prefix = prefix}));
    for (int epoch : {7, 10001}) COOPER_ASSERT_OK(old->Save(SmallState(epoch, 0), 0.5));
    COOPER_ASSERT_OK(old->Wait());
    EXPECT_THAT(Names(*old), ElementsAre("run-0007-00000000.state", "run-10001-00000000.state"));
    EXPECT_EQ(old->LoadLatest()->epoch, 10001) << "numbers, not texts";
  }
  COOPER_ASSERT_OK_AND_ASSIGN(auto anew, Checkpointer::Create({.prefix = prefix}));
  COOPER_ASSERT_OK(anew->Save(SmallState(0, 100), 0.7));
  COOPER_ASSERT_OK(anew->Wait());
  EXPECT_THAT(Names(*anew), ElementsAre("run-0000-00000100.state"));
  EXPECT_EQ(anew->LoadLatest()->nbatch, 100);
  EXPECT_EQ(LoadTrainingState(anew->best_path())->nbatch, 100);
  // NaN is neither better nor worse than any number.
  COOPER_ASSERT_OK(anew->Save(SmallState(0, 200), std::nan("")));
  COOPER_ASSERT_OK(anew->Save(SmallState(0, 300), 0.6));
  COOPER_ASSERT_OK(anew->Wait());
  EXPECT_EQ(LoadTrainingState(anew->best_path())->nbatch, 300);
}

// The score is in the file of the state: a killed run cannot leave one without the other.
TEST(CheckpointerTest, TheBestStateHasItsScore) {
  const std::string prefix = Prefix("score");
  COOPER_ASSERT_OK_AND_ASSIGN(auto checkpointer,
                              Checkpointer::Create({.prefix = prefix, .background = false}));
  COOPER_ASSERT_OK(checkpointer->Save(SmallState(0, 1), 2));
  const std::string best = checkpointer->best_path();
  EXPECT_EQ(LoadTrainingState(best)->score, 2.0);
  // The score file of an older version, whose run was killed before it replaced that file too.
  COOPER_ASSERT_OK(WriteFileAtomically(best + ".score", "5\n"));
  checkpointer = *Checkpointer::Create({.prefix = prefix, .background = false});
  COOPER_ASSERT_OK(checkpointer->LoadLatest());
  COOPER_ASSERT_OK(checkpointer->Save(SmallState(0, 2), 3));
  EXPECT_EQ(LoadTrainingState(best)->nbatch, 1);
  COOPER_ASSERT_OK(checkpointer->Save(SmallState(0, 3), 1));
  EXPECT_EQ(LoadTrainingState(best)->nbatch, 3);
  EXPECT_FALSE(std::filesystem::exists(best + ".score"));
  // The score passed to Save counts, not that of the state.
  COOPER_ASSERT_OK(checkpointer->Save(*LoadTrainingState(best)));
  EXPECT_EQ(LoadTrainingState(checkpointer->Paths().back())->score, std::nullopt);
}

TEST(CheckpointerTest, TheScoreOfAnOlderVersionLiesBesideTheBestState) {
  const std::string prefix = Prefix("old_score");
  std::vector<std::string> log;
  COOPER_ASSERT_OK_AND_ASSIGN(
      auto checkpointer,
      Checkpointer::Create({.prefix = prefix, .background = false, .log = [&](const auto& line) {
                              log.push_back(line);
                            }}));
  const std::string best = checkpointer->best_path();
  COOPER_ASSERT_OK(checkpointer->Save(SmallState(0, 1)));
  COOPER_ASSERT_OK(SaveTrainingState(best, SmallState(0, 1)));
  COOPER_ASSERT_OK(WriteFileAtomically(best + ".score", "2\n"));
  COOPER_ASSERT_OK(checkpointer->LoadLatest());
  COOPER_ASSERT_OK(checkpointer->Save(SmallState(0, 2), 2.5));
  EXPECT_EQ(LoadTrainingState(best)->nbatch, 1);
  EXPECT_THAT(log, IsEmpty());
  // The score of an unreadable best state does not count either.
  COOPER_ASSERT_OK(WriteFileAtomically(best, "damaged"));
  COOPER_ASSERT_OK(checkpointer->LoadLatest());
  EXPECT_THAT(log, ElementsAre(HasSubstr("run-best.state")));
  COOPER_ASSERT_OK(checkpointer->Save(SmallState(0, 3), 9));
  EXPECT_EQ(LoadTrainingState(best)->nbatch, 3);
}

TEST(CheckpointerTest, EveryCountsBatchesThatItDoesNotSee) {
  const std::string prefix = Prefix("every");
  COOPER_ASSERT_OK_AND_ASSIGN(auto checkpointer,
                              Checkpointer::Create({.prefix = prefix, .keep_last = 10}));
  auto model = *Module::Create(TwoLayers());
  auto iter = *NDArrayIter::Create({{"data", RandomArray({60, 6}, 5)}},
                                   {{"softmax_label", Classes(60, 3, 5)}}, {.batch_size = 4});
  const TrainingRun run{.module = model.get(), .iter = iter.get()};
  FitOptions fit{.capture_point = checkpointer->Every(10, run),
                 .optimizer = {.force_init = true},  // Resume clears these
                 .params = {.force_init = true},
                 .accumulate_batches = 4,
                 .num_epoch = 2};
  COOPER_ASSERT_OK(model->Fit(*iter, fit));
  COOPER_ASSERT_OK(checkpointer->Wait());
  EXPECT_THAT(Names(*checkpointer),
              ElementsAre("run-0000-00000012.state", "run-0001-00000008.state"));
  // The run resumes from there with the same accumulated gradients.
  auto again = *Module::Create(TwoLayers());
  auto rest = *NDArrayIter::Create({{"data", RandomArray({60, 6}, 5)}},
                                   {{"softmax_label", Classes(60, 3, 5)}}, {.batch_size = 4});
  const TrainingRun second{.module = again.get(), .iter = rest.get()};
  std::filesystem::remove(checkpointer->Paths().back());
  fit.force_rebind = true;
  COOPER_ASSERT_OK_AND_ASSIGN(const bool resumed, checkpointer->Resume(second, &fit));
  EXPECT_TRUE(resumed);
  EXPECT_EQ(fit.begin_batch, 12);
  EXPECT_FALSE(fit.force_rebind) << "carried states would begin anew";
  fit.capture_point = nullptr;
  COOPER_ASSERT_OK(again->Fit(*rest, fit));
  const ModuleParams a = *model->GetParams(), b = *again->GetParams();
  for (const auto& [name, array] : a.args) {
    EXPECT_EQ(Floats(array), Floats(b.args.at(name))) << name;
  }
}

// Epochs of 5 batches. A run resumed within one saves where the uninterrupted one does.
TEST(CheckpointerTest, EveryCountsOverShortEpochs) {
  const std::string prefix = Prefix("short");
  const auto train = [&prefix](int num_epoch) {
    auto checkpointer = *Checkpointer::Create({.prefix = prefix, .keep_last = 10});
    auto model = *Module::Create(TwoLayers());
    auto iter = *NDArrayIter::Create({{"data", RandomArray({20, 6}, 5)}},
                                     {{"softmax_label", Classes(20, 3, 5)}}, {.batch_size = 4});
    const TrainingRun run{.module = model.get(), .iter = iter.get()};
    FitOptions fit{.capture_point = checkpointer->Every(8, run), .num_epoch = num_epoch};
    COOPER_EXPECT_OK(checkpointer->Resume(run, &fit).status());
    COOPER_EXPECT_OK(model->Fit(*iter, fit));
    COOPER_EXPECT_OK(checkpointer->Wait());
    return Names(*checkpointer);
  };
  EXPECT_THAT(train(2), ElementsAre("run-0001-00000003.state"));
  const std::vector<std::string> resumed = train(5);
  EXPECT_THAT(resumed, ElementsAre("run-0001-00000003.state", "run-0003-00000001.state",
                                   "run-0004-00000004.state"));
  std::filesystem::remove_all(std::filesystem::path(prefix).parent_path());
  std::filesystem::create_directories(std::filesystem::path(prefix).parent_path());
  EXPECT_EQ(train(5), resumed);
}

TEST(CheckpointerTest, ADamagedStateIsPassedOver) {
  const std::string prefix = Prefix("damaged");
  std::vector<std::string> log;
  COOPER_ASSERT_OK_AND_ASSIGN(
      auto checkpointer,
      Checkpointer::Create(
          {.prefix = prefix, .log = [&](const std::string& line) { log.push_back(line); }}));
  COOPER_ASSERT_OK(checkpointer->Save(SmallState(0, 1)));
  COOPER_ASSERT_OK(checkpointer->Save(SmallState(0, 2)));
  COOPER_ASSERT_OK(checkpointer->Wait());
  // Changes one bit of an element, which only the checksum detects.
  const std::string newest = checkpointer->Paths().back();
  std::string bytes = *ReadFile(newest);
  bytes[bytes.size() / 4] ^= 1;
  COOPER_ASSERT_OK(WriteFileAtomically(newest, bytes));
  COOPER_ASSERT_OK_AND_ASSIGN(const TrainingState latest, checkpointer->LoadLatest());
  EXPECT_EQ(latest.nbatch, 1);
  EXPECT_THAT(log, ElementsAre(HasSubstr("run-0000-00000002.state")));
}

TEST(CheckpointerTest, WhatAKilledRunLeftIsRemoved) {
  const std::string prefix = Prefix("left");
  COOPER_ASSERT_OK(WriteFileAtomically(prefix + "-0000-00000001.state.tmp123-0", "half"));
  COOPER_ASSERT_OK(WriteFileAtomically(prefix + "-notes.txt", "mine"));
  // Temporary files of every kind that is saved under the prefix.
  for (const char* kind : {".buckets.tmp9-1", ".bucket_keys.tmp9-2", "-10-symbol.json.tmp9-3",
                           "-0003.params.tmp9-4", "-best.state.score.tmp9-5"}) {
    COOPER_ASSERT_OK(WriteFileAtomically(prefix + kind, "half"));
  }
  COOPER_ASSERT_OK_AND_ASSIGN(AtomicFile written,
                              AtomicFile::Create(prefix + "-2-0000-00000001.state"));
  COOPER_ASSERT_OK_AND_ASSIGN(auto checkpointer, Checkpointer::Create({.prefix = prefix}));
  EXPECT_THAT(checkpointer->Paths(), IsEmpty());
  COOPER_EXPECT_OK(ReadFile(prefix + "-notes.txt"));
  // A file that is being written is not removed.
  COOPER_ASSERT_OK(written.Append("another run's"));
  COOPER_ASSERT_OK(written.Commit());
  std::vector<std::string> names;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(prefix).parent_path())) {
    names.push_back(entry.path().filename().string());
  }
  EXPECT_THAT(names, UnorderedElementsAre("run-notes.txt", "run-2-0000-00000001.state"));
}

// A limit on the size of files simulates a full disk.
TEST(CheckpointerTest, AFullDiskLosesNothing) {
  const std::string prefix = Prefix("full");
  for (bool background : {false, true}) {
    COOPER_ASSERT_OK_AND_ASSIGN(
        auto checkpointer,
        Checkpointer::Create({.prefix = prefix, .keep_last = 1, .background = background}));
    COOPER_ASSERT_OK(checkpointer->Save(SmallState(0, 1)));
    COOPER_ASSERT_OK(checkpointer->Wait());
    std::signal(SIGXFSZ, SIG_IGN);
    rlimit limit;
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &limit), 0);
    rlimit small = limit;
    small.rlim_cur = 300;
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    absl::Status status = checkpointer->Save(SmallState(0, 2));
    if (background) {
      COOPER_EXPECT_OK(status);
      status = checkpointer->Wait();
    }
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
    EXPECT_THAT(status.message(), HasSubstr("run-0000-00000001.state' is still usable"));
    EXPECT_THAT(Names(*checkpointer), ElementsAre("run-0000-00000001.state"));
    COOPER_ASSERT_OK_AND_ASSIGN(const TrainingState latest, checkpointer->LoadLatest());
    EXPECT_EQ(latest.nbatch, 1);
    // With free space saving works again.
    COOPER_ASSERT_OK(checkpointer->Save(SmallState(0, 2)).ok()
                         ? absl::OkStatus()
                         : checkpointer->Save(SmallState(0, 2)));
    COOPER_ASSERT_OK(checkpointer->Wait());
    EXPECT_THAT(Names(*checkpointer), ElementsAre("run-0000-00000002.state"));
    std::filesystem::remove(checkpointer->Paths()[0]);
  }
}

TEST(CheckpointerTest, BadOptionsAreRefused) {
  EXPECT_THAT(Checkpointer::Create({}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("prefix is required")));
  EXPECT_THAT(Checkpointer::Create({.prefix = "x", .keep_last = 0}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("keep_last is 0")));
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "removed";
  COOPER_ASSERT_OK_AND_ASSIGN(
      auto nowhere,
      Checkpointer::Create(
          {.prefix = (folder / "run").string(), .create_folder = true, .background = false}));
  std::filesystem::remove(folder);
  EXPECT_THAT(nowhere->Save(SmallState(0, 1)),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("there is no earlier state")));
}

}  // namespace
}  // namespace cooper
