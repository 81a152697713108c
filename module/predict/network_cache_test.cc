#include "module/predict/network_cache.h"

#include <future>
#include <stdexcept>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"
#include "tests/module/module_fixtures.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

InferenceNetwork Network() { return {.symbol = TwoLayers()}; }

TEST(NetworkCacheTest, KeepsThoseThatWereAskedForLast) {
  std::vector<int64_t> made;
  NetworkCache cache(/*capacity=*/2, [&](const BucketKey& key) -> absl::StatusOr<InferenceNetwork> {
    made.push_back(key.int_value());
    return Network();
  });
  COOPER_ASSERT_OK_AND_ASSIGN(const auto first, cache.Get(1));
  for (const int64_t key : {2, 1, 3, 1, 2}) COOPER_ASSERT_OK(cache.Get(key).status());
  EXPECT_THAT(made, ElementsAre(1, 2, 3, 2));
  EXPECT_THAT(cache.Get(1), IsOkAndHolds(first));
  for (const int64_t key : {2, 3}) COOPER_ASSERT_OK(cache.Get(key).status());
  COOPER_ASSERT_OK_AND_ASSIGN(const auto again, cache.Get(1));
  EXPECT_NE(again->number, first->number) << "of a symbol that may be another";
}

TEST(NetworkCacheTest, KnownKeysDoNotWaitForOneThatIsMade) {
  std::promise<void> begun, keep_going;
  NetworkCache cache(8, [&](const BucketKey& key) -> absl::StatusOr<InferenceNetwork> {
    if (key == BucketKey("slow")) {
      begun.set_value();
      keep_going.get_future().wait();
    }
    return Network();
  });
  COOPER_ASSERT_OK(cache.Get("known").status());
  auto slow = std::async(std::launch::async, [&] { return cache.Get("slow").status(); });
  begun.get_future().wait();
  COOPER_EXPECT_OK(cache.Get("known").status());
  keep_going.set_value();
  COOPER_EXPECT_OK(slow.get());
}

TEST(NetworkCacheTest, AFunctionMayAskForOtherNetworks) {
  NetworkCache* asked = nullptr;
  NetworkCache cache(8, [&](const BucketKey& key) -> absl::StatusOr<InferenceNetwork> {
    if (key == BucketKey(1)) return Network();
    const absl::Status status = asked->Get(key == BucketKey(2) ? 1 : key).status();
    if (!status.ok()) return status;
    return Network();
  });
  asked = &cache;
  COOPER_EXPECT_OK(cache.Get(2).status());
  EXPECT_THAT(cache.Get(3), StatusIs(absl::StatusCode::kFailedPrecondition,
                                     HasSubstr("the network of 3 requests that network")));
}

TEST(NetworkCacheTest, AFunctionThatHasThrownMayBeCalledAgain) {
  int calls = 0;
  NetworkCache cache(8, [&](const BucketKey&) -> absl::StatusOr<InferenceNetwork> {
    if (++calls == 1) throw std::runtime_error("thrown");
    return Network();
  });
  EXPECT_THROW(cache.Get(1).IgnoreError(), std::runtime_error);
  COOPER_EXPECT_OK(cache.Get(1).status());
}

}  // namespace
}  // namespace cooper
