#include "module/parameters/parameter_store.h"

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
constexpr auto kFailedPrecondition = absl::StatusCode::kFailedPrecondition;

const std::vector<Context> kTwo = {Context::Cpu(0), Context::Cpu(1)};

void AllocateAll(ParameterStore& store, ParameterKind kind, const std::string& name,
                 const Shape& shape) {
  for (int i = 0; i < store.num_contexts(); ++i) {
    COOPER_ASSERT_OK(store.Allocate(kind, name, i, {.shape = shape}));
    if (kind != kArg) continue;
    COOPER_ASSERT_OK(store.AllocateGrad(name, i));
  }
}

NDArray Filled(const Shape& shape, double value) { return *NDArray::Full(shape, value); }

std::vector<float> Values(const ParameterStore& store, const std::string& name, int i = 0) {
  return Floats(store.Value(kArg, name, i));
}

absl::Status Install(ParameterStore& store, const char* kvstore) {
  auto optimizer = CreateOptimizer("sgd", {{"learning_rate", "1"}, {"momentum", "0.5"}}, nullptr);
  if (!optimizer.ok()) return optimizer.status();
  std::shared_ptr<KVStore> shared;
  if (kvstore != nullptr) shared = *CreateKVStore(kvstore);
  return store.InstallOptimizer(*std::move(optimizer), shared, {});
}

TEST(ParameterStoreTest, ArraysAreMadeOnceAndFoundByName) {
  ParameterStore store(kTwo);
  EXPECT_TRUE(store.Value(kArg, "w").is_null());
  EXPECT_TRUE(store.Grad("w").is_null());
  COOPER_ASSERT_OK(store.Allocate(kArg, "w", 0, {.shape = {2, 3}}));
  COOPER_ASSERT_OK(store.Allocate(kArg, "w", 1, {.shape = {2, 3}, .context = Context::Cpu(1)}));
  const NDArray first = store.Value(kArg, "w", 0);
  EXPECT_THAT(Floats(first), Each(0.0f));
  EXPECT_EQ(store.Value(kArg, "w", 1).context(), Context::Cpu(1));
  EXPECT_NE(store.Value(kArg, "w", 1).raw_data(), first.raw_data());
  EXPECT_TRUE(store.Grad("w").is_null()) << "a fixed parameter has none";
  COOPER_ASSERT_OK(store.AllocateGrad("w", 0));
  EXPECT_EQ(store.Grad("w").shape(), Shape({2, 3}));
  // A second call changes nothing, whatever the shape.
  COOPER_ASSERT_OK(store.Allocate(kArg, "w", 0, {.shape = {7}}));
  EXPECT_EQ(store.Value(kArg, "w").raw_data(), first.raw_data());
  AllocateAll(store, kArg, "b", {3});
  AllocateAll(store, kAux, "w", {5});
  EXPECT_THAT(store.Names(kArg), ElementsAre("b", "w"));
  EXPECT_THAT(store.Names(kAux), ElementsAre("w"));
  EXPECT_EQ(store.num_elements(), 9);
}

TEST(ParameterStoreTest, InitFillsAndChecksBeforeItWrites) {
  ParameterStore store(kTwo);
  AllocateAll(store, kArg, "a_weight", {2});
  AllocateAll(store, kArg, "b_weight", {3});
  const InitParamsOptions missing{.arg_params = ArrayMap{{"a_weight", Filled({2}, 7)}}};
  EXPECT_THAT(store.Init(missing), StatusIs(kInvalidArgument, HasSubstr("'b_weight'")));
  const InitParamsOptions wrong{
      .arg_params = ArrayMap{{"a_weight", Filled({2}, 7)}, {"b_weight", Filled({4}, 7)}}};
  EXPECT_THAT(store.Init(wrong), StatusIs(kInvalidArgument, HasSubstr("'b_weight' is given with")));
  EXPECT_FALSE(store.initialized());
  EXPECT_THAT(Values(store, "a_weight"), Each(0.0f)) << "nothing is changed";

  InitParamsOptions some = missing;
  some.allow_missing = true;
  some.initializer = init::Constant(3);
  COOPER_ASSERT_OK(store.Init(some));
  EXPECT_TRUE(store.initialized());
  for (int i : {0, 1}) {
    EXPECT_THAT(Values(store, "a_weight", i), Each(7.0f));
    EXPECT_THAT(Values(store, "b_weight", i), Each(3.0f));
  }
  COOPER_ASSERT_OK(store.Init({.initializer = init::Constant(4)}));
  EXPECT_THAT(Values(store, "b_weight"), Each(3.0f)) << "without force_init it stays";
}

TEST(ParameterStoreTest, GivenValuesWaitForTheirNetwork) {
  ParameterStore store(kTwo);
  AllocateAll(store, kArg, "a_weight", {2});
  NDArray later = Filled({3}, 5);
  COOPER_ASSERT_OK(
      store.Init({.initializer = nullptr,
                  .arg_params = ArrayMap{{"a_weight", Filled({2}, 7)}, {"b_weight", later}}}));
  COOPER_ASSERT_OK(later.Fill(0));  // the caller's own array
  EXPECT_TRUE(store.waiting(kArg).contains("b_weight"));

  AllocateAll(store, kArg, "b_weight", {3});
  COOPER_ASSERT_OK(store.Complete({"a_weight", "b_weight"}, {}, {}));
  EXPECT_THAT(Values(store, "b_weight", 1), Each(5.0f));
  EXPECT_THAT(store.waiting(kArg), IsEmpty());
  COOPER_ASSERT_OK(store.Value(kArg, "b_weight").Fill(1));
  COOPER_ASSERT_OK(store.Complete({"b_weight"}, {}, {}));
  EXPECT_THAT(Values(store, "b_weight"), Each(1.0f)) << "it is not new any more";

  AllocateAll(store, kArg, "c_weight", {1});
  EXPECT_THAT(store.Complete({"c_weight"}, {}, {}),
              StatusIs(kFailedPrecondition, HasSubstr("parameter 'c_weight' has no value")));
}

TEST(ParameterStoreTest, WhatFailsIsUndone) {
  ParameterStore store(kTwo);
  AllocateAll(store, kArg, "a_weight", {2});
  COOPER_ASSERT_OK(store.Init(
      {.initializer = nullptr,
       .arg_params = ArrayMap{{"a_weight", Filled({2}, 7)}, {"b_weight", Filled({3}, 5)}}}));
  {
    ParameterStore::Rollback rollback(store);
    AllocateAll(store, kArg, "b_weight", {3});
    AllocateAll(store, kArg, "c_weight", {3});
    EXPECT_FALSE(store.Complete({"b_weight"}, {}, {}).ok() &&
                 store.Complete({"c_weight"}, {}, {}).ok());
  }
  EXPECT_THAT(store.Names(kArg), ElementsAre("a_weight"));
  EXPECT_TRUE(store.waiting(kArg).contains("b_weight")) << "it waits again";
  {
    ParameterStore::Rollback rollback(store);
    AllocateAll(store, kArg, "b_weight", {3});
    COOPER_ASSERT_OK(store.Complete({"b_weight"}, {}, {}));
    rollback.Commit();
  }
  EXPECT_THAT(Values(store, "b_weight"), Each(5.0f));
}

TEST(ParameterStoreTest, ArraysWithoutValuesMayGetOtherShapes) {
  ParameterStore store({Context::Cpu()});
  AllocateAll(store, kArg, "a_weight", {2});
  store.DropUninitialized({"a_weight", "unknown"}, {});
  EXPECT_THAT(store.Names(kArg), IsEmpty());
  AllocateAll(store, kArg, "a_weight", {3});
  COOPER_ASSERT_OK(store.Init({}));
  store.DropUninitialized({"a_weight"}, {});
  EXPECT_EQ(store.Value(kArg, "a_weight").shape(), Shape({3}));
}

TEST(ParameterStoreTest, LoadedValuesAreTakenOnce) {
  ParameterStore store({Context::Cpu()});
  COOPER_ASSERT_OK(store.ApplyLoaded());
  store.Load({.args = {{"a_weight", Filled({2}, 7)}}, .auxs = {}});
  AllocateAll(store, kArg, "a_weight", {3});
  EXPECT_THAT(store.ApplyLoaded(), StatusIs(kInvalidArgument, HasSubstr("'a_weight'")));
  store.DropArrays();
  AllocateAll(store, kArg, "a_weight", {2});
  COOPER_ASSERT_OK(store.ApplyLoaded());
  EXPECT_THAT(Values(store, "a_weight"), Each(7.0f));
  COOPER_ASSERT_OK(store.Value(kArg, "a_weight").Fill(1));
  COOPER_ASSERT_OK(store.ApplyLoaded());
  EXPECT_THAT(Values(store, "a_weight"), Each(1.0f));
}

TEST(ParameterStoreTest, UpdatesSumOverContextsWithAStoreAlone) {
  for (const char* kvstore : {"local", static_cast<const char*>(nullptr)}) {
    SCOPED_TRACE(kvstore == nullptr ? "none" : kvstore);
    ParameterStore store(kTwo);
    AllocateAll(store, kArg, "w_weight", {2});
    COOPER_ASSERT_OK(store.Init({.initializer = init::Constant(10)}));
    EXPECT_EQ(store.updater(), nullptr);
    COOPER_ASSERT_OK(Install(store, kvstore));
    ASSERT_NE(store.updater(), nullptr);
    EXPECT_EQ(store.kvstore() != nullptr, kvstore != nullptr);
    COOPER_ASSERT_OK(store.Grad("w_weight", 0).Fill(1));
    COOPER_ASSERT_OK(store.Grad("w_weight", 1).Fill(2));
    COOPER_ASSERT_OK(store.Update({"w_weight"}));
    const float first = kvstore == nullptr ? 9 : 7;
    const float second = kvstore == nullptr ? 8 : 7;
    EXPECT_THAT(Values(store, "w_weight", 0), Each(first));
    EXPECT_THAT(Values(store, "w_weight", 1), Each(second));
    EXPECT_THAT(Floats(*store.Mean(kArg, "w_weight")), Each((first + second) / 2));
  }
}

// An update writes a 16-bit weight from its master copy, and DCASGD compares the weight with the
// previous one: setting a value must update both.
TEST(ParameterStoreTest, ContextsShareLargeArraysThatNoKernelWrites) {
  ParameterStore store(kTwo);
  const Shape large({16384});
  AllocateAll(store, kArg, "read_weight", large);
  AllocateAll(store, kArg, "late_weight", large);
  for (int i : {0, 1}) {
    COOPER_ASSERT_OK(
        store.Allocate(kArg, "written_weight", i, {.shape = large, .is_written = true}));
    COOPER_ASSERT_OK(store.AllocateGrad("written_weight", i));
  }
  COOPER_ASSERT_OK(store.Init({.initializer = init::Constant(2)}));
  COOPER_ASSERT_OK(Install(store, "local"));
  const auto is_shared = [&](const std::string& name) {
    return store.Value(kArg, name, 0).raw_data() == store.Value(kArg, name, 1).raw_data();
  };
  EXPECT_TRUE(is_shared("read_weight"));
  EXPECT_FALSE(is_shared("written_weight"));
  ASSERT_TRUE(is_shared("late_weight"));
  const int64_t generation = store.generation();
  COOPER_ASSERT_OK(store.Allocate(kArg, "late_weight", 1, {.shape = large, .is_written = true}));
  EXPECT_FALSE(is_shared("late_weight")) << "another bucket's network writes it";
  EXPECT_GT(store.generation(), generation);
  EXPECT_EQ(Values(store, "late_weight", 1), Values(store, "late_weight", 0));
}

TEST(ParameterStoreTest, ValuesThatAreSetReachTheOptimizersStates) {
  for (const char* optimizer : {"sgd", "dcasgd"}) {
    for (const auto& [kvstore, update_on_kvstore] :
         {std::pair(false, false), {true, false}, {true, true}}) {
      SCOPED_TRACE(testing::Message() << optimizer << kvstore << update_on_kvstore);
      ParameterStore store(kTwo);
      for (int i : {0, 1}) {
        COOPER_ASSERT_OK(
            store.Allocate(kArg, "w_weight", i, {.shape = {2}, .dtype = DType::kFloat16}));
        COOPER_ASSERT_OK(store.AllocateGrad("w_weight", i));
      }
      COOPER_ASSERT_OK(store.Init({.initializer = init::Constant(1)}));
      COOPER_ASSERT_OK(store.InstallOptimizer(
          *CreateOptimizer(optimizer, {{"learning_rate", "1"}, {"multi_precision", "True"}}),
          kvstore ? std::shared_ptr<KVStore>(*CreateKVStore("local")) : nullptr,
          {.update_on_kvstore = update_on_kvstore}));
      const auto step = [&store] {
        for (int i : {0, 1}) COOPER_ASSERT_OK(store.Grad("w_weight", i).Fill(0.5));
        COOPER_ASSERT_OK(store.Update({"w_weight"}));
      };
      const float change = kvstore ? -1 : -0.5;  // summed gradients, or not
      step();
      COOPER_ASSERT_OK(store.Set({{"w_weight", Filled({2}, 10)}}, {}, {}));
      step();
      EXPECT_THAT(Values(store, "w_weight", 1), Each(10 + change)) << "SetParams";
      COOPER_ASSERT_OK(store.Set({{"w_weight", Filled({2}, 20)}}, {}, {.allow_missing = true}));
      step();
      EXPECT_THAT(Values(store, "w_weight", 1), Each(20 + change)) << "with allow_missing";
      COOPER_ASSERT_OK(store.Init({.initializer = init::Constant(30), .force_init = true}));
      step();
      EXPECT_THAT(Values(store, "w_weight", 1), Each(30 + change)) << "InitParams";
    }
  }
}

// Two modules of a group may each update from the same backward pass.
TEST(ParameterStoreTest, WhatWasCountedIsThatOfAllUpdatesUntilMoreIs) {
  ParameterStore store({Context::Cpu()});
  AllocateAll(store, kArg, "a_weight", {1});
  AllocateAll(store, kArg, "b_weight", {1});
  COOPER_ASSERT_OK(store.Init({.initializer = init::Constant(10)}));
  const std::shared_ptr<Optimizer> sgd = *CreateOptimizer("sgd", {{"learning_rate", "1"}});
  const InitOptimizerOptions by_samples{.normalization = GradientNormalization::kSamples};
  COOPER_ASSERT_OK(store.InstallOptimizer(sgd, nullptr, by_samples));
  COOPER_ASSERT_OK(store.Grad("a_weight").Fill(4));
  COOPER_ASSERT_OK(store.Grad("b_weight").Fill(8));
  store.gradient_record().Count(3, /*add=*/true);
  store.gradient_record().Count(1, /*add=*/true);
  COOPER_ASSERT_OK(store.Update({"a_weight"}));
  COOPER_ASSERT_OK(store.Update({"b_weight"}));
  EXPECT_THAT(Values(store, "a_weight"), Each(9.0f));
  EXPECT_THAT(Values(store, "b_weight"), Each(8.0f));
  // The scale applies to one update only: neither the optimizer nor another store that gets it
  // keeps the scale.
  EXPECT_EQ(sgd->rescale_grad(), 1);
  COOPER_ASSERT_OK(store.InstallOptimizer(sgd, nullptr, by_samples));
  store.gradient_record().Count(2, /*add=*/true);
  COOPER_ASSERT_OK(store.Update({"a_weight"}));
  EXPECT_THAT(Values(store, "a_weight"), Each(7.0f))
      << "what was learnt before is not counted again";
}

TEST(ParameterStoreTest, WhatAFailedUpdateWasOfIsStillToBeLearnt) {
  ParameterStore store({Context::Cpu()});
  AllocateAll(store, kArg, "w_weight", {1});
  COOPER_ASSERT_OK(store.Init({.initializer = init::Constant(10)}));
  const auto scheduler = std::make_shared<SetRateScheduler>();
  COOPER_ASSERT_OK(store.InstallOptimizer(*CreateOptimizer("sgd", {}, scheduler), nullptr,
                                          {.normalization = GradientNormalization::kSamples}));
  COOPER_ASSERT_OK(store.Grad("w_weight").Fill(8));
  store.gradient_record().Accumulate("w_weight");
  store.gradient_record().Count(3, /*add=*/true);
  EXPECT_THAT(store.Update({"w_weight"}),
              StatusIs(kInvalidArgument, HasSubstr("the learning rate is nan")));
  EXPECT_THAT(store.gradient_record().SharedExcept({}), ElementsAre("w_weight"));
  scheduler->rate = 1;
  int64_t name = 0;
  COOPER_ASSERT_OK_AND_ASSIGN(const bool prepared, store.PrepareUpdate({"w_weight"}, &name));
  ASSERT_TRUE(prepared);
  store.ReleasePreparedUpdate();
  EXPECT_THAT(store.gradient_record().SharedExcept({}), ElementsAre("w_weight"));
  store.gradient_record().Count(1, /*add=*/true);
  COOPER_ASSERT_OK(store.Update({"w_weight"}));
  EXPECT_THAT(Values(store, "w_weight"), Each(8.0f)) << "8 / (3 + 1) less";
  EXPECT_THAT(store.gradient_record().SharedExcept({}), IsEmpty());
}

TEST(ParameterStoreTest, AnOptimizerThatFailsLeavesTheOneBefore) {
  ParameterStore store({Context::Cpu()});
  AllocateAll(store, kArg, "w_weight", {2});
  COOPER_ASSERT_OK(store.Init({}));
  COOPER_ASSERT_OK(Install(store, nullptr));
  const auto before = store.updater();
  store.LoadOptimizerStatesLater(testing::TempDir() + "/no_such.states");
  EXPECT_FALSE(Install(store, "device").ok());
  EXPECT_EQ(store.updater(), before);
  EXPECT_EQ(store.kvstore(), nullptr);
}

TEST(ParameterStoreTest, GradientsThatWereAddedToAreToldUntilTheyAreLearnt) {
  ParameterStore store({Context::Cpu()});
  AllocateAll(store, kArg, "a", {1});
  for (const char* name : {"c", "a", "b"}) store.gradient_record().Accumulate(name);
  EXPECT_THAT(store.gradient_record().SharedExcept({"b"}), ElementsAre("a", "c"));
  EXPECT_THAT(store.gradient_record().SharedExcept({}), ElementsAre("a", "b", "c"));
  store.MarkApplied({"c", "b"});
  EXPECT_THAT(store.gradient_record().SharedExcept({}), ElementsAre("a"));
  COOPER_ASSERT_OK(store.Grad("a").Fill(3));
  COOPER_ASSERT_OK(store.ZeroGrads());
  EXPECT_THAT(Floats(store.Grad("a")), Each(0.0f));
  EXPECT_THAT(store.gradient_record().SharedExcept({}), IsEmpty());
}

// The state captured on two contexts with different values is restored, even if an array is
// allocated later.
TEST(ParameterStoreTest, ACapturedStoreIsRestored) {
  const auto make = [](double value) {
    auto store = std::make_unique<ParameterStore>(kTwo);
    AllocateAll(*store, kArg, "w_weight", {2});
    COOPER_EXPECT_OK(store->Init({.initializer = init::Constant(value)}));
    COOPER_EXPECT_OK(Install(*store, nullptr));
    return store;
  };
  const auto whole = make(1);
  AllocateAll(*whole, kArg, "v_weight", {1});
  AllocateAll(*whole, kAux, "v_max", {1});
  AllocateAll(*whole, kState, "h", {2});
  COOPER_ASSERT_OK(whole->Complete({"v_weight"}, {"v_max"}, {}));
  COOPER_ASSERT_OK(whole->Value(kAux, "v_max", 1).Fill(6));
  COOPER_ASSERT_OK(whole->Value(kState, "h", 0).Fill(4));
  const auto step = [](ParameterStore& store) {
    for (const char* name : {"w_weight", "v_weight"}) {
      COOPER_ASSERT_OK(store.Grad(name, 0).Fill(1));
      COOPER_ASSERT_OK(store.Grad(name, 1).Fill(2));
    }
    COOPER_ASSERT_OK(store.Update({"w_weight", "v_weight"}));
  };
  step(*whole);
  COOPER_ASSERT_OK_AND_ASSIGN(const SavedParameters state, whole->Capture());

  const auto resumed = make(0);
  COOPER_ASSERT_OK(resumed->CheckHasAll(state));
  COOPER_ASSERT_OK(resumed->Init({.arg_params = state.args,
                                  .aux_params = state.auxs,
                                  .allow_missing = true,
                                  .force_init = true}));
  COOPER_ASSERT_OK(resumed->Restore(state));
  // Waiting values are captured too.
  COOPER_ASSERT_OK_AND_ASSIGN(const SavedParameters waiting, resumed->Capture());
  EXPECT_EQ(waiting.args.size(), state.args.size());
  EXPECT_THAT(Floats(waiting.states.at("h")), Each(4.0f));
  EXPECT_THAT(Floats(waiting.replicas.at(1).auxs.at("v_max")), Each(6.0f));

  AllocateAll(*resumed, kArg, "v_weight", {1});
  AllocateAll(*resumed, kAux, "v_max", {1});
  AllocateAll(*resumed, kState, "h", {2});
  COOPER_ASSERT_OK(resumed->Complete({"v_weight"}, {"v_max"}, {}));
  step(*whole);
  step(*resumed);
  for (int i : {0, 1}) {
    for (const char* name : {"w_weight", "v_weight"}) {
      EXPECT_EQ(Values(*resumed, name, i), Values(*whole, name, i)) << name << " on " << i;
    }
    EXPECT_EQ(Floats(resumed->Value(kAux, "v_max", i)), Floats(whole->Value(kAux, "v_max", i)));
    EXPECT_EQ(Floats(resumed->Value(kState, "h", i)), Floats(whole->Value(kState, "h", i)));
  }

  ParameterStore one({Context::Cpu()});
  EXPECT_THAT(one.Restore(state), StatusIs(kInvalidArgument, HasSubstr("more contexts")));
  AllocateAll(one, kArg, "other", {1});
  EXPECT_THAT(one.CheckHasAll(state), StatusIs(kInvalidArgument, HasSubstr("'other'")));
}

}  // namespace
}  // namespace cooper
