#include "module/parameters/learner.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "executor/executor_fixtures.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "module/initializer/initializers.h"
#include "module/lr_scheduler/set_rate_scheduler.h"
#include "module/optimizer/create_optimizer.h"
#include "module/parameters/parameters.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr auto kArg = ParameterKind::kArg;
constexpr auto kAux = ParameterKind::kAux;
constexpr auto kState = ParameterKind::kState;
constexpr auto kInvalidArgument = absl::StatusCode::kInvalidArgument;

const std::vector<Context> kTwo = {Context::Cpu(0), Context::Cpu(1)};

// Parameters with the Learner that updates them.
struct Learned {
  explicit Learned(const std::vector<Context>& contexts)
      : parameters(contexts), learner(parameters) {}

  void Allocate(ParameterKind kind, const std::string& name, const ArraySpec& spec) {
    for (int i = 0; i < parameters.num_contexts(); ++i) {
      COOPER_ASSERT_OK(parameters.Allocate(kind, name, i, spec));
      if (kind != kArg) continue;
      COOPER_ASSERT_OK(parameters.AllocateGrad(name, i));
    }
  }
  absl::Status Install(const char* kvstore) {
    auto optimizer = CreateOptimizer("sgd", {{"learning_rate", "1"}, {"momentum", "0.5"}}, nullptr);
    if (!optimizer.ok()) return optimizer.status();
    std::shared_ptr<KVStore> shared;
    if (kvstore != nullptr) shared = *CreateKVStore(kvstore);
    return learner.InstallOptimizer(*std::move(optimizer), shared, {});
  }
  std::vector<float> Values(const std::string& name, int i = 0) const {
    return Floats(parameters.Value(kArg, name, i));
  }

  Parameters parameters;
  Learner learner;
};

NDArray Filled(const Shape& shape, double value) { return *NDArray::Full(shape, value); }

TEST(LearnerTest, UpdatesSumOverContextsWithAStoreAlone) {
  for (const char* kvstore : {"local", static_cast<const char*>(nullptr)}) {
    SCOPED_TRACE(kvstore == nullptr ? "none" : kvstore);
    Learned learned(kTwo);
    learned.Allocate(kArg, "w_weight", {.shape = {2}});
    COOPER_ASSERT_OK(learned.parameters.Init({.initializer = init::Constant(10)}));
    EXPECT_EQ(learned.learner.updater(), nullptr);
    COOPER_ASSERT_OK(learned.Install(kvstore));
    ASSERT_NE(learned.learner.updater(), nullptr);
    EXPECT_EQ(learned.learner.kvstore() != nullptr, kvstore != nullptr);
    COOPER_ASSERT_OK(learned.parameters.Grad("w_weight", 0).Fill(1));
    COOPER_ASSERT_OK(learned.parameters.Grad("w_weight", 1).Fill(2));
    COOPER_ASSERT_OK(learned.learner.Update({"w_weight"}));
    const float first = kvstore == nullptr ? 9 : 7;
    const float second = kvstore == nullptr ? 8 : 7;
    EXPECT_THAT(learned.Values("w_weight", 0), Each(first));
    EXPECT_THAT(learned.Values("w_weight", 1), Each(second));
    EXPECT_THAT(Floats(*learned.parameters.Mean(kArg, "w_weight")), Each((first + second) / 2));
  }
}

// An update writes a 16-bit weight from its master copy, and DCASGD compares the weight with the
// previous one: setting a value must update both.
TEST(LearnerTest, ValuesThatAreSetReachTheOptimizersStates) {
  for (const char* optimizer : {"sgd", "dcasgd"}) {
    for (const auto& [kvstore, update_on_kvstore] :
         {std::pair(false, false), {true, false}, {true, true}}) {
      SCOPED_TRACE(testing::Message() << optimizer << kvstore << update_on_kvstore);
      Learned learned(kTwo);
      learned.Allocate(kArg, "w_weight", {.shape = {2}, .dtype = DType::kFloat16});
      COOPER_ASSERT_OK(learned.parameters.Init({.initializer = init::Constant(1)}));
      COOPER_ASSERT_OK(learned.learner.InstallOptimizer(
          *CreateOptimizer(optimizer, {{"learning_rate", "1"}, {"multi_precision", "True"}}),
          kvstore ? std::shared_ptr<KVStore>(*CreateKVStore("local")) : nullptr,
          {.update_on_kvstore = update_on_kvstore}));
      const auto step = [&learned] {
        for (int i : {0, 1}) COOPER_ASSERT_OK(learned.parameters.Grad("w_weight", i).Fill(0.5));
        COOPER_ASSERT_OK(learned.learner.Update({"w_weight"}));
      };
      const float change = kvstore ? -1 : -0.5;  // summed gradients, or not
      step();
      COOPER_ASSERT_OK(learned.parameters.Set({{"w_weight", Filled({2}, 10)}}, {}, {}));
      step();
      EXPECT_THAT(learned.Values("w_weight", 1), Each(10 + change)) << "SetParams";
      COOPER_ASSERT_OK(
          learned.parameters.Set({{"w_weight", Filled({2}, 20)}}, {}, {.allow_missing = true}));
      step();
      EXPECT_THAT(learned.Values("w_weight", 1), Each(20 + change)) << "with allow_missing";
      COOPER_ASSERT_OK(
          learned.parameters.Init({.initializer = init::Constant(30), .force_init = true}));
      step();
      EXPECT_THAT(learned.Values("w_weight", 1), Each(30 + change)) << "InitParams";
    }
  }
}

// Two modules of a group may each update from the same backward pass.
TEST(LearnerTest, ACountDividesAllUpdatesUntilTheNextCount) {
  Learned learned({Context::Cpu()});
  learned.Allocate(kArg, "a_weight", {.shape = {1}});
  learned.Allocate(kArg, "b_weight", {.shape = {1}});
  COOPER_ASSERT_OK(learned.parameters.Init({.initializer = init::Constant(10)}));
  const std::shared_ptr<Optimizer> sgd = *CreateOptimizer("sgd", {{"learning_rate", "1"}});
  const InitOptimizerOptions by_samples{.normalization = GradientNormalization::kSamples};
  COOPER_ASSERT_OK(learned.learner.InstallOptimizer(sgd, nullptr, by_samples));
  COOPER_ASSERT_OK(learned.parameters.Grad("a_weight").Fill(4));
  COOPER_ASSERT_OK(learned.parameters.Grad("b_weight").Fill(8));
  learned.learner.gradient_record().Count(3, /*add=*/true);
  learned.learner.gradient_record().Count(1, /*add=*/true);
  COOPER_ASSERT_OK(learned.learner.Update({"a_weight"}));
  COOPER_ASSERT_OK(learned.learner.Update({"b_weight"}));
  EXPECT_THAT(learned.Values("a_weight"), Each(9.0f));
  EXPECT_THAT(learned.Values("b_weight"), Each(8.0f));
  // The scale applies to one update only: neither the optimizer nor another learner that gets it
  // keeps the scale.
  EXPECT_EQ(sgd->rescale_grad(), 1);
  COOPER_ASSERT_OK(learned.learner.InstallOptimizer(sgd, nullptr, by_samples));
  learned.learner.gradient_record().Count(2, /*add=*/true);
  COOPER_ASSERT_OK(learned.learner.Update({"a_weight"}));
  EXPECT_THAT(learned.Values("a_weight"), Each(7.0f))
      << "what was learnt before is not counted again";
}

TEST(LearnerTest, AFailedUpdateLeavesItsGradientsPending) {
  Learned learned({Context::Cpu()});
  learned.Allocate(kArg, "w_weight", {.shape = {1}});
  COOPER_ASSERT_OK(learned.parameters.Init({.initializer = init::Constant(10)}));
  const auto scheduler = std::make_shared<SetRateScheduler>();
  COOPER_ASSERT_OK(
      learned.learner.InstallOptimizer(*CreateOptimizer("sgd", {}, scheduler), nullptr,
                                       {.normalization = GradientNormalization::kSamples}));
  COOPER_ASSERT_OK(learned.parameters.Grad("w_weight").Fill(8));
  learned.learner.gradient_record().Accumulate("w_weight");
  learned.learner.gradient_record().Count(3, /*add=*/true);
  EXPECT_THAT(learned.learner.Update({"w_weight"}),
              StatusIs(kInvalidArgument, HasSubstr("the learning rate is nan")));
  EXPECT_THAT(learned.learner.gradient_record().SharedExcept({}), ElementsAre("w_weight"));
  scheduler->rate = 1;
  int64_t name = 0;
  COOPER_ASSERT_OK_AND_ASSIGN(const bool prepared,
                              learned.learner.PrepareUpdate({"w_weight"}, &name));
  ASSERT_TRUE(prepared);
  learned.learner.ReleasePreparedUpdate();
  EXPECT_THAT(learned.learner.gradient_record().SharedExcept({}), ElementsAre("w_weight"));
  learned.learner.gradient_record().Count(1, /*add=*/true);
  COOPER_ASSERT_OK(learned.learner.Update({"w_weight"}));
  EXPECT_THAT(learned.Values("w_weight"), Each(8.0f)) << "8 / (3 + 1) less";
  EXPECT_THAT(learned.learner.gradient_record().SharedExcept({}), IsEmpty());
}

TEST(LearnerTest, AnOptimizerThatFailsLeavesTheOneBefore) {
  Learned learned({Context::Cpu()});
  learned.Allocate(kArg, "w_weight", {.shape = {2}});
  COOPER_ASSERT_OK(learned.parameters.Init({}));
  COOPER_ASSERT_OK(learned.Install(nullptr));
  const auto before = learned.learner.updater();
  learned.learner.LoadOptimizerStatesLater(testing::TempDir() + "/no_such.states");
  EXPECT_FALSE(learned.Install("device").ok());
  EXPECT_EQ(learned.learner.updater(), before);
  EXPECT_EQ(learned.learner.kvstore(), nullptr);
}

TEST(LearnerTest, SumsArePendingUntilTheyAreApplied) {
  Learned learned({Context::Cpu()});
  learned.Allocate(kArg, "a", {.shape = {1}});
  for (const char* name : {"c", "a", "b"}) learned.learner.gradient_record().Accumulate(name);
  EXPECT_THAT(learned.learner.gradient_record().SharedExcept({"b"}), ElementsAre("a", "c"));
  EXPECT_THAT(learned.learner.gradient_record().SharedExcept({}), ElementsAre("a", "b", "c"));
  learned.learner.MarkApplied({"c", "b"});
  EXPECT_THAT(learned.learner.gradient_record().SharedExcept({}), ElementsAre("a"));
  COOPER_ASSERT_OK(learned.parameters.Grad("a").Fill(3));
  COOPER_ASSERT_OK(learned.learner.ZeroGrads());
  EXPECT_THAT(Floats(learned.parameters.Grad("a")), Each(0.0f));
  EXPECT_THAT(learned.learner.gradient_record().SharedExcept({}), IsEmpty());
}

// The state captured on two contexts with different values is restored, even if an array is
// allocated later.
TEST(LearnerTest, ACapturedStateIsRestored) {
  const auto make = [](double value) {
    auto learned = std::make_unique<Learned>(kTwo);
    learned->Allocate(kArg, "w_weight", {.shape = {2}});
    COOPER_EXPECT_OK(learned->parameters.Init({.initializer = init::Constant(value)}));
    COOPER_EXPECT_OK(learned->Install(nullptr));
    return learned;
  };
  const auto whole = make(1);
  whole->Allocate(kArg, "v_weight", {.shape = {1}});
  whole->Allocate(kAux, "v_max", {.shape = {1}});
  whole->Allocate(kState, "h", {.shape = {2}});
  COOPER_ASSERT_OK(whole->parameters.Complete({"v_weight"}, {"v_max"}, {}));
  COOPER_ASSERT_OK(whole->parameters.Value(kAux, "v_max", 1).Fill(6));
  COOPER_ASSERT_OK(whole->parameters.Value(kState, "h", 0).Fill(4));
  const auto step = [](Learned& learned) {
    for (const char* name : {"w_weight", "v_weight"}) {
      COOPER_ASSERT_OK(learned.parameters.Grad(name, 0).Fill(1));
      COOPER_ASSERT_OK(learned.parameters.Grad(name, 1).Fill(2));
    }
    COOPER_ASSERT_OK(learned.learner.Update({"w_weight", "v_weight"}));
  };
  step(*whole);
  COOPER_ASSERT_OK_AND_ASSIGN(const SavedParameters state, whole->learner.Capture());

  const auto resumed = make(0);
  COOPER_ASSERT_OK(resumed->parameters.CheckHasAll(state));
  COOPER_ASSERT_OK(resumed->parameters.Init({.arg_params = state.args,
                                             .aux_params = state.auxs,
                                             .allow_missing = true,
                                             .force_init = true}));
  COOPER_ASSERT_OK(resumed->learner.Restore(state));
  // Waiting values are captured too.
  COOPER_ASSERT_OK_AND_ASSIGN(const SavedParameters waiting, resumed->learner.Capture());
  EXPECT_EQ(waiting.args.size(), state.args.size());
  EXPECT_THAT(Floats(waiting.states.at("h")), Each(4.0f));
  EXPECT_THAT(Floats(waiting.replicas.at(1).auxs.at("v_max")), Each(6.0f));

  resumed->Allocate(kArg, "v_weight", {.shape = {1}});
  resumed->Allocate(kAux, "v_max", {.shape = {1}});
  resumed->Allocate(kState, "h", {.shape = {2}});
  COOPER_ASSERT_OK(resumed->parameters.Complete({"v_weight"}, {"v_max"}, {}));
  step(*whole);
  step(*resumed);
  for (int i : {0, 1}) {
    for (const char* name : {"w_weight", "v_weight"}) {
      EXPECT_EQ(resumed->Values(name, i), whole->Values(name, i)) << name << " on " << i;
    }
    EXPECT_EQ(Floats(resumed->parameters.Value(kAux, "v_max", i)),
              Floats(whole->parameters.Value(kAux, "v_max", i)));
    EXPECT_EQ(Floats(resumed->parameters.Value(kState, "h", i)),
              Floats(whole->parameters.Value(kState, "h", i)));
  }

  Learned one({Context::Cpu()});
  EXPECT_THAT(one.learner.Restore(state), StatusIs(kInvalidArgument, HasSubstr("more contexts")));
  one.Allocate(kArg, "other", {.shape = {1}});
  EXPECT_THAT(one.parameters.CheckHasAll(state), StatusIs(kInvalidArgument, HasSubstr("'other'")));
}

}  // namespace
}  // namespace cooper
