// Tests steps of a key-value store on several GPUs. The host queues them without waiting. Under the
// emulator, work runs only when something waits for it.

#include <cstdint>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "module/kvstore/gradient_buckets.h"
#include "module/kvstore/kvstore.h"
#include "module/optimizer/create_optimizer.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/array/queue_of.h"
#include "ndarray/base/context.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/cuda/require_gpu.h"
#include "tests/cuda/device_gradients.h"

namespace cooper {
namespace {

COOPER_EMULATE(DEVICES, "3");
COOPER_EMULATE(LAZY, "1");

using ::testing::Each;

// Returns whether the sums of `items` may begin during the backward pass.
bool Overlaps(KVStore& store, const std::vector<KVItem>& items) {
  const auto ready = store.BeginGradients(items);
  EXPECT_TRUE(ready.ok()) << ready.status();
  return *ready != nullptr;
}

TEST(DeviceStoreTest, AStepOfAStoreWaitsForNothing) {
  COOPER_REQUIRE_GPUS(3);
  const std::vector<int64_t> sizes = {30, 5, 200};
  for (const bool updates : {true, false}) {
    SCOPED_TRACE(updates ? "updates" : "sums");
    COOPER_ASSERT_OK_AND_ASSIGN(const auto store, CreateKVStore("device"));
    COOPER_ASSERT_OK(store->SetBuckets({.bytes = 150}));
    if (updates) {
      COOPER_ASSERT_OK_AND_ASSIGN(auto optimizer,
                                  CreateOptimizer("sgd", {{"learning_rate", "0.5"}}));
      COOPER_ASSERT_OK(store->SetOptimizer(std::move(optimizer)));
    }
    std::vector<KVItem> items;
    for (const DeviceGradient& weights : Gradients(sizes, 7)) {
      KVItem& item = items.emplace_back();
      item.key = weights.key;
      item.weights = weights.arrays;
    }
    for (uint64_t step = 0; step < 3; ++step) {
      const std::vector<DeviceGradient> gradients = Gradients(sizes, step);
      std::vector<std::vector<float>> expected;
      COOPER_ASSERT_OK(store->InitAll(items));  // the first GPU's values are copied to all
      for (size_t k = 0; k < sizes.size(); ++k) {
        items[k].grads = gradients[k].arrays;
        items[k].outs = updates ? items[k].weights : items[k].grads;
        expected.push_back(SumOf(items[k].grads));
        const std::vector<float> weight = Of(items[k].weights[0]);
        for (size_t e = 0; e < weight.size() && updates; ++e) {
          expected.back()[e] = weight[e] - 0.5F * expected.back()[e];
        }
      }
      const Unwaited unwaited;
      COOPER_ASSERT_OK(store->Step(items, /*active=*/true));
      EXPECT_TRUE(step == 0 || unwaited.holds());
      for (size_t k = 0; k < sizes.size(); ++k) {
        for (const NDArray& out : items[k].outs) {
          EXPECT_THAT(Of(out), testing::Pointwise(testing::FloatNear(1e-6F), expected[k]));
          EXPECT_EQ(Of(out), Of(items[k].outs[0])) << "the same bits on all";
        }
      }
    }
    EXPECT_EQ(store->traffic().bytes, 3 * 3 * (30 + 5 + 200) * 4);
  }
}

TEST(DeviceStoreTest, ParametersOfAnyFloatsStayOnTheGpus) {
  COOPER_REQUIRE_GPUS(3);
  for (const DType dtype : {DType::kFloat16, DType::kBfloat16, DType::kFloat64}) {
    for (const char* multi_precision : {"False", "True"}) {
      SCOPED_TRACE(testing::Message() << DTypeName(dtype) << " " << multi_precision);
      COOPER_ASSERT_OK_AND_ASSIGN(const auto store, CreateKVStore("device"));
      COOPER_ASSERT_OK_AND_ASSIGN(
          auto optimizer,
          CreateOptimizer("sgd", {{"learning_rate", "1"}, {"multi_precision", multi_precision}}));
      COOPER_ASSERT_OK(store->SetOptimizer(std::move(optimizer)));
      KVItem item{.key = "w", .weights = {}, .grads = {}, .outs = {}};
      for (const Context& gpu : kGpus) {
        item.weights.push_back(*NDArray::Full({9}, 1, dtype, gpu));
        item.grads.push_back(*NDArray::Full({9}, 0.5, dtype, gpu));
      }
      item.outs = item.weights;
      COOPER_ASSERT_OK(store->InitAll({item}));
      EXPECT_TRUE(Overlaps(*store, {item}));
      COOPER_ASSERT_OK(store->Step({item}, /*active=*/true).status());
      for (const NDArray& weight : item.weights) EXPECT_THAT(Of(weight), Each(-0.5));
    }
  }
}

TEST(DeviceStoreTest, WhatWasBegunAndNotUsedIsForgotten) {
  COOPER_REQUIRE_GPUS(3);
  COOPER_ASSERT_OK_AND_ASSIGN(const auto store, CreateKVStore("device"));
  COOPER_ASSERT_OK_AND_ASSIGN(auto optimizer, CreateOptimizer("sgd", {{"learning_rate", "1"}}));
  COOPER_ASSERT_OK(store->SetOptimizer(std::move(optimizer)));
  const auto on_all = [](double value) {
    std::vector<NDArray> arrays;
    for (const Context& gpu : kGpus) {
      arrays.push_back(*NDArray::Full({9}, value, DType::kFloat32, gpu));
    }
    return arrays;
  };
  KVItem item{.key = "w", .weights = on_all(0), .grads = on_all(1), .outs = {}};
  item.outs = item.weights;
  EXPECT_FALSE(Overlaps(*store, {item})) << "it has no value yet";
  COOPER_ASSERT_OK(store->InitAll({item}));
  COOPER_ASSERT_OK_AND_ASSIGN(KVStore::GradientReady ready, store->BeginGradients({item}));
  const auto report = [&] {
    for (int device = 0; device < 3; ++device) {
      COOPER_ASSERT_OK(ready("w", device, **GetQueue(kGpus[device])));
    }
  };
  report();
  EXPECT_FALSE(Overlaps(*store, {}));
  for (const NDArray& grad : item.grads) COOPER_ASSERT_OK(grad.Fill(2));
  report();  // no gradients have begun
  COOPER_ASSERT_OK(store->Step({item}, /*active=*/true).status());
  EXPECT_THAT(Of(item.weights[2]), Each(-6));
  // The gradients are used with the values that they had when they were reported.
  COOPER_ASSERT_OK_AND_ASSIGN(ready, store->BeginGradients({item}));
  report();
  COOPER_ASSERT_OK(store->Step({item}, /*active=*/true).status());
  EXPECT_THAT(Of(item.weights[1]), Each(-12));
  COOPER_ASSERT_OK(store->SetBuckets({.overlap = false}));
  EXPECT_FALSE(Overlaps(*store, {item}));
  EXPECT_THAT(store->SetBuckets({.bytes = 0}),
              StatusIs(absl::StatusCode::kInvalidArgument, testing::HasSubstr("0 bytes")));
}

}  // namespace
}  // namespace cooper
