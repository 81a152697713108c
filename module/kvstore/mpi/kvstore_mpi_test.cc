// Tests the store over several processes: each process of the run is one copy of this program.

#include "module/kvstore/mpi/kvstore_mpi.h"

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "module/optimizer/create_optimizer.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/random/random.h"

namespace cooper {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

NDArray Row(const std::vector<float>& values) {
  return *NDArray::FromVector({static_cast<int64_t>(values.size())}, values);
}

std::unique_ptr<KVStore> Make() {
  auto store = CreateKVStore("dist_sync");
  EXPECT_TRUE(store.ok()) << store.status();
  return *std::move(store);
}

std::vector<float> Pulled(KVStore& store, const std::string& key, int64_t size) {
  const NDArray out = *NDArray::Zeros({size});
  COOPER_EXPECT_OK(store.Pull(key, {out}));
  return *out.ToVector<float>();
}

KVItem Item(const std::string& key, const std::vector<float>& weight,
            const std::vector<float>& grad) {
  const NDArray array = Row(weight);
  return {.key = key, .weights = {array}, .grads = {Row(grad)}, .outs = {array}};
}

TEST(KVStoreMpiTest, SumsOverDevicesAndProcesses) {
  auto store = Make();
  const int n = store->num_workers();
  ASSERT_GT(n, 1);
  EXPECT_EQ(store->type(), "dist_sync");
  const float rank = static_cast<float>(store->rank());
  const NDArray mine = Row({1 + rank, 2});
  COOPER_ASSERT_OK(store->Init("w", mine));
  EXPECT_THAT(*mine.ToVector<float>(), ElementsAre(1 + rank, 2));
  EXPECT_THAT(Pulled(*store, "w", 2), ElementsAre(1, 2)) << "that of rank 0 counts";
  COOPER_ASSERT_OK(store->Push("w", {Row({rank, 1}), Row({0, 1})}));
  const int sum_of_ranks = n * (n - 1) / 2;
  EXPECT_THAT(Pulled(*store, "w", 2),
              ElementsAre(static_cast<float>(sum_of_ranks), static_cast<float>(2 * n)));
  COOPER_ASSERT_OK(store->Barrier());
}

TEST(KVStoreMpiTest, EveryDTypeIsSummed) {
  auto store = Make();
  const double n = store->num_workers();
  for (DType dtype : {DType::kFloat64, DType::kFloat16, DType::kBfloat16}) {
    const std::string key = DTypeName(dtype);
    COOPER_ASSERT_OK(store->Init(key, *NDArray::Zeros({3}, dtype)));
    COOPER_ASSERT_OK(store->Push(key, {*NDArray::Full({3}, 0.5, dtype)}));
    const NDArray out = *NDArray::Zeros({3}, dtype);
    COOPER_ASSERT_OK(store->Pull(key, {out}));
    EXPECT_THAT(*out.ToVector<double>(), Each(0.5 * n)) << key;
  }
}

// Each process has a key of its own and one that all have, and ends after another number of steps.
TEST(KVStoreMpiTest, ProcessesNeedNotHaveTheSameKeysNorSteps) {
  auto store = Make();
  const int n = store->num_workers();
  COOPER_ASSERT_OK_AND_ASSIGN(auto optimizer, CreateOptimizer("sgd", {{"learning_rate", "1"}}));
  COOPER_ASSERT_OK(store->SetOptimizer(std::move(optimizer)));
  const std::string own = "own" + std::to_string(store->rank());
  const std::vector<KVItem> items = {Item("all", {0, 0}, {1, 1}), Item(own, {5}, {1})};
  COOPER_ASSERT_OK(store->InitAll(items));
  const int steps = 2 + 3 * store->rank();
  for (int step = 0; step < steps; ++step) {
    COOPER_ASSERT_OK_AND_ASSIGN(const KVStepInfo info, store->Step(items, /*active=*/true));
    int active = 0;
    for (int rank = 0; rank < n; ++rank) active += step < 2 + 3 * rank;
    EXPECT_EQ(info.active_workers, active);
    EXPECT_EQ(static_cast<int>(info.others.size()), active - 1);
  }
  int joined = 0;
  while (true) {
    COOPER_ASSERT_OK_AND_ASSIGN(const KVStepInfo info, store->Step({}, /*active=*/false));
    if (info.active_workers == 0) break;
    ++joined;
  }
  EXPECT_EQ(joined, 3 * (n - 1 - store->rank()));
  float total = 0;
  for (int rank = 0; rank < n; ++rank) total += static_cast<float>(2 + 3 * rank);
  EXPECT_THAT(Pulled(*store, "all", 2), Each(-total));
  // Keys that only other processes have are updated here as well.
  for (int rank = 0; rank < n; ++rank) {
    EXPECT_THAT(Pulled(*store, "own" + std::to_string(rank), 1),
                ElementsAre(5 - static_cast<float>(2 + 3 * rank)));
  }
  EXPECT_EQ(store->stop_reason(), StopReason::kNone);
}

TEST(KVStoreMpiTest, OneProcessStopsAll) {
  auto store = Make();
  const std::vector<KVItem> items = {Item("w", {0}, {1})};
  for (int step = 0; step < 3; ++step) {
    COOPER_ASSERT_OK(store->Step(items, true).status());
    EXPECT_EQ(store->stop_reason(), StopReason::kNone);
  }
  if (store->rank() == 0) {
    store->RequestStop(StopReason::kSignal);
    COOPER_ASSERT_OK(store->Step({}, false).status());
  } else {
    COOPER_ASSERT_OK(store->Step(items, true).status());
  }
  EXPECT_EQ(store->stop_reason(), StopReason::kSignal);
}

TEST(KVStoreMpiTest, AStateIsCommonOnceAllHaveToldOfIt) {
  auto store = Make();
  const bool first = store->rank() == 0;
  struct Case {
    KVStore::SavedState first, others, common;
  };
  const KVStore::SavedState none = KVStore::kNoState;
  for (const Case& c : std::vector<Case>{{none, none, none},
                                         {{0, 3}, none, none},
                                         {{0, 3}, {0, 2}, none},
                                         {{0, 3}, {0, 3}, {0, 3}},
                                         {{0, 6}, {0, 3}, {0, 3}},
                                         {{1, 6}, {0, 6}, {0, 3}},
                                         {none, none, {0, 3}},
                                         {{1, 6}, {1, 6}, {1, 6}}}) {
    store->AnnounceSaved(first ? c.first : c.others);
    COOPER_ASSERT_OK(store->Step({}, /*active=*/first).status());
    EXPECT_EQ(store->common_state(), c.common);
  }
  store->ResetStop();
  COOPER_ASSERT_OK(store->Step({}, /*active=*/true).status());
  EXPECT_EQ(store->common_state(), none);
}

TEST(KVStoreMpiTest, AKeyOfAnotherShapeIsAnErrorOnAll) {
  auto store = Make();
  const bool first = store->rank() == 0;
  const std::vector<KVItem> items = {first ? Item("w", {1, 2}, {1, 1}) : Item("w", {1}, {1})};
  EXPECT_THAT(store->Step(items, true).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("key 'w' is 1 float32 on rank 1, expected 2 float32")));
}

TEST(KVStoreMpiTest, CompressedGradientsAreASixteenthAndLoseNothing) {
  auto store = Make();
  COOPER_ASSERT_OK(store->SetGradientCompression({{"type", "2bit"}, {"threshold", "0.25"}}));
  const int64_t size = 1003;
  RandomGenerator random(100 + store->rank());
  std::vector<double> pushed(size), received(size);
  COOPER_ASSERT_OK(store->Init("w", *NDArray::Zeros({size})));
  for (int step = 0; step < 40; ++step) {
    std::vector<float> gradient(size);
    for (float& g : gradient) g = static_cast<float>(random.NextNormal() * 0.1);
    for (int64_t i = 0; i < size; ++i) pushed[i] += gradient[i];
    COOPER_ASSERT_OK(store->Push("w", {Row(gradient)}));
    const std::vector<float> sum = Pulled(*store, "w", size);
    for (int64_t i = 0; i < size; ++i) received[i] += sum[i];
  }
  // The sum of all pushed gradients, by a store without compression.
  auto exact = Make();
  const NDArray total = *NDArray::FromVector({size}, pushed);
  COOPER_ASSERT_OK(exact->Init("total", total));
  COOPER_ASSERT_OK(exact->Push("total", {total}));
  const NDArray out = *NDArray::Zeros({size}, DType::kFloat64);
  COOPER_ASSERT_OK(exact->Pull("total", {out}));
  const std::vector<double> expected = *out.ToVector<double>();
  // The residual of each process is less than the threshold plus the last gradients.
  for (int64_t i = 0; i < size; ++i) {
    EXPECT_NEAR(received[i], expected[i], 0.7 * store->num_workers());
  }
  const KVStore::Traffic traffic = store->traffic();
  EXPECT_LE(traffic.bytes * 15, traffic.uncompressed_bytes);
}

// The residual of one process: the others do not wait for it, and all keep their values.
TEST(KVStoreMpiTest, AResidualOfAnotherSizeIsAnErrorOnAll) {
  const struct {
    const char* name;
    std::vector<float> residual;
    const char* error;
  } kCases[] = {
      {"longer", {1, 2, 3}, "key 'w': the residual is (3,), expected (2,) on rank 1"},
      {"shorter", {1}, "key 'w': the residual is (1,), expected (2,) on rank 1"},
      {"none", {}, "key 'w': the residual is (0,), expected (2,) on rank 1"},
  };
  for (const auto& c : kCases) {
    SCOPED_TRACE(c.name);
    auto store = Make();
    COOPER_ASSERT_OK(store->SetGradientCompression({{"type", "2bit"}, {"threshold", "0.5"}}));
    COOPER_ASSERT_OK(store->Init("w", Row({1, 2})));
    const NDArray fitting = Row({0.4f, 0});
    const bool is_wrong = store->rank() == 1;
    COOPER_ASSERT_OK(store->SetState({{"w:0", is_wrong ? Row(c.residual) : fitting}}));
    EXPECT_THAT(store->Push("w", {Row({0.2f, 0})}),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(c.error)));
    EXPECT_THAT(store->Step({Item("w", {1, 2}, {0.2f, 0})}, /*active=*/true).status(),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(c.error)));
    EXPECT_THAT(Pulled(*store, "w", 2), ElementsAre(1, 2));
    if (is_wrong) {
      COOPER_ASSERT_OK(store->SetState({{"w:0", fitting}}));
    }
    COOPER_ASSERT_OK(store->Push("w", {Row({0.2f, 0})}));
    EXPECT_THAT(Pulled(*store, "w", 2),
                ElementsAre(0.5f * static_cast<float>(store->num_workers()), 0));
  }
}

}  // namespace
}  // namespace cooper
