// Tests a Checkpointer attached to Fit: which states it saves, what it logs when it cannot, and
// that a run which ends anywhere resumes to the same best epoch.

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/iterators/ndarray_iter.h"
#include "module/checkpoint/checkpointer.h"
#include "module/checkpoint/training_state.h"
#include "module/fit/early_stopping.h"
#include "module/initializer/initializers.h"
#include "module/metric/classification.h"
#include "module/network/module.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/status_matchers.h"
#include "tests/module/module_fixtures.h"

namespace cooper {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// Returns the path of a new, empty folder for a test.
std::string Folder(const std::string& name) {
  const std::string folder = (std::filesystem::path(testing::TempDir()) / name).string();
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder;
}

std::unique_ptr<DataIter> MakeIter(uint64_t seed) {
  return *NDArrayIter::Create({{"data", RandomArray({12, 6}, seed)}},
                              {{"softmax_label", Classes(12, 3, seed)}}, {.batch_size = 4});
}

// The objects of one process of a run: three batches an epoch, validated on other rows.
struct Training {
  explicit Training(const std::string& prefix, int num_epoch = 20) {
    fit = {.eval_data = valid.get(),
           .eval_metric = metric.get(),
           .validation_metric = valid_metric.get(),
           .eval_end_callbacks = {stopping.AtEvalEnd()},
           .progress = nullptr,
           .optimizer = {.optimizer = "adam", .optimizer_params = {{"learning_rate", 0.02}}},
           .params = {.initializer = init::Uniform(0.3)},
           .seed = 3,
           .num_epoch = num_epoch};
    run = {.module = module.get(),
           .iter = train.get(),
           .metric = metric.get(),
           .callbacks = {{"stopping", &stopping}}};
    checkpointer = *Checkpointer::Create({.prefix = prefix, .background = false});
  }

  absl::Status Fit() {
    COOPER_RETURN_IF_ERROR(checkpointer->Resume(run, &fit).status());
    checkpointer->Attach(run, {.every = 1, .score = "cross-entropy"}, &fit);
    return module->Fit(*train, fit);
  }

  std::unique_ptr<Module> module = *Module::Create(TwoLayers());
  std::unique_ptr<DataIter> train = MakeIter(5), valid = MakeIter(6);
  std::unique_ptr<EvalMetric> metric = CrossEntropy({}), valid_metric = CrossEntropy({});
  EarlyStopping stopping{{.metric = "cross-entropy", .patience = 2, .log = nullptr}};
  FitOptions fit;
  TrainingRun run;
  std::unique_ptr<Checkpointer> checkpointer;
};

std::string Bytes(const std::string& path) { return ReadFile(path).value_or(path + " is missing"); }

TEST(CheckpointerAttachTest, TheBestEpochIsThatOfTheUnbrokenRun) {
  const std::string folder = Folder("attach_best");
  Training whole(folder + "/whole");
  int calls = 0;
  const auto count = [&](const BatchEndParam&) {
    ++calls;
    return true;
  };
  whole.fit.batch_end_callbacks = whole.fit.eval_batch_end_callbacks = {count};
  COOPER_ASSERT_OK(whole.Fit());
  ASSERT_TRUE(whole.stopping.stopped());
  ASSERT_GT(whole.stopping.best_epoch(), 0);
  const std::string last = whole.checkpointer->Paths().back();
  const auto params = whole.module->GetParams()->args;

  // Each run is killed after `end` batches of training or validation, resumed, killed again after 5
  // batches, and resumed to its end.
  for (int end = 1; end < calls; ++end) {
    const std::string prefix = absl::StrCat(folder, "/ended", end);
    for (const int ends_after : {end, 5, calls}) {
      Training run(prefix);
      int left = ends_after;
      const auto fail = [&](const BatchEndParam&) -> absl::StatusOr<bool> {
        if (--left == 0) return absl::AbortedError("killed");
        return true;
      };
      run.fit.batch_end_callbacks = run.fit.eval_batch_end_callbacks = {fail};
      const absl::Status status = run.Fit();
      if (ends_after != calls) continue;
      if (!status.ok()) {
        COOPER_ASSERT_OK(Training(prefix).Fit());
      }
    }
    Training ended(prefix);
    COOPER_ASSERT_OK(ended.Fit());  // there is nothing left to train
    EXPECT_EQ(ended.stopping.best_epoch(), whole.stopping.best_epoch()) << end;
    EXPECT_EQ(ended.stopping.best(), whole.stopping.best()) << end;
    EXPECT_TRUE(ended.stopping.stopped());
    EXPECT_EQ(Bytes(prefix + "-best.state"), Bytes(folder + "/whole-best.state")) << end;
    EXPECT_EQ(Bytes(ended.checkpointer->Paths().back()), Bytes(last)) << end;
    const auto restored = ended.module->GetParams()->args;
    for (const auto& [name, array] : params) EXPECT_EQ(Floats(restored.at(name)), Floats(array));
  }
}

TEST(CheckpointerAttachTest, WithoutValidationTheEndsOfEpochsAreSaved) {
  const std::string prefix = Folder("attach_epochs") + "/run";
  Training run(prefix, 2);
  run.fit.eval_data = nullptr;
  run.checkpointer->Attach(run.run, {}, &run.fit);
  COOPER_ASSERT_OK(run.module->Fit(*run.train, run.fit));
  EXPECT_THAT(run.checkpointer->Paths(),
              ElementsAre(prefix + "-0000-00000003.state", prefix + "-0001-00000003.state"));
  EXPECT_FALSE(std::filesystem::exists(run.checkpointer->best_path()));
}

TEST(CheckpointerAttachTest, AMissingFolderIsFoundBeforeTheTraining) {
  const std::string folder = Folder("attach_folder");
  EXPECT_THAT(Checkpointer::Create({.prefix = folder + "/run/lm"}),
              StatusIs(absl::StatusCode::kNotFound,
                       AllOf(HasSubstr(absl::StrCat("Checkpointer: prefix '", folder, "/run/lm'")),
                             HasSubstr(absl::StrCat("there is no folder '", folder,
                                                    "/run': make it, or set create_folder")))));
  COOPER_EXPECT_OK(Checkpointer::Create({.prefix = folder + "/run/lm", .create_folder = true}));
  COOPER_ASSERT_OK(WriteFileAtomically(folder + "/file", ""));
  EXPECT_THAT(Checkpointer::Create({.prefix = folder + "/file/lm"}),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr(absl::StrCat("'", folder, "/file' is no folder"))));
}

// The training continues after a failed save and tries again.
TEST(CheckpointerAttachTest, FitFailsIfTheLastSaveDoes) {
  for (const bool comes_back : {true, false}) {
    const std::string folder = Folder("attach_fails");
    std::vector<std::string> lines;
    Training run(folder + "/run", 3);
    run.checkpointer =
        *Checkpointer::Create({.prefix = folder + "/run",
                               .log = [&](const std::string& line) { lines.push_back(line); }});
    run.fit.epoch_end_callbacks = {[&](int epoch, BaseModule&) -> absl::StatusOr<bool> {
      if (epoch == 0) std::filesystem::remove_all(folder);
      if (epoch == 2 && comes_back) {
        EXPECT_FALSE(run.checkpointer->Wait().ok()) << "epoch 1's state has no folder";
        std::filesystem::create_directories(folder);
      }
      return true;
    }};
    run.checkpointer->Attach(run.run, {}, &run.fit);
    const absl::Status status = run.module->Fit(*run.train, run.fit);
    if (comes_back) {
      COOPER_EXPECT_OK(status);
      EXPECT_THAT(run.checkpointer->Paths(), SizeIs(1));
    } else {
      EXPECT_THAT(status.message(), HasSubstr(folder + "/run-0002-00000003.state"));
      EXPECT_FALSE(status.ok());
    }
    EXPECT_THAT(lines, testing::Contains(AllOf(HasSubstr("checkpoint: "),
                                               HasSubstr(folder + "/run-0000-00000003.state"))));
  }
}

TEST(CheckpointerAttachTest, MistakesAreNamed) {
  const std::string prefix = Folder("attach_mistakes") + "/run";
  Training run(prefix, 1);
  run.checkpointer->Attach(run.run, {.score = "perplexity"}, &run.fit);
  EXPECT_THAT(run.module->Fit(*run.train, run.fit),
              StatusIs(absl::StatusCode::kNotFound,
                       HasSubstr("Checkpointer: the metric has no value 'perplexity', but "
                                 "'cross-entropy'")));
  COOPER_ASSERT_OK(Training(prefix, 1).Fit());
  Training other(prefix, 1);
  const Symbol layer =
      Op("FullyConnected",
         {.name = "fc1", .inputs = {Symbol::Variable("data")}, .attrs = {{"num_hidden", "3"}}});
  other.module = *Module::Create(Op("SoftmaxOutput", {.name = "softmax", .inputs = {layer}}));
  other.run.module = other.module.get();
  EXPECT_THAT(
      other.checkpointer->Resume(other.run, &other.fit),
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr(absl::StrCat("Checkpointer: ", prefix, "-0000-00000003.state: "))));
  Training colon(prefix + "-colon", 1);
  colon.run.callbacks = {{"a:b", &colon.stopping}};
  EXPECT_THAT(colon.Fit(), StatusIs(absl::StatusCode::kInvalidArgument,
                                    HasSubstr("callback 'a:b': a name must not contain ':'")));
}

}  // namespace
}  // namespace cooper
