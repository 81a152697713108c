// Tests BucketingModule: keys of every kind, what buckets share, and errors that name the bucket.
// tests/bucketing has the tests of memory and allocations.

#include "module/bucketing/bucketing_module.h"

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "module/initializer/initializers.h"
#include "module/lr_scheduler/set_rate_scheduler.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/files/params_file.h"
#include "tests/module/expect_params.h"
#include "tests/module/module_fixtures.h"

namespace cooper {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr auto kFailedPrecondition = absl::StatusCode::kFailedPrecondition;
constexpr auto kInvalidArgument = absl::StatusCode::kInvalidArgument;
constexpr int64_t kRows = 4;

std::vector<DataDesc> DataOf(int64_t length) {
  return {{.name = "data", .shape = {kRows, length, 3}, .layout = "NTC"}};
}
std::vector<DataDesc> Labels() {
  return {{.name = "softmax_label", .shape = {kRows}, .layout = "N"}};
}

// A batch whose rows are equal in every time step, so that all lengths have the same mean.
DataBatch ConstantBatch(const BucketKey& key, int64_t length, uint64_t seed) {
  const std::vector<float> step = Floats(RandomArray({kRows, 3}, seed));
  std::vector<float> values;
  for (int64_t row = 0; row < kRows; ++row) {
    for (int64_t t = 0; t < length; ++t) {
      values.insert(values.end(), step.begin() + row * 3, step.begin() + (row + 1) * 3);
    }
  }
  return {.data = {*NDArray::FromVector<float>({kRows, length, 3}, values)},
          .label = {Classes(kRows, 2, seed)},
          .bucket_key = key,
          .provide_data = DataOf(length),
          .provide_label = Labels()};
}

absl::StatusOr<BucketSymbol> Mean(const BucketKey&) {
  return BucketSymbol{.symbol = MeanOverTime()};
}

// Returns a module bound to four steps under the default key, with parameters and sgd with
// momentum.
std::unique_ptr<BucketingModule> MakeModel(BucketingModuleOptions options) {
  auto model = BucketingModule::Create(std::move(options));
  EXPECT_TRUE(model.ok()) << model.status();
  COOPER_EXPECT_OK((*model)->Bind({.data_shapes = DataOf(4), .label_shapes = Labels()}));
  COOPER_EXPECT_OK((*model)->InitParams({.initializer = init::Uniform(1), .seed = 3}));
  COOPER_EXPECT_OK((*model)->InitOptimizer(
      {.optimizer_params = {{"learning_rate", "0.5"}, {"momentum", "0.9"}}}));
  return *std::move(model);
}

void Step(BaseModule& model, const DataBatch& batch) {
  COOPER_ASSERT_OK(model.ForwardBackward(batch));
  COOPER_ASSERT_OK(model.Update());
}

TEST(BucketingModuleTest, ACallThatComesTooEarlyNamesTheMissingOne) {
  EXPECT_THAT(BucketingModule::Create({.default_bucket_key = 4}),
              StatusIs(kInvalidArgument, HasSubstr("sym_gen")));
  EXPECT_THAT(BucketingModule::Create({.sym_gen = Mean}),
              StatusIs(kInvalidArgument, HasSubstr("default_bucket_key")));
  COOPER_ASSERT_OK_AND_ASSIGN(auto model,
                              BucketingModule::Create({.sym_gen = Mean, .default_bucket_key = 4}));
  EXPECT_THAT(model->data_names(), ElementsAre("data"));
  EXPECT_THAT(model->output_names(), ElementsAre("softmax_output"));
  EXPECT_THAT(model->SwitchBucket(2, DataOf(2), Labels()),
              StatusIs(kFailedPrecondition, HasSubstr("call Bind first")));
  EXPECT_THAT(model->current_bucket_key(), StatusIs(kFailedPrecondition, HasSubstr("Bind")));
  for (const absl::Status& early :
       {model->AverageContexts(), model->CheckFinite(), model->CheckParamsFinite()}) {
    EXPECT_THAT(early, StatusIs(kFailedPrecondition, HasSubstr("call Bind first")));
  }
  COOPER_ASSERT_OK(model->Bind({.data_shapes = DataOf(4), .label_shapes = Labels()}));
  EXPECT_THAT(model->Forward(ConstantBatch(4, 4, 1)),
              StatusIs(kFailedPrecondition, HasSubstr("call InitParams first")));
  COOPER_ASSERT_OK(model->InitParams());
  EXPECT_THAT(model->Update(), StatusIs(kFailedPrecondition, HasSubstr("call InitOptimizer")));
}

TEST(BucketingModuleTest, KeysOfEveryKindTrainTheSameModel) {
  const std::vector<std::vector<BucketKey>> kinds = {
      {2, 4, 7}, {"short", "default", "long"}, {{2, 0}, {4, 1}, {7, -1}}};
  std::unique_ptr<BucketingModule> first;
  for (const std::vector<BucketKey>& keys : kinds) {
    std::vector<BucketKey> asked;
    auto model = MakeModel({.sym_gen =
                                [&asked](const BucketKey& key) {
                                  asked.push_back(key);
                                  return Mean(key);
                                },
                            .default_bucket_key = keys[1]});
    for (uint64_t step = 0; step < 6; ++step) {
      const size_t k = step % 3;
      const int64_t length = std::vector<int64_t>{2, 4, 7}[k];
      Step(*model, ConstantBatch(keys[k], length, step));
      EXPECT_EQ(*model->current_bucket_key(), keys[k]);
    }
    EXPECT_EQ(std::set<BucketKey>(asked.begin(), asked.end()).size(), 3u);
    EXPECT_EQ(asked.size(), 3u) << "each key is generated once";
    EXPECT_EQ(model->Report().size(), 3u);
    if (first == nullptr) {
      first = std::move(model);
    } else {
      ExpectSameParams(*first, *model);
    }
  }
}

TEST(BucketingModuleTest, MomentaFollowNamesNotPositions) {
  const auto train = [](const SymGen& sym_gen) {
    auto model = MakeModel({.sym_gen = sym_gen, .default_bucket_key = 4});
    for (uint64_t step = 0; step < 8; ++step) {
      const int64_t length = step % 2 == 0 ? 4 : 2;
      Step(*model, ConstantBatch(length, length, step));
    }
    return model;
  };
  const auto expected = train(Mean);
  const auto swapped = train([](const BucketKey& key) -> absl::StatusOr<BucketSymbol> {
    return BucketSymbol{.symbol = MeanOverTime(/*swapped=*/key == BucketKey(2))};
  });
  EXPECT_NE(MeanOverTime(false).ListArguments(), MeanOverTime(true).ListArguments());
  ExpectSameParams(*expected, *swapped);
}

// The bucket of length 2 has one more layer.
absl::StatusOr<BucketSymbol> DeeperAtTwo(const BucketKey& key) {
  if (key != BucketKey(2)) return Mean(key);
  const Symbol flat = Op("Flatten", {.inputs = {Symbol::Variable("data")}});
  const Symbol extra =
      Op("FullyConnected", {.name = "extra", .inputs = {flat}, .attrs = {{"num_hidden", "3"}}});
  const Symbol fc =
      Op("FullyConnected", {.name = "fc", .inputs = {extra}, .attrs = {{"num_hidden", "2"}}});
  return BucketSymbol{.symbol = Op("SoftmaxOutput", {.name = "softmax", .inputs = {fc}})};
}

TEST(BucketingModuleTest, ALaterBucketMayHaveParametersOfItsOwn) {
  auto model = MakeModel({.sym_gen = DeeperAtTwo, .default_bucket_key = 4});
  EXPECT_EQ((*model->GetParams()).args.size(), 4u);
  Step(*model, ConstantBatch(2, 2, 1));
  Step(*model, ConstantBatch(4, 4, 1));
  COOPER_ASSERT_OK_AND_ASSIGN(const ModuleParams params, model->GetParams());
  EXPECT_EQ(params.args.size(), 6u);
  EXPECT_NE(Floats(params.args.at("extra_weight")), std::vector<float>(18, 0.0f));
}

TEST(BucketingModuleTest, WhatAnotherBucketAddedIsLearntByTheUpdateThatSucceeds) {
  auto model = MakeModel({.sym_gen = DeeperAtTwo, .default_bucket_key = 4});
  COOPER_ASSERT_OK(model->Bind({.data_shapes = DataOf(4),
                                .label_shapes = Labels(),
                                .force_rebind = true,
                                .grad_req = WriteReq::kAdd}));
  const auto scheduler = std::make_shared<SetRateScheduler>();
  COOPER_ASSERT_OK(model->InitOptimizer({.lr_scheduler = scheduler, .force_init = true}));
  for (const int64_t length : {2, 4}) {
    COOPER_ASSERT_OK(model->ForwardBackward(ConstantBatch(length, length, 1)));
  }
  const auto extra = [&model] { return Floats((*model->GetParams()).args.at("extra_weight")); };
  const std::vector<float> before = extra();
  EXPECT_THAT(model->Update(), StatusIs(kInvalidArgument, HasSubstr("learning rate is nan")));
  EXPECT_EQ(extra(), before);
  scheduler->rate = 0.5;
  COOPER_ASSERT_OK(model->Update());
  EXPECT_NE(extra(), before);
}

TEST(BucketingModuleTest, AParameterThatNobodyGaveAValueIsNamedWithItsBucket) {
  auto donor = MakeModel({.sym_gen = DeeperAtTwo, .default_bucket_key = 4});
  COOPER_ASSERT_OK_AND_ASSIGN(const ModuleParams params, donor->GetParams());
  COOPER_ASSERT_OK_AND_ASSIGN(
      auto model, BucketingModule::Create({.sym_gen = DeeperAtTwo, .default_bucket_key = 4}));
  COOPER_ASSERT_OK(model->Bind({.data_shapes = DataOf(4), .label_shapes = Labels()}));
  COOPER_ASSERT_OK(model->InitParams({.initializer = nullptr, .arg_params = params.args}));
  COOPER_EXPECT_OK(model->Forward(ConstantBatch(4, 4, 1)));
  EXPECT_THAT(
      model->Forward(ConstantBatch(2, 2, 1)),
      StatusIs(kFailedPrecondition, AllOf(HasSubstr("bucket key 2"), HasSubstr("'extra_"))));
  COOPER_EXPECT_OK(model->Forward(ConstantBatch(4, 4, 1)));
}

TEST(BucketingModuleTest, ABatchThatDoesNotFitIsNamedWithItsBucket) {
  auto model = MakeModel({.sym_gen = Mean, .default_bucket_key = 4});
  DataBatch batch = ConstantBatch(2, 2, 1);
  batch.data = {RandomArray({kRows, 3, 3}, 1)};  // one step more than described
  EXPECT_THAT(model->Forward(batch),
              StatusIs(kInvalidArgument, AllOf(HasSubstr("bucket key 2"), HasSubstr("data"),
                                               HasSubstr("(4, 3, 3)"))));
  batch = ConstantBatch(2, 2, 1);
  batch.provide_data[0].shape = {kRows, 2, 5};
  batch.data = {RandomArray({kRows, 2, 5}, 1)};
  EXPECT_THAT(model->Forward(batch), StatusIs(kInvalidArgument, HasSubstr("bucket key 2")));
  COOPER_EXPECT_OK(model->Forward(ConstantBatch(2, 2, 1)));
}

TEST(BucketingModuleTest, ArraysAreThoseOfTheirNames) {
  auto model = MakeModel({.sym_gen = Mean, .default_bucket_key = 4});
  DataBatch batch = ConstantBatch(4, 4, 1);
  batch.provide_label[0].name = "weights";
  COOPER_EXPECT_OK(model->Forward(batch));  // unknown names: matched by position
  batch.label.push_back(batch.label[0]);
  batch.provide_label = {{.name = "weights", .shape = {kRows}}, Labels()[0]};
  COOPER_EXPECT_OK(model->Forward(batch));
}

TEST(BucketingModuleTest, ABatchWithoutAKeyIsTheCurrentBuckets) {
  auto model = MakeModel({.sym_gen = Mean, .default_bucket_key = 4});
  COOPER_ASSERT_OK(model->Forward(ConstantBatch(2, 2, 1)));
  DataBatch batch = ConstantBatch(2, 2, 3);
  batch.bucket_key.reset();
  COOPER_ASSERT_OK(model->Forward(batch));
  EXPECT_EQ(*model->current_bucket_key(), BucketKey(2));
}

TEST(BucketingModuleTest, AnErrorOfSymGenNamesTheKey) {
  auto model = MakeModel({.sym_gen = [](const BucketKey& key) -> absl::StatusOr<BucketSymbol> {
                            if (key == BucketKey(4)) return Mean(key);
                            return absl::ResourceExhaustedError("no such length");
                          },
                          .default_bucket_key = 4});
  EXPECT_THAT(model->Forward(ConstantBatch(9, 9, 1)),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       AllOf(HasSubstr("bucket key 9"), HasSubstr("no such length"))));
  EXPECT_EQ(*model->current_bucket_key(), BucketKey(4));
}

TEST(BucketingModuleTest, AnErrorOfTheDefaultBucketIsThatOfCreate) {
  const SymGen fails = [](const BucketKey&) -> absl::StatusOr<BucketSymbol> {
    return absl::ResourceExhaustedError("no such length");
  };
  const auto error = StatusIs(absl::StatusCode::kResourceExhausted,
                              AllOf(HasSubstr("bucket key 4"), HasSubstr("no such length")));
  EXPECT_THAT(BucketingModule::Create({.sym_gen = fails, .default_bucket_key = 4}), error);
  EXPECT_THAT(BucketingModule::LoadDict({}, {.sym_gen = fails, .default_bucket_key = 4}, {}),
              error);
}

TEST(BucketingModuleTest, SymGenMayReturnASymbolThatKeepsItsError) {
  auto model = MakeModel({.sym_gen =
                              [](const BucketKey& key) {
                                if (key == BucketKey(4)) return MeanOverTime();
                                return Symbol(absl::InvalidArgumentError("Activation 'a': no"));
                              },
                          .default_bucket_key = 4});
  EXPECT_THAT(model->Forward(ConstantBatch(9, 9, 1)),
              StatusIs(kInvalidArgument,
                       AllOf(HasSubstr("bucket key 9"), HasSubstr("Activation 'a': no"))));
}

TEST(BucketingModuleTest, PreparingDisturbsNothing) {
  auto model = MakeModel({.sym_gen = Mean, .default_bucket_key = 4});
  COOPER_ASSERT_OK(model->Forward(ConstantBatch(4, 4, 1)));
  const std::vector<float> before = Floats((*model->GetOutputs())[0]);
  COOPER_ASSERT_OK(model->Prepare(ConstantBatch(50, 50, 1)));
  EXPECT_EQ(*model->current_bucket_key(), BucketKey(4));
  EXPECT_EQ(model->Report().size(), 2u);
  EXPECT_EQ(Floats((*model->GetOutputs())[0]), before);
}

TEST(BucketingModuleTest, PreparingALargerBucketLeavesAStepWhole) {
  const SymGen sym_gen = [](const BucketKey& key) -> absl::StatusOr<BucketSymbol> {
    if (key != BucketKey(2)) return Mean(key);
    const Symbol wide = Op(
        "FullyConnected",
        {.name = "wide", .inputs = {Symbol::Variable("data")}, .attrs = {{"num_hidden", "200"}}});
    return BucketSymbol{.symbol = Op("SoftmaxOutput", {.name = "softmax", .inputs = {wide}})};
  };
  auto model = MakeModel({.sym_gen = sym_gen, .default_bucket_key = 4});
  auto undisturbed = MakeModel({.sym_gen = sym_gen, .default_bucket_key = 4});
  const DataBatch batch = ConstantBatch(4, 4, 1);
  COOPER_ASSERT_OK(model->Forward(batch));
  const int64_t before = model->group()->arena_bytes();
  COOPER_ASSERT_OK(model->Prepare(ConstantBatch(2, 2, 1)));
  ASSERT_GT(model->group()->arena_bytes(), before);
  COOPER_EXPECT_OK(model->GetOutputs());
  COOPER_ASSERT_OK(model->Backward());
  COOPER_ASSERT_OK(model->Update());
  COOPER_ASSERT_OK(undisturbed->ForwardBackward(batch));
  COOPER_ASSERT_OK(undisturbed->Update());
  COOPER_ASSERT_OK_AND_ASSIGN(const ModuleParams expected, undisturbed->GetParams());
  COOPER_ASSERT_OK_AND_ASSIGN(const ModuleParams got, model->GetParams());
  ASSERT_EQ(expected.args.size() + 2, got.args.size()) << "wide_weight and wide_bias";
  for (const auto& [name, array] : expected.args) {
    EXPECT_EQ(Floats(got.args.at(name)), Floats(array)) << name;
  }
}

TEST(BucketingModuleTest, AttributesOfVariablesAreThoseOfAnyBucket) {
  // Only bucket 2 has the variable with an initializer of its own, and is bound before InitParams.
  const SymGen sym_gen = [](const BucketKey& key) -> absl::StatusOr<BucketSymbol> {
    if (key != BucketKey(2)) return Mean(key);
    const Symbol flat = Op("Flatten", {.inputs = {Symbol::Variable("data")}});
    const Symbol bias = Symbol::Variable("gate_bias", {.init = R"(["constant", {"value": 3}])"});
    const Symbol fc = Op("FullyConnected", {.name = "gate",
                                            .inputs = {flat},
                                            .named = {{"bias", bias}},
                                            .attrs = {{"num_hidden", "2"}}});
    return BucketSymbol{.symbol = Op("SoftmaxOutput", {.name = "softmax", .inputs = {fc}})};
  };
  COOPER_ASSERT_OK_AND_ASSIGN(
      auto model, BucketingModule::Create({.sym_gen = sym_gen, .default_bucket_key = 4}));
  COOPER_ASSERT_OK(model->Bind({.data_shapes = DataOf(4), .label_shapes = Labels()}));
  COOPER_ASSERT_OK(model->PrepareAll(
      std::vector<BucketShapes>{{.key = 2, .data_shapes = DataOf(2), .label_shapes = Labels()}}));
  COOPER_ASSERT_OK(model->InitParams());
  EXPECT_THAT(Floats((*model->GetParams()).args.at("gate_bias")), ElementsAre(3, 3));
}

TEST(BucketingModuleTest, AtMostSoManyBucketsStayBound) {
  auto model = MakeModel({.sym_gen = Mean, .default_bucket_key = 4, .max_bound_buckets = 1});
  for (int64_t length : {4, 2, 7, 2}) {
    Step(*model, ConstantBatch(length, length, 1));
    ASSERT_EQ(model->Report().size(), 1u);
    EXPECT_EQ(model->Report()[0].key, BucketKey(length));
  }
}

TEST(BucketingModuleTest, MonitorsSeeBucketsThatAreBoundLater) {
  auto model = MakeModel({.sym_gen = Mean, .default_bucket_key = 4});
  std::set<std::string> seen;
  COOPER_ASSERT_OK(model->InstallMonitor(
      [&seen](const std::string& name, const NDArray&) { seen.insert(name); }));
  COOPER_ASSERT_OK(model->Forward(ConstantBatch(4, 4, 1)));
  EXPECT_TRUE(seen.contains("fc_output"));
  seen.clear();
  COOPER_ASSERT_OK(model->Forward(ConstantBatch(2, 2, 1)));
  EXPECT_TRUE(seen.contains("fc_output"));
}

TEST(BucketingModuleTest, CheckpointsBringBackEveryBucket) {
  const std::string prefix = testing::TempDir() + "/buckets";
  const std::vector<BucketKey> keys = {4, "two", {7, 7}};
  const std::vector<int64_t> lengths = {4, 2, 7};
  auto model = MakeModel({.sym_gen = Mean, .default_bucket_key = 4});
  for (size_t k = 0; k < 3; ++k) Step(*model, ConstantBatch(keys[k], lengths[k], k));
  COOPER_ASSERT_OK(model->SaveCheckpoint(prefix, 3));

  // Works without sym_gen, because the symbols of all keys were saved.
  COOPER_ASSERT_OK_AND_ASSIGN(auto loaded,
                              BucketingModule::Load(prefix, 3, {.default_bucket_key = 4}));
  COOPER_ASSERT_OK(
      loaded->Bind({.data_shapes = DataOf(4), .label_shapes = Labels(), .for_training = false}));
  ExpectSameParams(*model, *loaded);
  for (size_t k = 0; k < 3; ++k) {
    const DataBatch batch = ConstantBatch(keys[k], lengths[k], 9);
    COOPER_ASSERT_OK(model->Forward(batch, /*is_train=*/false));
    const std::vector<float> expected = Floats((*model->GetOutputs())[0]);
    COOPER_ASSERT_OK(loaded->Forward(batch));
    EXPECT_EQ(Floats((*loaded->GetOutputs())[0]), expected) << keys[k];
  }
  EXPECT_THAT(loaded->Forward(ConstantBatch(5, 5, 1)),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("bucket key 5")));
  // Loaded buckets are saved again, even without a batch.
  COOPER_ASSERT_OK_AND_ASSIGN(auto again,
                              BucketingModule::Load(prefix, 3, {.default_bucket_key = 4}));
  COOPER_ASSERT_OK(again->Bind({.data_shapes = DataOf(4), .label_shapes = Labels()}));
  COOPER_ASSERT_OK(again->SaveCheckpoint(prefix + "_again", 3));
  COOPER_ASSERT_OK_AND_ASSIGN(
      auto copy, BucketingModule::Load(prefix + "_again", 3, {.default_bucket_key = keys[1]}));
  COOPER_ASSERT_OK(copy->Bind({.data_shapes = DataOf(2), .label_shapes = Labels()}));
  ExpectSameParams(*model, *copy);

  EXPECT_THAT(BucketingModule::Load(prefix, 4, {.default_bucket_key = 4}),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("buckets-0004.params")));
  EXPECT_THAT(BucketingModule::Load(prefix + "x", 3, {.default_bucket_key = 4}), Not(IsOk()));
}

// Returns a copy of `model` after a step in bucket 2, whose parameters then wait for the bucket.
// Null on an error.
std::unique_ptr<BucketingModule> SaveAndLoad(BucketingModule& model, const std::string& prefix) {
  Step(model, ConstantBatch(2, 2, 1));
  COOPER_EXPECT_OK(model.SaveCheckpoint(prefix, 1));
  auto loaded = BucketingModule::Load(prefix, 1, {.default_bucket_key = 4});
  COOPER_EXPECT_OK(loaded);
  if (!loaded.ok()) return nullptr;
  COOPER_EXPECT_OK((*loaded)->Bind({.data_shapes = DataOf(4), .label_shapes = Labels()}));
  return *std::move(loaded);
}

TEST(BucketingModuleTest, ParametersThatWaitForTheirBucketAreSaved) {
  const std::string prefix = testing::TempDir() + "/waiting";
  auto model = MakeModel({.sym_gen = DeeperAtTwo, .default_bucket_key = 4});
  auto loaded = SaveAndLoad(*model, prefix);
  ASSERT_NE(loaded, nullptr);
  COOPER_ASSERT_OK(loaded->SaveCheckpoint(prefix, 2));  // bucket 2 has not been bound
  COOPER_ASSERT_OK_AND_ASSIGN(auto copy,
                              BucketingModule::Load(prefix, 2, {.default_bucket_key = 4}));
  COOPER_ASSERT_OK(copy->Bind({.data_shapes = DataOf(4), .label_shapes = Labels()}));
  COOPER_ASSERT_OK(copy->Forward(ConstantBatch(2, 2, 1)));
  ExpectSameParams(*model, *copy);
}

TEST(BucketingModuleTest, SettingParametersKeepsThoseThatWait) {
  const std::string prefix = testing::TempDir() + "/kept";
  auto model = MakeModel({.sym_gen = DeeperAtTwo, .default_bucket_key = 4});
  auto loaded = SaveAndLoad(*model, prefix);
  ASSERT_NE(loaded, nullptr);
  COOPER_ASSERT_OK_AND_ASSIGN(const ModuleParams bound, loaded->GetParams());
  COOPER_ASSERT_OK(loaded->SetParams(bound.args, bound.auxs));
  COOPER_ASSERT_OK(loaded->Forward(ConstantBatch(2, 2, 1)));
  ExpectSameParams(*model, *loaded);
}

TEST(BucketingModuleTest, KeysOfOneFileNameAreRefused) {
  auto model = MakeModel({.sym_gen = Mean, .default_bucket_key = 4});
  COOPER_ASSERT_OK(model->Forward(ConstantBatch("4", 4, 1)));
  EXPECT_THAT(model->SaveCheckpoint(testing::TempDir() + "/same", 1),
              StatusIs(kInvalidArgument, HasSubstr("same-4-symbol.json")));
}

// 72 bytes that describe 2^40 empty keys, and other invalid lists.
TEST(BucketingModuleTest, AListOfKeysThatIsNoneIsRefused) {
  const std::string prefix = testing::TempDir() + "/hostile";
  for (const Shape& shape : {Shape{int64_t{1} << 40, 0}, Shape{1, 0}, Shape{2, 2, 2}, Shape{}}) {
    COOPER_ASSERT_OK_AND_ASSIGN(const NDArray keys, NDArray::Zeros(shape, DType::kInt64));
    COOPER_ASSERT_OK(SaveArrays(prefix + ".buckets", {keys}));
    EXPECT_THAT(BucketingModule::Load(prefix, 1, {}),
                StatusIs(kInvalidArgument,
                         AllOf(HasSubstr("hostile.buckets"), HasSubstr(shape.ToString()))));
  }
}

// A symbol is read once, however often its key is in the list.
TEST(BucketingModuleTest, AKeyThatIsListedTwiceIsOneBucket) {
  const std::string prefix = testing::TempDir() + "/twice";
  auto model = MakeModel({.sym_gen = Mean, .default_bucket_key = 4});
  COOPER_ASSERT_OK(model->SaveCheckpoint(prefix, 1));
  COOPER_ASSERT_OK(WriteFileAtomically(prefix + ".bucket_keys", "4\n4\n4\n"));
  COOPER_ASSERT_OK_AND_ASSIGN(auto loaded, BucketingModule::Load(prefix, 1, {}));
  COOPER_ASSERT_OK(loaded->Bind({.data_shapes = DataOf(4), .label_shapes = Labels()}));
  ExpectSameParams(*model, *loaded);
}

TEST(BucketingModuleTest, RebindingKeepsParametersAndMomenta) {
  auto model = MakeModel({.sym_gen = Mean, .default_bucket_key = 4});
  auto other = MakeModel({.sym_gen = Mean, .default_bucket_key = 4});
  Step(*model, ConstantBatch(4, 4, 1));
  Step(*other, ConstantBatch(4, 4, 1));
  COOPER_ASSERT_OK(other->Bind({.data_shapes = DataOf(6), .label_shapes = Labels()}));
  EXPECT_EQ(other->data_shapes()[0].shape, Shape({kRows, 4, 3})) << "without force_rebind";
  COOPER_ASSERT_OK(
      other->Bind({.data_shapes = DataOf(6), .label_shapes = Labels(), .force_rebind = true}));
  Step(*model, ConstantBatch(2, 2, 2));
  Step(*other, ConstantBatch(2, 2, 2));
  ExpectSameParams(*model, *other);
}

TEST(BucketingModuleTest, RebindingThatFailsLeavesWhatIsBound) {
  auto model = MakeModel({.sym_gen = Mean, .default_bucket_key = 4});
  auto other = MakeModel({.sym_gen = Mean, .default_bucket_key = 4});
  for (BucketingModule* each : {model.get(), other.get()}) Step(*each, ConstantBatch(2, 2, 1));
  EXPECT_FALSE(other->Bind({.data_shapes = {}, .force_rebind = true}).ok());
  EXPECT_TRUE(other->binded());
  EXPECT_EQ(*other->current_bucket_key(), BucketKey(2));
  EXPECT_EQ(other->data_shapes()[0].shape, Shape({kRows, 2, 3}));
  EXPECT_EQ(other->Report().size(), 2u);
  for (BucketingModule* each : {model.get(), other.get()}) {
    DataBatch batch = ConstantBatch(2, 2, 2);
    batch.bucket_key.reset();
    Step(*each, batch);
    Step(*each, ConstantBatch(4, 4, 2));
  }
  ExpectSameParams(*model, *other);
}

}  // namespace
}  // namespace cooper
