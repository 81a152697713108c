// Tests parameters that only some buckets of a BucketingModule have: how those of an unbound bucket
// are set and saved, and which names of options a bucket must have.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "module/bucketing/bucketing_module.h"
#include "module/initializer/initializers.h"
#include "ndarray/base/status_matchers.h"
#include "tests/module/expect_params.h"
#include "tests/module/module_fixtures.h"

namespace cooper {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr auto kInvalidArgument = absl::StatusCode::kInvalidArgument;

// Bucket 2 has a layer of its own in place of "fc".
absl::StatusOr<BucketSymbol> OfTwoLayers(const BucketKey& key) {
  const std::string name = key == BucketKey(2) ? "two" : "fc";
  const Symbol shared =
      Op("FullyConnected",
         {.name = "shared", .inputs = {Symbol::Variable("data")}, .attrs = {{"num_hidden", "4"}}});
  const Symbol fc =
      Op("FullyConnected", {.name = name, .inputs = {shared}, .attrs = {{"num_hidden", "3"}}});
  return BucketSymbol{.symbol = Op("SoftmaxOutput", {.name = "softmax", .inputs = {fc}})};
}

std::vector<DataDesc> Data() { return {{.name = "data", .shape = {4, 6}, .layout = "NC"}}; }
std::vector<DataDesc> Labels() { return {{.name = "softmax_label", .shape = {4}, .layout = "N"}}; }

DataBatch Batch(int64_t key) {
  return {.data = {RandomArray({4, 6}, 1)},
          .label = {Classes(4, 3, 1)},
          .bucket_key = key,
          .provide_data = Data(),
          .provide_label = Labels()};
}

BucketingModuleOptions Options() { return {.sym_gen = OfTwoLayers, .default_bucket_key = 1}; }

std::unique_ptr<BucketingModule> MakeModel(uint64_t seed,
                                           BucketingModuleOptions options = Options()) {
  auto model = *BucketingModule::Create(std::move(options));
  COOPER_EXPECT_OK(model->Bind({.data_shapes = Data(), .label_shapes = Labels()}));
  COOPER_EXPECT_OK(model->InitParams({.initializer = init::Uniform(0.5), .seed = seed}));
  return model;
}

// Returns all parameters of a model with both buckets.
ModuleParams ParamsOfBoth() {
  auto model = MakeModel(1);
  COOPER_EXPECT_OK(model->Forward(Batch(2)));
  return *model->GetParams();
}

TEST(BucketingParamsTest, ValuesWaitForTheirBucketHoweverTheyAreSet) {
  const ModuleParams given = ParamsOfBoth();
  ASSERT_EQ(given.args.size(), 6u);
  for (const bool allow_missing : {false, true}) {
    SCOPED_TRACE(allow_missing);
    auto model = MakeModel(2);
    COOPER_ASSERT_OK(model->SetParams(given.args, given.auxs,
                                      {.allow_missing = allow_missing, .allow_extra = true}));
    ArrayMap changed = given.args;
    changed["two_bias"] = *NDArray::Full({3}, 7);
    EXPECT_THAT(model->SetParams(changed, {}, {.allow_missing = true}),
                StatusIs(kInvalidArgument, HasSubstr("no parameter 'two_bias'")));
    COOPER_EXPECT_OK(model->SetParams(changed, {}, {.allow_missing = true, .force_init = false}));
    COOPER_ASSERT_OK(
        model->SetParams(changed, {}, {.allow_missing = allow_missing, .allow_extra = true}));
    COOPER_ASSERT_OK(changed["two_bias"].Fill(0));  // the caller's own array
    COOPER_ASSERT_OK(model->Forward(Batch(2)));
    COOPER_ASSERT_OK_AND_ASSIGN(const ModuleParams after, model->GetParams());
    EXPECT_THAT(Floats(after.args.at("two_bias")), Each(7.0f));
    EXPECT_EQ(Floats(after.args.at("two_weight")), Floats(given.args.at("two_weight")));
  }
}

TEST(BucketingParamsTest, ParametersOfABucketThatIsNotBoundAreSaved) {
  const std::string prefix = testing::TempDir() + "/unbound";
  auto model = MakeModel(1);
  COOPER_ASSERT_OK(model->Forward(Batch(2)));
  COOPER_ASSERT_OK(model->SaveCheckpoint(prefix, 1));
  auto loaded = *BucketingModule::Load(prefix, 1, {.default_bucket_key = 1});
  COOPER_ASSERT_OK(loaded->Bind({.data_shapes = Data(), .label_shapes = Labels()}));
  COOPER_ASSERT_OK(loaded->SaveParams(prefix + ".params"));
  ExpectSameParams(*model, *loaded);
  // EarlyStopping restores parameters in this way.
  COOPER_EXPECT_OK(loaded->SetParams(loaded->GetParams()->args, {}, {.allow_missing = true}));

  auto again = MakeModel(2);
  COOPER_ASSERT_OK(again->LoadParams(prefix + ".params"));
  COOPER_ASSERT_OK(again->Forward(Batch(2)));
  ExpectSameParams(*model, *again);
}

// The default bucket must have all names; other buckets use the ones that they have.
TEST(BucketingParamsTest, NamesOfOptionsAreThoseOfTheDefaultBucket) {
  BucketingModuleOptions options = Options();
  options.compute.fixed_param_names = {"shared_weight", "fc_weight"};
  auto model = MakeModel(1, options);
  COOPER_ASSERT_OK(model->Forward(Batch(2)));
  COOPER_ASSERT_OK(model->InitOptimizer());
  COOPER_ASSERT_OK_AND_ASSIGN(const ModuleParams before, model->GetParams());
  for (const int64_t key : {1, 2}) {
    COOPER_ASSERT_OK(model->ForwardBackward(Batch(key)));
    COOPER_ASSERT_OK(model->Update());
  }
  COOPER_ASSERT_OK_AND_ASSIGN(const ModuleParams after, model->GetParams());
  for (const auto& [name, array] : before.args) {
    const bool fixed = name == "shared_weight" || name == "fc_weight";
    EXPECT_EQ(Floats(after.args.at(name)) == Floats(array), fixed) << name;
  }

  options.compute.fixed_param_names = {"two_weight"};
  auto other = *BucketingModule::Create(options);
  EXPECT_THAT(other->Bind({.data_shapes = Data(), .label_shapes = Labels()}),
              StatusIs(kInvalidArgument, HasSubstr("fixed_param_names has 'two_weight'")));
}

TEST(BucketingParamsTest, ABucketNeedNotHaveAllStates) {
  const SymGen sym_gen = [](const BucketKey& key) {
    const Symbol data = Symbol::Variable("data");
    const Symbol sum =
        Op("elemwise_add", {.name = "sum", .inputs = {data, Symbol::Variable("carried")}});
    return BucketSymbol{.symbol = key == BucketKey(1) ? sum : Op("identity", {.inputs = {data}}),
                        .label_names = {}};
  };
  auto model = *BucketingModule::Create(
      {.sym_gen = sym_gen, .default_bucket_key = 1, .compute = {.state_names = {"carried"}}});
  const std::vector<DataDesc> data = {{.name = "data", .shape = {2}, .layout = "N"}};
  COOPER_ASSERT_OK(model->Bind({.data_shapes = data, .for_training = false}));
  COOPER_ASSERT_OK(model->InitParams());
  COOPER_ASSERT_OK(model->SetStates(3.0));
  COOPER_ASSERT_OK(model->SwitchBucket(2, data, {}));
  EXPECT_EQ(model->GetStates()->size(), 0u);
  COOPER_ASSERT_OK(model->SwitchBucket(1, data, {}));
  EXPECT_THAT(Floats(model->GetStates()->front()), ElementsAre(3, 3));
}

}  // namespace
}  // namespace cooper
