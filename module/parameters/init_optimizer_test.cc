// Tests how InitOptimizer applies its options: the learning rate and the scale of gradients.

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/iterators/ndarray_iter.h"
#include "module/bucketing/bucketing_module.h"
#include "module/lr_scheduler/step_schedulers.h"
#include "module/network/module.h"
#include "module/optimizer/sgd.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/status_matchers.h"
#include "tests/module/log_lines.h"
#include "tests/module/module_fixtures.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

ModuleBindOptions Shapes(int64_t rows) {
  return {.data_shapes = {{.name = "data", .shape = {rows, 6}, .layout = "NC"}},
          .label_shapes = {{.name = "softmax_label", .shape = {rows}, .layout = "N"}}};
}

DataBatch Batch(int64_t rows) {
  const ModuleBindOptions shapes = Shapes(rows);
  return {.data = {RandomArray({rows, 6}, 1)},
          .label = {Classes(rows, 3, 1)},
          .provide_data = shapes.data_shapes,
          .provide_label = shapes.label_shapes};
}

// Returns a module bound to 4 rows, with parameters.
std::unique_ptr<Module> MakeModule() {
  auto module = *Module::Create(TwoLayers());
  COOPER_EXPECT_OK(module->Bind(Shapes(4)));
  COOPER_EXPECT_OK(module->InitParams());
  return module;
}

Optimizer& OptimizerOf(const BaseModule& module) { return module.group()->updater()->optimizer(); }

double RateOf(const InitOptimizerOptions& options) {
  const auto module = MakeModule();
  COOPER_EXPECT_OK(module->InitOptimizer(options));
  return OptimizerOf(*module).learning_rate();
}

TEST(InitOptimizerTest, TheScheduleKeepsItsRateUnlessOneIsGiven) {
  const auto schedule = [] {
    return std::shared_ptr<LRScheduler>(
        *FactorScheduler::Create({.common = {.base_lr = 0.5}, .step = 10}));
  };
  EXPECT_EQ(RateOf({}), 0.01);
  EXPECT_EQ(RateOf({.lr_scheduler = schedule()}), 0.5);
  EXPECT_EQ(RateOf({.optimizer_params = {{"momentum", "0.9"}}, .lr_scheduler = schedule()}), 0.5);
  EXPECT_EQ(RateOf({.optimizer_params = {{"learning_rate", "0.2"}}, .lr_scheduler = schedule()}),
            0.2);
}

// InitOptimizerOptions may be initialized from its first member without braces.
TEST(InitOptimizerTest, ATextAloneIsTheOptimizersName) {
  const FitOptions options{.optimizer = "adam"};
  EXPECT_EQ(options.optimizer.optimizer, "adam");
  EXPECT_EQ(options.optimizer.kvstore, InitOptimizerOptions().kvstore);
  EXPECT_THAT(MakeModule()->InitOptimizer({"no_optimizer"}).message(),
              HasSubstr("no optimizer 'no_optimizer'"));
}

TEST(InitOptimizerTest, GradientsAreScaledByTheBatchSizeOfBind) {
  const auto module = MakeModule();
  COOPER_ASSERT_OK(module->Forward(Batch(1)));
  COOPER_ASSERT_OK(module->InitOptimizer());
  EXPECT_EQ(OptimizerOf(*module).rescale_grad(), 1.0 / 4);

  const auto reshaped = MakeModule();
  COOPER_ASSERT_OK(reshaped->Reshape(Shapes(8).data_shapes, Shapes(8).label_shapes));
  COOPER_ASSERT_OK(reshaped->Forward(Batch(1)));
  COOPER_ASSERT_OK(reshaped->InitOptimizer());
  EXPECT_EQ(OptimizerOf(*reshaped).rescale_grad(), 1.0 / 8);

  auto buckets = *BucketingModule::Create(
      {.sym_gen = [](const BucketKey&) { return TwoLayers(); }, .default_bucket_key = 1});
  COOPER_ASSERT_OK(buckets->Bind(Shapes(4)));
  COOPER_ASSERT_OK(buckets->InitParams());
  DataBatch other = Batch(2);
  other.bucket_key = 2;
  COOPER_ASSERT_OK(buckets->Forward(other));
  COOPER_ASSERT_OK(buckets->InitOptimizer());
  EXPECT_EQ(OptimizerOf(*buckets).rescale_grad(), 1.0 / 4);
}

TEST(InitOptimizerTest, AGivenRateWinsOverThatOfLoadedStates) {
  const std::string prefix = testing::TempDir() + "/rate";
  const auto saved = MakeModule();
  COOPER_ASSERT_OK(saved->InitOptimizer({.optimizer_params = {{"learning_rate", "0.5"}}}));
  COOPER_ASSERT_OK(saved->SaveCheckpoint(prefix, 1, /*save_optimizer_states=*/true));
  const auto rate = [&](const InitOptimizerOptions& options) {
    auto module = *Module::Load(prefix, 1, /*load_optimizer_states=*/true);
    COOPER_EXPECT_OK(module->Bind(Shapes(4)));
    COOPER_EXPECT_OK(module->InitOptimizer(options));
    const double first = OptimizerOf(*module).learning_rate();
    COOPER_EXPECT_OK(module->LoadOptimizerStates(prefix + "-0001.states"));
    EXPECT_EQ(OptimizerOf(*module).learning_rate(), first);
    return first;
  };
  EXPECT_EQ(rate({}), 0.5);
  EXPECT_EQ(rate({.optimizer_params = {{"momentum", "0"}}}), 0.5);
  EXPECT_EQ(rate({.instance = Sgd({})}), 0.5);
  EXPECT_EQ(rate({.optimizer_params = {{"learning_rate", "0.2"}}}), 0.2);
  EXPECT_EQ(rate({.instance = Sgd({.common = {.learning_rate = 0.2}})}), 0.2);
}

TEST(InitOptimizerTest, StatesThatCannotBeReadAreToldWhereTheyAreOpened) {
  const std::string prefix = testing::TempDir() + "/states", path = prefix + "-0001.states";
  const auto saved = MakeModule();
  COOPER_ASSERT_OK(saved->InitOptimizer());
  COOPER_ASSERT_OK(saved->SaveCheckpoint(prefix, 1, /*save_optimizer_states=*/true));
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string whole, ReadFile(path));
  COOPER_ASSERT_OK(WriteFileAtomically(path, "<!doctype html><html></html>"));
  const std::string message = "optimizer states: '" + path +
                              "': not a list of arrays (.params): the file is a web page (HTML)";
  EXPECT_THAT(Module::Load(prefix, 1, /*load_optimizer_states=*/true),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(message)));
  EXPECT_THAT(saved->LoadOptimizerStates(path),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(message)));
  COOPER_EXPECT_OK(Module::Load(prefix, 1));
  // pickle.dumps([], 3): a pickle, as MXNet's optimizer states are, but not of states.
  COOPER_ASSERT_OK(WriteFileAtomically(path, std::string("\x80\3]q\0.", 6)));
  COOPER_EXPECT_OK(Module::Load(prefix, 1, /*load_optimizer_states=*/true));
  EXPECT_THAT(
      saved->LoadOptimizerStates(path),
      StatusIs(absl::StatusCode::kInvalidArgument, "optimizer states: '" + path +
                                                       "': expected a dictionary of states, or a "
                                                       "pair of it and an optimizer, got a list"));
  COOPER_ASSERT_OK(WriteFileAtomically(path, whole.substr(0, whole.size() / 2)));
  COOPER_ASSERT_OK_AND_ASSIGN(auto cut, Module::Load(prefix, 1, /*load_optimizer_states=*/true));
  COOPER_ASSERT_OK(cut->Bind(Shapes(4)));
  EXPECT_THAT(cut->InitOptimizer(), StatusIs(absl::StatusCode::kInvalidArgument,
                                             HasSubstr("optimizer states: '" + path)));
  std::filesystem::remove(path);
  EXPECT_THAT(Module::Load(prefix, 1, /*load_optimizer_states=*/true),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("states-0001.states")));
}

// The scheduled rate at the save stays when a run resumes with the same options.
TEST(InitOptimizerTest, TheRateOfALoadedScheduleStays) {
  const std::string prefix = testing::TempDir() + "/schedule";
  const auto options = [] {
    return InitOptimizerOptions{
        .optimizer_params = {{"learning_rate", "0.5"}},
        .lr_scheduler = *FactorScheduler::Create({.step = 1, .factor = 0.5})};
  };
  const auto saved = MakeModule();
  COOPER_ASSERT_OK(saved->InitOptimizer(options()));
  for (int i = 0; i < 3; ++i) {
    COOPER_ASSERT_OK(saved->ForwardBackward(Batch(4)));
    COOPER_ASSERT_OK(saved->Update());
  }
  const double rate = OptimizerOf(*saved).learning_rate();
  ASSERT_LT(rate, 0.5);
  COOPER_ASSERT_OK(saved->SaveCheckpoint(prefix, 1, /*save_optimizer_states=*/true));
  auto module = *Module::Load(prefix, 1, /*load_optimizer_states=*/true);
  COOPER_ASSERT_OK(module->Bind(Shapes(4)));
  COOPER_ASSERT_OK(module->InitOptimizer(options()));
  EXPECT_EQ(OptimizerOf(*module).learning_rate(), rate);
}

TEST(InitOptimizerTest, WarnsOfAnInstanceThatDoesNotScaleByTheBatchSize) {
  const LogLines log;
  const auto init = [](double rescale_grad, GradientNormalization normalization) {
    COOPER_EXPECT_OK(
        MakeModule()->InitOptimizer({.instance = Sgd({.common = {.rescale_grad = rescale_grad}}),
                                     .normalization = normalization}));
  };
  init(0.25, GradientNormalization::kBatchSize);
  init(1, GradientNormalization::kSamples);
  EXPECT_THAT(log.lines, IsEmpty());
  init(1, GradientNormalization::kBatchSize);
  EXPECT_THAT(log.lines, ElementsAre(HasSubstr("rescale_grad is 1, not 0.25")));
}

TEST(InitOptimizerTest, WarnsOfWhatAnInstanceDoesNotTake) {
  const LogLines log;
  const auto init = [](InitOptimizerOptions options) {
    options.instance = Sgd({.common = {.rescale_grad = 0.25}});
    COOPER_EXPECT_OK(MakeModule()->InitOptimizer(options));
  };
  init({});
  EXPECT_THAT(log.lines, IsEmpty());
  init({.optimizer_params = {{"learning_rate", "1"}}});
  init({.lr_scheduler = *FactorScheduler::Create({.step = 10})});
  EXPECT_THAT(log.lines, ElementsAre(HasSubstr("optimizer_params is ignored beside an instance"),
                                     HasSubstr("lr_scheduler is ignored beside an instance")));
}

// MXNet does not warn.
TEST(InitOptimizerTest, FitWarnsOfMultipliersThatNoParameterHas) {
  const auto train = *NDArrayIter::Create({{"data", RandomArray({4, 6}, 1)}},
                                          {{"softmax_label", Classes(4, 3, 1)}}, {.batch_size = 4});
  const auto module = MakeModule();
  const LogLines log;
  COOPER_ASSERT_OK(module->Fit(
      *train,
      {.progress = nullptr,
       .optimizer = {.lr_mult = {{"fc1_bias", 2}, {"fc1_weigth", 2}}, .wd_mult = {{"x", 0}}},
       .num_epoch = 1}));
  EXPECT_THAT(log.lines, ElementsAre(HasSubstr("lr_mult has 'fc1_weigth', which is no parameter so "
                                               "far; did you mean 'fc1_weight'"),
                                     HasSubstr("wd_mult has 'x', which is no parameter so far")));
}

// As in MXNet, ignored calls log a warning; a Fit that requests the present optimizer does not.
TEST(InitOptimizerTest, WarnsOfWhatIsIgnored) {
  const auto module = MakeModule();
  const InitOptimizerOptions first = {.optimizer_params = {{"learning_rate", "0.1"}}};
  COOPER_ASSERT_OK(module->InitOptimizer(first));
  LogLines log;
  COOPER_ASSERT_OK(module->InitOptimizer(first));
  COOPER_ASSERT_OK(module->InitOptimizer({}));
  COOPER_ASSERT_OK(module->InitParams());
  COOPER_ASSERT_OK(module->Bind(Shapes(4)));
  EXPECT_THAT(log.lines, IsEmpty());
  COOPER_ASSERT_OK(module->InitOptimizer({.optimizer_params = {{"learning_rate", "0"}}}));
  COOPER_ASSERT_OK(module->InitParams({.arg_params = module->GetParams()->args}));
  ModuleBindOptions to_predict = Shapes(4);
  to_predict.for_training = false;
  COOPER_ASSERT_OK(module->Bind(to_predict));
  EXPECT_THAT(log.lines,
              ElementsAre(HasSubstr("optimizer, sgd(learning_rate=0.1): sgd(learning_rate=0) is "
                                    "ignored"),
                          HasSubstr("the given ones are ignored"),
                          HasSubstr("stays bound with for_training = true")));
  log.lines.clear();
  COOPER_ASSERT_OK(module->InitOptimizer({.optimizer = "adam"}));
  EXPECT_THAT(log.lines, ElementsAre(HasSubstr("adam() is ignored")));
}

}  // namespace
}  // namespace cooper
