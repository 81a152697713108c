// Tests the stores of one process, and gradient compression.

#include "module/kvstore/kvstore.h"

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "module/kvstore/gradient_compression.h"
#include "module/optimizer/create_optimizer.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/random/random.h"

namespace cooper {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr auto kInvalidArgument = absl::StatusCode::kInvalidArgument;

NDArray Row(const std::vector<float>& values) {
  return *NDArray::FromVector({static_cast<int64_t>(values.size())}, values);
}

std::unique_ptr<KVStore> Make(const std::string& type) {
  auto store = CreateKVStore(type);
  EXPECT_TRUE(store.ok()) << store.status();
  return *std::move(store);
}

std::vector<float> Pulled(KVStore& store, const std::string& key, int64_t size) {
  const NDArray out = *NDArray::Full({size}, -7);
  COOPER_EXPECT_OK(store.Pull(key, {out}));
  return *out.ToVector<float>();
}

TEST(KVStoreTest, TheSumOfAPushTakesTheStoredPlace) {
  for (const char* type : {"local", "device"}) {
    auto store = Make(type);
    EXPECT_EQ(store->type(), type);
    EXPECT_EQ(store->num_workers(), 1);
    COOPER_ASSERT_OK(store->Init("w", Row({1, 2})));
    EXPECT_THAT(Pulled(*store, "w", 2), ElementsAre(1, 2));
    const std::vector<NDArray> outs = {Row({0, 0}), Row({0, 0})};
    COOPER_ASSERT_OK(store->PushPull("w", {Row({3, 4}), Row({10, 20}), Row({1, 1})}, outs));
    for (const NDArray& out : outs) EXPECT_THAT(*out.ToVector<float>(), ElementsAre(14, 25));
    COOPER_ASSERT_OK(store->Set("w", Row({5, 6})));
    EXPECT_THAT(Pulled(*store, "w", 2), ElementsAre(5, 6));
  }
}

TEST(KVStoreTest, WhatWasPushedStaysAsItWas) {
  auto store = Make("local");
  const NDArray value = Row({1, 2});
  COOPER_ASSERT_OK(store->Init("w", value));
  const NDArray gradient = Row({3, 4});
  COOPER_ASSERT_OK(store->Push("w", {gradient}));
  COOPER_ASSERT_OK(store->Push("w", {Row({9, 9})}));
  EXPECT_THAT(*value.ToVector<float>(), ElementsAre(1, 2));
  EXPECT_THAT(*gradient.ToVector<float>(), ElementsAre(3, 4));
}

TEST(KVStoreTest, AnOptimizerUpdatesTheStoredValue) {
  auto store = Make("local");
  COOPER_ASSERT_OK(store->Init("w", Row({1, 2})));
  EXPECT_FALSE(store->SaveOptimizerStates(testing::TempDir() + "none").ok());
  COOPER_ASSERT_OK_AND_ASSIGN(
      auto optimizer, CreateOptimizer("sgd", {{"learning_rate", "0.5"}, {"momentum", "0.5"}}));
  COOPER_ASSERT_OK(store->SetOptimizer(std::move(optimizer)));
  COOPER_ASSERT_OK(store->Push("w", {Row({1, 0}), Row({1, 2})}));
  EXPECT_THAT(Pulled(*store, "w", 2), ElementsAre(0, 1));  // - 0.5 * 2
  const std::string path = testing::TempDir() + "kv.states";
  COOPER_ASSERT_OK(store->SaveOptimizerStates(path));
  COOPER_ASSERT_OK(store->Push("w", {Row({0, 0})}));
  EXPECT_THAT(Pulled(*store, "w", 2), ElementsAre(-0.5, 0.5));  // momentum -1, halved
  COOPER_ASSERT_OK(store->LoadOptimizerStates(path));
  COOPER_ASSERT_OK(store->Push("w", {Row({0, 0})}));
  EXPECT_THAT(Pulled(*store, "w", 2), ElementsAre(-1, 0));
}

// MXNet 1.9.1 gives the same result (golden case module/kvstore_local).
TEST(KVStoreTest, ASumThatWasPushedBeforeTheOptimizerIsReplacedBeforeUpdates) {
  auto store = Make("local");
  COOPER_ASSERT_OK(store->Init("w", Row({1})));
  COOPER_ASSERT_OK(store->Push("w", {Row({3}), Row({4})}));
  COOPER_ASSERT_OK_AND_ASSIGN(auto optimizer, CreateOptimizer("sgd", {{"learning_rate", "0.5"}}));
  COOPER_ASSERT_OK(store->SetOptimizer(std::move(optimizer)));
  COOPER_ASSERT_OK(store->Push("w", {Row({1}), Row({1})}));
  EXPECT_THAT(Pulled(*store, "w", 1), ElementsAre(1));  // 2 - 0.5 * 2
  COOPER_ASSERT_OK(store->Set("w", Row({5})));
  COOPER_ASSERT_OK(store->Push("w", {Row({1}), Row({1})}));
  EXPECT_THAT(Pulled(*store, "w", 1), ElementsAre(4));
}

TEST(KVStoreTest, ErrorsNameTheKey) {
  auto store = Make("local");
  EXPECT_THAT(store->Push("w", {Row({1})}),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("'w'")));
  COOPER_ASSERT_OK(store->Init("w", Row({1, 2})));
  EXPECT_THAT(store->Init("w", Row({1, 2})),
              StatusIs(absl::StatusCode::kAlreadyExists, HasSubstr("'w'")));
  EXPECT_THAT(store->Push("w", {Row({1, 2}), Row({1, 2, 3})}),
              StatusIs(kInvalidArgument, HasSubstr("(3,) float32")));
  EXPECT_THAT(store->Push("w", {}), StatusIs(kInvalidArgument, HasSubstr("'w'")));
  EXPECT_THAT(store->Pull("w", {*NDArray::Zeros({2}, DType::kFloat64)}),
              StatusIs(kInvalidArgument, HasSubstr("float64")));
  EXPECT_THAT(Pulled(*store, "w", 2), ElementsAre(1, 2));

  auto compressed = Make("device");
  COOPER_ASSERT_OK(compressed->SetGradientCompression({{"type", "2bit"}}));
  const NDArray wide = *NDArray::Zeros({2}, DType::kFloat64);
  COOPER_ASSERT_OK(compressed->Init("wide", wide));
  EXPECT_THAT(compressed->Push("wide", {wide}),
              StatusIs(kInvalidArgument, AllOf(HasSubstr("'wide'"), HasSubstr("float64"))));
  COOPER_ASSERT_OK(compressed->Init("w", Row({1, 2})));
  COOPER_ASSERT_OK(compressed->SetState({{"w:0", Row({1})}}));
  EXPECT_THAT(compressed->Push("w", {Row({1, 2})}),
              StatusIs(kInvalidArgument, HasSubstr("'w': the residual is (1,) float32")));
}

TEST(KVStoreTest, AStepTellsThatAStopWasAskedFor) {
  for (const char* type : {"local", "device"}) {
    auto store = Make(type);
    store->RequestStop(StopReason::kCallback);
    EXPECT_EQ(store->stop_reason(), StopReason::kNone) << type;
    COOPER_ASSERT_OK(store->Step({}, /*active=*/true).status());
    EXPECT_EQ(store->stop_reason(), StopReason::kCallback) << type;
    store->ResetStop();
    COOPER_ASSERT_OK(store->Step({}, /*active=*/true).status());
    EXPECT_EQ(store->stop_reason(), StopReason::kNone) << type;
  }
}

TEST(KVStoreTest, UnknownTypesAndParametersAreRefused) {
  EXPECT_THAT(CreateKVStore("nccl2"),
              StatusIs(kInvalidArgument, HasSubstr("linked are device, local")));
  EXPECT_THAT(Make("local")->SetGradientCompression({{"type", "2bit"}}),
              StatusIs(kInvalidArgument, HasSubstr("use 'device'")));
  auto store = Make("device");
  EXPECT_THAT(store->SetGradientCompression({{"type", "1bit"}}),
              StatusIs(kInvalidArgument, HasSubstr("'1bit', expected '2bit'")));
  EXPECT_THAT(store->SetGradientCompression({{"threshold", "1"}}),
              StatusIs(kInvalidArgument, HasSubstr("type is missing")));
  for (const char* threshold : {"0", "-1", "nan", "x", ""}) {
    EXPECT_THAT(store->SetGradientCompression({{"type", "2bit"}, {"threshold", threshold}}),
                StatusIs(kInvalidArgument, HasSubstr("expected a positive number")));
  }
  EXPECT_THAT(store->SetGradientCompression({{"type", "2bit"}, {"thresh", "1"}}),
              StatusIs(kInvalidArgument, HasSubstr("'thresh'")));
}

TEST(KVStoreTest, CompressionKeepsWhatItDidNotSend) {
  auto store = Make("device");
  COOPER_ASSERT_OK(store->SetGradientCompression({{"type", "2bit"}, {"threshold", "0.5"}}));
  COOPER_ASSERT_OK(store->Init("w", Row({0, 0, 0})));
  const NDArray quiet = Row({0, 0, 0});
  COOPER_ASSERT_OK(store->Push("w", {Row({0.4f, 0.5f, -3}), quiet}));
  EXPECT_THAT(Pulled(*store, "w", 3), ElementsAre(0, 0.5, -0.5));
  // The residuals of the first device are 0.4, 0 and -2.5.
  COOPER_ASSERT_OK(store->Push("w", {quiet, Row({0.4f, 0, 0})}));
  EXPECT_THAT(Pulled(*store, "w", 3), ElementsAre(0, 0, -0.5));
  COOPER_ASSERT_OK(store->Push("w", {Row({0.2f, 0, 0}), quiet}));
  EXPECT_THAT(Pulled(*store, "w", 3), ElementsAre(0.5, 0, -0.5));
}

TEST(KVStoreTest, CompressionMovesASixteenthOfTheBytes) {
  auto store = Make("device");
  COOPER_ASSERT_OK(store->SetGradientCompression({{"type", "2bit"}}));
  COOPER_ASSERT_OK(store->Init("w", *NDArray::Zeros({1000, 33})));
  const NDArray gradient = *NDArray::Full({1000, 33}, 0.3);
  COOPER_ASSERT_OK(store->Push("w", {gradient, gradient}));
  const KVStore::Traffic traffic = store->traffic();
  EXPECT_EQ(traffic.uncompressed_bytes, 2 * 1000 * 33 * 4);
  EXPECT_LE(traffic.bytes * 15, traffic.uncompressed_bytes);
}

// The sent values and the residual add up to all gradients.
TEST(GradientCompressionTest, NothingIsLost) {
  const GradientCompression compression{.threshold = 0.25f};
  RandomGenerator random(5);
  for (int64_t n : {1, 15, 16, 17, 1000}) {
    std::vector<float> residual(n), sent(n);
    std::vector<double> total(n);
    std::vector<uint32_t> words(GradientCompression::NumWords(n));
    for (int step = 0; step < 50; ++step) {
      std::vector<float> gradient(n);
      for (float& g : gradient) g = static_cast<float>(random.NextNormal() * 0.1);
      compression.Compress(gradient, absl::MakeSpan(residual), absl::MakeSpan(words));
      compression.AddTo(words, absl::MakeSpan(sent));
      for (int64_t i = 0; i < n; ++i) total[i] += gradient[i];
    }
    for (int64_t i = 0; i < n; ++i) {
      EXPECT_NEAR(sent[i] + residual[i], total[i], 1e-5);
      EXPECT_EQ(std::fmod(sent[i], 0.25f), 0) << sent[i];
    }
  }
}

}  // namespace
}  // namespace cooper
