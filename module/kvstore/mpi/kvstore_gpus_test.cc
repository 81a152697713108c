// Tests "dist_device_sync" over processes of two GPUs each, by copies: each process of the run is
// one copy of this program.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "module/kvstore/mpi/kvstore_mpi.h"
#include "module/optimizer/create_optimizer.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/context.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/cuda/require_gpu.h"

namespace cooper {
namespace {

COOPER_EMULATE(DEVICES, "2");
COOPER_EMULATE(LAZY, "1");

using ::testing::Each;
using ::testing::HasSubstr;

const std::vector<Context> kGpus = {Context::Gpu(0), Context::Gpu(1)};

std::vector<NDArray> OnBoth(int64_t size, double first, double second) {
  return {*NDArray::Full({size}, first, DType::kFloat32, kGpus[0]),
          *NDArray::Full({size}, second, DType::kFloat32, kGpus[1])};
}

std::vector<float> Of(const NDArray& array) { return *array.ToVector<float>(); }

std::unique_ptr<KVStore> Make(bool updates) {
  auto store = *CreateKVStore("dist_device_sync");
  COOPER_EXPECT_OK(store->SetBuckets({.bytes = 100}));
  if (updates) {
    auto optimizer = *CreateOptimizer("sgd", {{"learning_rate", "0.5"}});
    COOPER_EXPECT_OK(store->SetOptimizer(std::move(optimizer)));
  }
  return store;
}

TEST(KVStoreGpusTest, ValuesStayOnTheGpus) {
  COOPER_REQUIRE_GPUS(2);
  const auto store = Make(/*updates=*/true);
  const int n = store->num_workers();
  const double rank = store->rank();
  std::vector<KVItem> items;
  for (const int64_t size : {40, 3, 20}) {
    KVItem& item = items.emplace_back();
    item.key = "w" + std::to_string(size);
    item.weights = OnBoth(size, 10 + rank, 20);
    item.grads = OnBoth(size, 1 + rank, 2);
    item.outs = item.weights;
  }
  COOPER_ASSERT_OK(store->InitAll(items));
  for (const KVItem& item : items) {
    for (const NDArray& weight : item.weights) EXPECT_THAT(Of(weight), Each(10)) << "rank 0's";
  }
  const double sum = n * (n + 1) / 2 + 2 * n;  // of 1, 2, ... and of the 2s
  for (int step = 1; step <= 3; ++step) {
    COOPER_ASSERT_OK_AND_ASSIGN(const KVStepInfo info, store->Step(items, /*active=*/true));
    EXPECT_EQ(info.active_workers, n);
    for (const KVItem& item : items) {
      for (const NDArray& weight : item.weights) {
        EXPECT_THAT(Of(weight), Each(10 - 0.5 * sum * step)) << item.key;
      }
      EXPECT_THAT(Of(item.grads[0]), Each(1 + rank)) << "stays as it was";
      COOPER_ASSERT_OK_AND_ASSIGN(const NDArray value, store->Get(item.key));
      EXPECT_TRUE(value.context().is_cpu());
      EXPECT_THAT(Of(value), Each(10 - 0.5 * sum * step));
    }
  }
}

// Each process has a key of its own and one that all have, and ends after another number of steps.
TEST(KVStoreGpusTest, ProcessesNeedNotHaveTheSameKeysNorSteps) {
  COOPER_REQUIRE_GPUS(2);
  const auto store = Make(/*updates=*/true);
  const int n = store->num_workers(), rank = store->rank();
  const auto item_of = [](const std::string& key) {
    KVItem item{.key = key, .weights = OnBoth(5, 0, 0), .grads = OnBoth(5, 1, 1), .outs = {}};
    item.outs = item.weights;
    return item;
  };
  const std::vector<KVItem> items = {item_of("shared"), item_of("own" + std::to_string(rank))};
  int steps = 0;
  for (;; ++steps) {
    const bool active = steps <= rank;
    COOPER_ASSERT_OK_AND_ASSIGN(const KVStepInfo info,
                                store->Step(active ? items : std::vector<KVItem>(), active));
    EXPECT_EQ(info.active_workers, std::max(0, n - steps));
    if (info.active_workers == 0) break;
  }
  EXPECT_EQ(steps, n);
  // Rank r took part in r + 1 steps, in each with a gradient of 2.
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray shared, store->Get("shared"));
  EXPECT_THAT(Of(shared), Each(-0.5 * n * (n + 1)));
  for (int r = 0; r < n; ++r) {
    COOPER_ASSERT_OK_AND_ASSIGN(const NDArray own, store->Get("own" + std::to_string(r)));
    EXPECT_THAT(Of(own), Each(-(r + 1))) << r;
  }
}

TEST(KVStoreGpusTest, WithoutAnOptimizerGradientsAreSummedInPlace) {
  COOPER_REQUIRE_GPUS(2);
  const auto store = Make(/*updates=*/false);
  const int n = store->num_workers();
  KVItem item{.key = "w", .weights = OnBoth(6, 0, 0), .grads = OnBoth(6, 1, 2), .outs = {}};
  item.outs = item.grads;
  COOPER_ASSERT_OK(store->Step({item}, /*active=*/true).status());
  for (const NDArray& grad : item.grads) EXPECT_THAT(Of(grad), Each(3 * n));
  const NDArray pulled = *NDArray::Zeros({6});
  COOPER_ASSERT_OK(store->Pull("w", {pulled}));
  EXPECT_THAT(Of(pulled), Each(3 * n));
  // From other devices, too.
  COOPER_ASSERT_OK(store->Push("w", {*NDArray::Full({6}, 5)}));
  COOPER_ASSERT_OK(store->Pull("w", {pulled}));
  EXPECT_THAT(Of(pulled), Each(5 * n));
}

TEST(KVStoreGpusTest, AllProcessesHaveThemOnGpusOrNone) {
  COOPER_REQUIRE_GPUS(2);
  for (const bool same_key : {true, false}) {
    const auto store = Make(/*updates=*/true);
    KVItem item{.key = "w", .weights = OnBoth(6, 0, 0), .grads = OnBoth(6, 1, 2), .outs = {}};
    if (store->rank() == 1) {
      if (!same_key) item.key = "another";
      item.weights = {*NDArray::Zeros({6})};
      item.grads = {*NDArray::Zeros({6})};
    }
    EXPECT_THAT(store->InitAll({item}),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("rank 1")));
  }
}

}  // namespace
}  // namespace cooper
