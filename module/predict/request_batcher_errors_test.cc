// What a batcher does with requests, options and callbacks that are at fault.

#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "module/module_fixtures.h"
#include "module/predict/request_batcher.h"
#include "ndarray/status_matchers.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kWords = 10;

// The vector of a word, (batch_size, 1) to (batch_size, 1, 1): ten times its number. Words that are
// not there are refused, when they are looked up.
std::shared_ptr<const Predictor> Lookup() {
  const Symbol taken = Op("take", {.inputs = {Symbol::Variable("table"), Symbol::Variable("data")},
                                   .attrs = {{"mode", "raise"}}});
  std::vector<float> table;
  for (int64_t i = 0; i < kWords; ++i) table.push_back(static_cast<float>(10 * i));
  auto predictor =
      Predictor::Create(taken, {{"table", *NDArray::FromVector<float>({kWords, 1}, table)}});
  EXPECT_TRUE(predictor.ok()) << predictor.status();
  return *std::move(predictor);
}

NDArray Word(float number) { return *NDArray::FromVector<float>({1}, {number}); }

std::unique_ptr<RequestBatcher> LookupBatcher(RequestBatcherOptions options) {
  options.inputs = {{.name = "data", .shape = {1}}};
  auto batcher = RequestBatcher::Create(Lookup(), std::move(options));
  EXPECT_TRUE(batcher.ok()) << batcher.status();
  return *std::move(batcher);
}

TEST(RequestBatcherErrorsTest, WhatOneRequestHasFailsNoOtherOfItsBatch) {
  const auto batcher = LookupBatcher({.max_batch_size = 3, .max_delay = std::chrono::hours(1)});
  auto first = batcher->Submit({{"data", Word(4)}});
  auto wrong = batcher->Submit({{"data", Word(99)}});
  auto last = batcher->Submit({{"data", Word(7)}});
  EXPECT_THAT(wrong.get(), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("99")));
  COOPER_ASSERT_OK_AND_ASSIGN(const auto four, first.get());
  EXPECT_EQ(Floats(four[0]), std::vector<float>{40});
  COOPER_ASSERT_OK_AND_ASSIGN(const auto seven, last.get());
  EXPECT_EQ(Floats(seven[0]), std::vector<float>{70});
  EXPECT_EQ(batcher->counts().batches, 1);
}

// Times so far away are none that the clock has.
TEST(RequestBatcherErrorsTest, AnEndlessDelayWaitsForAFullBatch) {
  const auto batcher =
      LookupBatcher({.max_batch_size = 2, .max_delay = std::chrono::microseconds::max()});
  auto first = batcher->Submit({{"data", Word(4)}});
  EXPECT_EQ(first.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout);
  auto second = batcher->Submit({{"data", Word(5)}});
  COOPER_EXPECT_OK(first.get().status());
  COOPER_EXPECT_OK(second.get().status());
  EXPECT_EQ(batcher->counts().batches, 1);
}

TEST(RequestBatcherErrorsTest, RefusesDelaysBelowZero) {
  EXPECT_THAT(RequestBatcher::Create(Lookup(), {.inputs = {{.name = "data", .shape = {1}}},
                                                .max_delay = std::chrono::microseconds(-1)}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("max_delay is -1 microseconds, expected at least 0")));
}

}  // namespace
}  // namespace cooper
