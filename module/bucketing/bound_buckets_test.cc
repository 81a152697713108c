#include "module/bucketing/bound_buckets.h"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "executor/executor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/batch/bucket_key.h"
#include "module/network/module.h"
#include "ndarray/base/status_matchers.h"
#include "tests/module/module_fixtures.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using enum BoundBuckets::Purpose;

// Returns a module that is bound for prediction.
BoundBuckets::Bucket MakeBucket() {
  auto module = Module::Create(MeanOverTime()).value();
  COOPER_EXPECT_OK(module->Bind({.data_shapes = {{.name = "data", .shape = {2, 3}}},
                                 .label_shapes = {},
                                 .for_training = false}));
  return {.module = std::move(module), .bind_seconds = 0.5};
}

std::vector<BucketKey> Keys(const BoundBuckets& buckets, BoundBuckets::Purpose purpose) {
  std::vector<BucketKey> keys;
  for (const auto& [key, bucket] : buckets.all(purpose)) keys.push_back(key);
  return keys;
}

TEST(BoundBucketsTest, TheLeastRecentlyUsedBucketIsEvicted) {
  BoundBuckets buckets(/*max_buckets=*/3, /*max_bytes=*/0);
  for (const int key : {10, 20}) buckets.Add(kBound, key, MakeBucket());
  buckets.Add(kEvaluation, 10, MakeBucket());
  buckets.MarkUsed(*buckets.Find(kBound, 10));
  buckets.Evict();
  EXPECT_THAT(Keys(buckets, kBound), ElementsAre(10, 20)) << "both purposes are three buckets";
  buckets.MakeRoom();
  EXPECT_THAT(Keys(buckets, kBound), ElementsAre(10));
  EXPECT_THAT(Keys(buckets, kEvaluation), ElementsAre(10));
  EXPECT_EQ(buckets.Find(kBound, 20), nullptr);
}

TEST(BoundBucketsTest, BucketsInUseStay) {
  BoundBuckets buckets(1, 0);
  EXPECT_EQ(buckets.active(), nullptr);
  buckets.SetCurrent(buckets.Add(kBound, 10, MakeBucket()));
  EXPECT_EQ(buckets.active(), buckets.current());
  buckets.SetEvaluated(buckets.Add(kEvaluation, 20, MakeBucket()));
  EXPECT_EQ(buckets.active(), buckets.Find(kEvaluation, 20));
  buckets.Add(kBound, 30, MakeBucket());
  buckets.Evict();
  EXPECT_THAT(Keys(buckets, kBound), ElementsAre(10));
  EXPECT_THAT(Keys(buckets, kEvaluation), ElementsAre(20)) << "above the limit, but in use";
  buckets.SetEvaluated(nullptr);
  buckets.Evict();
  EXPECT_THAT(Keys(buckets, kEvaluation), IsEmpty());
  EXPECT_EQ(buckets.current()->module.get(), buckets.FindModule(kBound, 10));
}

TEST(BoundBucketsTest, BytesAreLimited) {
  const int64_t bytes = MakeBucket().module->footprint_bytes();
  ASSERT_GT(bytes, 0);
  BoundBuckets buckets(0, 3 * bytes);
  for (const int key : {10, 20, 30}) buckets.Add(kBound, key, MakeBucket());
  EXPECT_EQ(buckets.footprint_bytes(), 3 * bytes);
  buckets.Evict();
  EXPECT_THAT(Keys(buckets, kBound), ElementsAre(10, 20, 30));
  buckets.MakeRoom(bytes + 1);
  EXPECT_THAT(Keys(buckets, kBound), ElementsAre(30));
}

TEST(BoundBucketsTest, AReportJoinsThePurposesOfAKey) {
  BoundBuckets buckets(0, 0);
  buckets.Add(kBound, 10, MakeBucket());
  buckets.Add(kEvaluation, 10, MakeBucket());
  buckets.Add(kEvaluation, 5, MakeBucket());
  const std::vector<BucketReport> reports = buckets.Report();
  ASSERT_EQ(reports.size(), 2u);
  EXPECT_EQ(reports[0].key, BucketKey(5));
  EXPECT_EQ(reports[0].memory.planned_bytes, 0);
  EXPECT_GT(reports[0].evaluation.planned_bytes, 0);
  EXPECT_EQ(reports[1].key, BucketKey(10));
  EXPECT_GT(reports[1].memory.planned_bytes, 0);
  EXPECT_EQ(reports[1].bind_seconds, 1);
  EXPECT_EQ(reports[1].footprint_bytes, 2 * reports[0].footprint_bytes);
}

}  // namespace
}  // namespace cooper
