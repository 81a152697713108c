// Tests Checkpointer::Resume if Fit binds or updates in a special way: with gradients of several
// batches.

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/iterators/ndarray_iter.h"
#include "module/checkpoint/checkpointer.h"
#include "module/checkpoint/training_state.h"
#include "module/network/module.h"
#include "ndarray/base/context.h"
#include "ndarray/base/status_matchers.h"
#include "tests/module/expect_params.h"
#include "tests/module/module_fixtures.h"

namespace cooper {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Returns a prefix in a new, empty folder for a test.
std::string Prefix(const std::string& name) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / name;
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return (folder / "run").string();
}

std::vector<std::string> Names(const Checkpointer& checkpointer) {
  std::vector<std::string> names;
  for (const std::string& path : checkpointer.Paths()) {
    names.push_back(std::filesystem::path(path).filename().string());
  }
  return names;
}

// Returns data * weight + h, where h is a state that persists from batch to batch.
Symbol WithState() {
  const Symbol product =
      Op("FullyConnected", {.name = "fc",
                            .inputs = {Symbol::Variable("data")},
                            .attrs = {{"num_hidden", "2"}, {"no_bias", "True"}}});
  return Op("SoftmaxOutput",
            {.name = "softmax",
             .inputs = {
                 Op("elemwise_add", {.name = "sum", .inputs = {product, Symbol::Variable("h")}})}});
}

// Fit must not bind again, which would zero the states.
TEST(CheckpointerResumeTest, CarriedStatesOutlastAnotherWayOfCollectingGradients) {
  const std::string prefix = Prefix("resume_carried");
  auto checkpointer = *Checkpointer::Create({.prefix = prefix});
  const auto make_iter = [] {
    return *NDArrayIter::Create({{"data", RandomArray({16, 6}, 5)}},
                                {{"softmax_label", Classes(16, 2, 5)}}, {.batch_size = 4});
  };
  const auto make_bound = [&](DataIter& iter) {
    auto model = *Module::Create(WithState(), {.compute = {.state_names = {"h"}}});
    COOPER_EXPECT_OK(
        model->Bind({.data_shapes = iter.provide_data(), .label_shapes = iter.provide_label()}));
    return model;
  };
  const auto carried = [](const Module& model) { return Floats((*model.GetStates())[0]); };
  auto iter = make_iter();
  auto model = make_bound(*iter);
  FitOptions fit{.accumulate_batches = 2, .num_epoch = 1};
  COOPER_ASSERT_OK(model->Fit(*iter, fit));
  COOPER_ASSERT_OK(model->SetStates(3.0));
  COOPER_ASSERT_OK_AND_ASSIGN(TrainingState state,
                              CaptureTraining({.module = model.get(), .iter = iter.get()}, 1, 0));
  COOPER_ASSERT_OK(checkpointer->Save(std::move(state)));
  COOPER_ASSERT_OK(checkpointer->Wait());
  const std::vector<float> before = carried(*model);
  ASSERT_THAT(before, Each(3.0f));
  // The module was first bound to overwrite gradients, or a Fit made it accumulate them; Resume
  // needs the other way.
  for (const bool added_up : {false, true}) {
    auto rest = make_iter();
    auto again = make_bound(*rest);
    FitOptions second{.num_epoch = 2};
    second.accumulate_batches = 2;
    if (added_up) {
      COOPER_ASSERT_OK(again->Fit(*rest, second));
      second.accumulate_batches = 1;
    }
    const TrainingRun run{.module = again.get(), .iter = rest.get()};
    COOPER_ASSERT_OK_AND_ASSIGN(const bool resumed, checkpointer->Resume(run, &second));
    ASSERT_TRUE(resumed);
    COOPER_ASSERT_OK(again->Fit(*rest, second));
    EXPECT_EQ(carried(*again), before) << added_up;
    EXPECT_EQ(again->grad_req(), added_up ? WriteReq::kWrite : WriteReq::kAdd);
  }
}

// With WriteReq::kAdd each update uses the gradients of all batches so far, so the state includes
// them.
TEST(CheckpointerResumeTest, GradientsThatAddUpGoOn) {
  const std::string prefix = Prefix("resume_added");
  const auto make_iter = [] {
    return *NDArrayIter::Create({{"data", RandomArray({20, 6}, 5)}},
                                {{"softmax_label", Classes(20, 3, 5)}}, {.batch_size = 4});
  };
  for (const int contexts : {1, 2}) {
    for (const char* kvstore : {"local", "device", ""}) {
      SCOPED_TRACE(absl::StrCat(contexts, " contexts, store '", kvstore, "'"));
      const auto make_module = [&] {
        return *Module::Create(
            TwoLayers(), {.compute = {.contexts = std::vector<Context>(contexts, Context::Cpu())}});
      };
      FitOptions fit{
          .optimizer = {.kvstore = kvstore, .optimizer_params = {{"learning_rate", "0.01"}}},
          .grad_req = WriteReq::kAdd,
          .num_epoch = 3};
      const auto whole = make_module();
      COOPER_ASSERT_OK(whole->Fit(*make_iter(), fit));
      // Ends after a batch of the second epoch and resumes in another module.
      auto checkpointer = *Checkpointer::Create({.prefix = prefix});
      const auto first = make_module();
      const auto data = make_iter();
      FitOptions part = fit;
      part.capture_point = checkpointer->Every(1, {.module = first.get(), .iter = data.get()});
      part.batch_end_callbacks = {
          [](const BatchEndParam& param) { return param.epoch == 0 || param.nbatch < 2; }};
      COOPER_ASSERT_OK(first->Fit(*data, part));
      COOPER_ASSERT_OK(checkpointer->Wait());
      EXPECT_THAT(Names(*checkpointer), Contains("run-0001-00000003.state"));
      const auto second = make_module();
      const auto rest = make_iter();
      COOPER_ASSERT_OK_AND_ASSIGN(
          const bool resumed,
          checkpointer->Resume({.module = second.get(), .iter = rest.get()}, &fit));
      ASSERT_TRUE(resumed);
      COOPER_ASSERT_OK(second->Fit(*rest, fit));
      ExpectSameParams(*whole, *second);
      // A state of a training without accumulation has no gradients.
      COOPER_ASSERT_OK(second->ZeroGrads());
      COOPER_ASSERT_OK_AND_ASSIGN(
          const TrainingState state,
          CaptureTraining({.module = second.get(), .iter = rest.get()}, 3, 0));
      EXPECT_THAT(state.grads, IsEmpty());
      for (const std::string& path : checkpointer->Paths()) std::filesystem::remove(path);
    }
  }
}

// Epochs have 3 batches, fewer than accumulate_batches: the update is after the last one, at the
// end of the iterator.
TEST(CheckpointerResumeTest, SavesAfterTheUpdateAtTheEndOfAnEpoch) {
  const std::string prefix = Prefix("resume_ends");
  const auto make_iter = [] {
    return *NDArrayIter::Create({{"data", RandomArray({12, 6}, 5)}},
                                {{"softmax_label", Classes(12, 3, 5)}}, {.batch_size = 4});
  };
  auto checkpointer = *Checkpointer::Create({.prefix = prefix, .keep_last = 10});
  auto model = *Module::Create(TwoLayers());
  auto iter = make_iter();
  FitOptions fit{.accumulate_batches = 4, .num_epoch = 2};
  fit.capture_point = checkpointer->Every(1, {.module = model.get(), .iter = iter.get()});
  COOPER_ASSERT_OK(model->Fit(*iter, fit));
  COOPER_ASSERT_OK(checkpointer->Wait());
  EXPECT_THAT(Names(*checkpointer),
              ElementsAre("run-0000-00000003.state", "run-0001-00000003.state"));
  std::filesystem::remove(checkpointer->Paths().back());
  auto again = *Module::Create(TwoLayers());
  auto rest = make_iter();
  const TrainingRun run{.module = again.get(), .iter = rest.get()};
  int epochs = 0;
  fit.capture_point = nullptr;
  fit.epoch_end_callbacks = {[&epochs](int, BaseModule&) { return ++epochs > 0; }};
  COOPER_ASSERT_OK_AND_ASSIGN(const bool resumed, checkpointer->Resume(run, &fit));
  EXPECT_TRUE(resumed);
  COOPER_ASSERT_OK(again->Fit(*rest, fit));
  EXPECT_EQ(epochs, 2) << "the first ends once more, without a batch";
  ExpectSameParams(*model, *again);
}

}  // namespace
}  // namespace cooper
