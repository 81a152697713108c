// Tests InitOptimizerOptions::kvstore_instance over processes: a store used in an earlier training
// starts anew in all of them, whichever buckets each has bound.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "module/bucketing/bucketing_module.h"
#include "module/initializer/initializers.h"
#include "module/kvstore/kvstore.h"
#include "ndarray/base/status_matchers.h"
#include "tests/module/expect_params.h"
#include "tests/module/module_fixtures.h"

namespace cooper {
namespace {

std::shared_ptr<KVStore> MakeStore() { return *CreateKVStore("dist_sync"); }

DataBatch Batch(int64_t key, int rank) {
  const auto seed = static_cast<uint64_t>(10 * key + rank);
  return {.data = {RandomArray({4, 6}, seed)},
          .label = {Classes(4, 3, seed)},
          .bucket_key = key,
          .provide_data = {{.name = "data", .shape = {4, 6}, .layout = "NC"}},
          .provide_label = {{.name = "softmax_label", .shape = {4}, .layout = "N"}}};
}

// Returns a model in which each bucket has a layer of its own after a shared one.
std::unique_ptr<BucketingModule> MakeModel(uint64_t seed) {
  const SymGen sym_gen = [](const BucketKey& key) {
    const Symbol shared = Op(
        "FullyConnected",
        {.name = "shared", .inputs = {Symbol::Variable("data")}, .attrs = {{"num_hidden", "4"}}});
    const Symbol own =
        Op("FullyConnected",
           {.name = "fc" + key.ToString(), .inputs = {shared}, .attrs = {{"num_hidden", "3"}}});
    return Op("SoftmaxOutput", {.name = "softmax", .inputs = {own}});
  };
  auto model = *BucketingModule::Create({.sym_gen = sym_gen, .default_bucket_key = 1});
  const DataBatch batch = Batch(1, 0);
  COOPER_EXPECT_OK(
      model->Bind({.data_shapes = batch.provide_data, .label_shapes = batch.provide_label}));
  COOPER_EXPECT_OK(model->InitParams({.initializer = init::Uniform(0.5), .seed = seed}));
  return model;
}

void Train(BucketingModule& model, const std::shared_ptr<KVStore>& store, bool update_on_kvstore,
           const std::vector<int64_t>& keys) {
  COOPER_ASSERT_OK(
      model.InitOptimizer({.kvstore_instance = store,
                           .update_on_kvstore = update_on_kvstore,
                           .optimizer_params = {{"learning_rate", "0.1"}, {"momentum", "0.9"}},
                           .force_init = true}));
  for (const int64_t key : keys) {
    COOPER_ASSERT_OK(model.ForwardBackward(Batch(key, store->rank())));
    COOPER_ASSERT_OK(model.Update());
  }
}

// Returns a model after several trainings, each with the store that next_store returns.
template <typename F>
std::unique_ptr<BucketingModule> TrainAgain(uint64_t seed, F next_store) {
  auto model = MakeModel(seed);
  // The first process binds only the default bucket.
  const bool first = next_store()->rank() == 0;
  const std::vector<int64_t> keys =
      first ? std::vector<int64_t>{1, 1, 1} : std::vector<int64_t>{2, 1, 3};
  Train(*model, next_store(), /*update_on_kvstore=*/true, keys);
  Train(*model, next_store(), /*update_on_kvstore=*/true, keys);
  // A process that updates its own copy needs the parameters of all.
  for (const int64_t key : {2, 3}) COOPER_EXPECT_OK(model->Prepare(Batch(key, 0)));
  Train(*model, next_store(), /*update_on_kvstore=*/false, keys);
  Train(*model, next_store(), /*update_on_kvstore=*/true, keys);
  return model;
}

TEST(StoreAgainTest, AStoreBeginsAnewWithEachTraining) {
  std::shared_ptr<KVStore> store = MakeStore();
  // The second model takes over the store after the first one is destroyed.
  for (const uint64_t seed : {1, 2}) {
    const auto model = TrainAgain(seed, [&store] { return store; });
    const auto alone = TrainAgain(seed, [] { return MakeStore(); });
    ExpectSameParams(*alone, *model);
  }
}

}  // namespace
}  // namespace cooper
