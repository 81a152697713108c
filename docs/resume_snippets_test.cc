// The C++ of checkpoints.md about resumed runs, run: check_snippets.sh holds them together.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "docs/five_words.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/batch/data_desc.h"
#include "module/bucketing/bucketing_module.h"
#include "module/checkpoint/checkpointer.h"
#include "module/metric/classification.h"
#include "module/network/module.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;

// Trains for 3 epochs, and continues where an earlier run of this prefix was stopped or killed.
absl::Status TrainResumably(BucketingModule& model, DataIter& data, const std::string& prefix) {
  const auto metric = Perplexity({.ignore_label = 0});
  FitOptions fit{.eval_metric = metric.get(),
                 .stop_on_signal = true,
                 .optimizer = {.optimizer = "adam"},
                 .num_epoch = 3};
  const TrainingRun run{.module = &model, .iter = &data, .metric = metric.get()};
  COOPER_ASSIGN_OR_RETURN(auto checkpointer, Checkpointer::Create({.prefix = prefix}));
  COOPER_RETURN_IF_ERROR(checkpointer->Resume(run, &fit).status());  // or begins anew
  checkpointer->Attach(run, {.every = 10}, &fit);  // saves every 10 batches and at Ctrl-C
  return model.Fit(data, fit);
}

// Fails after so many batches, as a run that is killed ends.
class Breaking : public DataIter {
 public:
  Breaking(std::unique_ptr<DataIter> iter, int batches) : iter_(std::move(iter)), left_(batches) {}
  absl::StatusOr<std::optional<DataBatch>> Next() override {
    if (left_-- == 0) return absl::AbortedError("killed");
    return iter_->Next();
  }
  absl::Status Reset() override { return iter_->Reset(); }
  const std::vector<DataDesc>& provide_data() const override { return iter_->provide_data(); }
  const std::vector<DataDesc>& provide_label() const override { return iter_->provide_label(); }
  int64_t batch_size() const override { return iter_->batch_size(); }
  absl::StatusOr<std::string> SaveState() const override { return iter_->SaveState(); }

 private:
  std::unique_ptr<DataIter> iter_;
  int left_;
};

TEST(ModulePageTest, AResumedRunEndsAlike) {
  const std::string whole_prefix = testing::TempDir() + "whole";
  const std::string killed_prefix = testing::TempDir() + "killed";
  auto make = [] {
    return BucketingModule::Create({.sym_gen = NextOfFive, .default_bucket_key = 12});
  };
  COOPER_ASSERT_OK_AND_ASSIGN(auto data, FiveWords());
  COOPER_ASSERT_OK_AND_ASSIGN(auto whole, make());
  COOPER_ASSERT_OK(TrainResumably(*whole, *data, whole_prefix));

  COOPER_ASSERT_OK_AND_ASSIGN(auto again, FiveWords());
  Breaking broken(std::move(again), 35);  // in the second epoch
  COOPER_ASSERT_OK_AND_ASSIGN(auto killed, make());
  EXPECT_THAT(TrainResumably(*killed, broken, killed_prefix),
              StatusIs(absl::StatusCode::kAborted, HasSubstr("killed")));

  COOPER_ASSERT_OK_AND_ASSIGN(auto rest, FiveWords());
  COOPER_ASSERT_OK_AND_ASSIGN(auto resumed, make());
  COOPER_ASSERT_OK(TrainResumably(*resumed, *rest, killed_prefix));
  COOPER_ASSERT_OK_AND_ASSIGN(const ModuleParams a, whole->GetParams());
  COOPER_ASSERT_OK_AND_ASSIGN(const ModuleParams b, resumed->GetParams());
  for (const auto& [name, array] : a.args) {
    EXPECT_EQ(*array.ToVector<float>(), *b.args.at(name).ToVector<float>()) << name;
  }
}

}  // namespace
}  // namespace cooper
