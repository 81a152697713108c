// Tests how a batcher handles wrong requests, options and callbacks.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "module/predict/requests/fails_on_demand.h"
#include "module/predict/requests/request_batcher.h"
#include "ndarray/base/status_matchers.h"
#include "tests/module/module_fixtures.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kWords = 10;

// Returns a predictor of a word's vector, (batch_size, 1) to (batch_size, 1, 1): ten times the
// word's number. The operator refuses unknown words.
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

// Errors of memory and devices are not tried again for each request alone: they would be the same.
TEST(RequestBatcherErrorsTest, OnlyWhatARequestMayHaveIsTriedAlone) {
  const Symbol net = Op("FailsOnDemand", {.inputs = {Symbol::Variable("data")}});
  COOPER_ASSERT_OK_AND_ASSIGN(std::shared_ptr<const Predictor> predictor,
                              Predictor::Create(net, {}));
  COOPER_ASSERT_OK_AND_ASSIGN(
      const auto batcher,
      RequestBatcher::Create(predictor, {.inputs = {{.name = "data", .shape = {1}}},
                                         .max_batch_size = 4,
                                         .max_delay = std::chrono::hours(1)}));
  const std::pair<absl::StatusCode, int> cases[] = {{absl::StatusCode::kInvalidArgument, 5},
                                                    {absl::StatusCode::kOutOfRange, 5},
                                                    {absl::StatusCode::kResourceExhausted, 1},
                                                    {absl::StatusCode::kInternal, 1}};
  for (const auto& [code, expected_runs] : cases) {
    FailsOnDemand::code = code;
    FailsOnDemand::runs = 0;
    std::vector<std::future<RequestBatcher::Outputs>> answers;
    answers.reserve(4);
    for (int i = 0; i < 4; ++i) answers.push_back(batcher->Submit({{"data", Word(1)}}));
    for (auto& answer : answers) {
      EXPECT_THAT(answer.get(), StatusIs(code, HasSubstr("requested failure")));
    }
    EXPECT_EQ(FailsOnDemand::runs, expected_runs) << code;
  }
}

// The clock cannot represent a time that far in the future.
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

TEST(RequestBatcherErrorsTest, WhatACallbackThrowsDisturbsNobody) {
  const auto batcher =
      LookupBatcher({.max_batch_size = 2, .max_delay = std::chrono::milliseconds(1)});
  batcher->Submit({{"data", Word(1)}},
                  [](const RequestBatcher::Outputs&) { throw std::runtime_error("thrown"); });
  batcher->Submit({}, [](const RequestBatcher::Outputs&) { throw 3; });
  COOPER_ASSERT_OK_AND_ASSIGN(const auto outputs, batcher->Submit({{"data", Word(2)}}).get());
  EXPECT_EQ(Floats(outputs[0]), std::vector<float>{20});
}

TEST(RequestBatcherErrorsTest, RefusesANullCallback) {
  const auto batcher = LookupBatcher({.max_delay = std::chrono::microseconds(0)});
  batcher->Submit({{"data", Word(1)}}, nullptr);
  batcher->Submit({}, nullptr);
  COOPER_EXPECT_OK(batcher->Submit({{"data", Word(2)}}).get().status());
  EXPECT_EQ(batcher->counts().refused, 2);
  EXPECT_EQ(batcher->counts().requests, 1);
}

// The last owner is a closure that is destroyed where it was called: on one of the batcher's
// threads.
TEST(RequestBatcherErrorsTest, MayEndOnItsOwnThread) {
  for (const int num_threads : {1, 3}) {
    std::shared_ptr<const Predictor> predictor = Lookup();
    const std::weak_ptr<const Predictor> served = predictor;
    auto created =
        RequestBatcher::Create(std::move(predictor), {.inputs = {{.name = "data", .shape = {1}}},
                                                      .max_batch_size = 1,
                                                      .max_delay = std::chrono::microseconds(0),
                                                      .num_threads = num_threads});
    ASSERT_TRUE(created.ok()) << created.status();
    std::shared_ptr<RequestBatcher> batcher = *std::move(created);
    RequestBatcher& submits = *batcher;
    std::promise<void> let_go;
    std::future<void> may_end = let_go.get_future();
    std::promise<std::weak_ptr<RequestBatcher>> ended;
    submits.Submit({{"data", Word(3)}}, [&may_end, &ended, held = std::move(batcher)](
                                            const RequestBatcher::Outputs&) mutable {
      may_end.wait();
      const std::weak_ptr<RequestBatcher> weak = held;
      held.reset();
      ended.set_value(weak);
    });
    auto left = submits.Submit({{"data", Word(4)}});
    let_go.set_value();
    EXPECT_TRUE(ended.get_future().get().expired());
    COOPER_EXPECT_OK(left.get().status());
    // The threads end by themselves.
    for (int i = 0; i < 10000 && !served.expired(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_TRUE(served.expired());
  }
}

// The exception would end the process on the thread that serves.
TEST(RequestBatcherErrorsTest, WhatTheNetworksMakerThrowsIsAnErrorOfTheRequest) {
  std::atomic<bool> throws = false;
  const auto make = [&throws](const BucketKey&) -> absl::StatusOr<Symbol> {
    if (throws) throw std::runtime_error("no such network");
    return Op("tanh", {.inputs = {Symbol::Variable("data")}});
  };
  COOPER_ASSERT_OK_AND_ASSIGN(
      std::shared_ptr<const Predictor> predictor,
      Predictor::Create(make, {}, {}, {.max_programs = 1, .max_networks = 1}));
  COOPER_ASSERT_OK_AND_ASSIGN(
      const auto batcher,
      RequestBatcher::Create(predictor, {.inputs = {{.name = "data", .shape = {kUnknownDim}}},
                                         .lengths = {1, 2},
                                         .max_delay = std::chrono::microseconds(0)}));
  throws = true;
  // One of the networks is not kept.
  batcher->Submit({{"data", *NDArray::Zeros({2})}}).wait();
  EXPECT_THAT(batcher->Submit({{"data", *NDArray::Zeros({1})}}).get(),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("no such network")));
}

}  // namespace
}  // namespace cooper
