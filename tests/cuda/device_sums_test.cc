// Gradients on several GPUs: sums, buckets and steps of a key-value store, which the host puts in
// without waiting for any of them. Under the emulator work runs only when something waits for it.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cuda_runtime.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "module/kvstore/collective.h"
#include "module/kvstore/gradient_buckets.h"
#include "module/kvstore/kvstore.h"
#include "module/kvstore/queued_copies.h"
#include "module/optimizer/create_optimizer.h"
#include "ndarray/context.h"
#include "ndarray/cuda/device_scope.h"
#include "ndarray/cuda/require_gpu.h"
#include "ndarray/device.h"
#include "ndarray/ndarray.h"
#include "ndarray/queue_of.h"
#include "ndarray/random.h"
#include "ndarray/status_matchers.h"

namespace cooper {
namespace {

COOPER_EMULATE(DEVICES, "3");
COOPER_EMULATE(LAZY, "1");

using ::testing::Each;

const std::vector<Context> kGpus = {Context::Gpu(0), Context::Gpu(1), Context::Gpu(2)};

std::vector<float> Of(const NDArray& array) { return *array.ToVector<float>(); }

// Work in the queue of each GPU that has not run as long as nobody has waited: under the emulator
// alone, where it does not run by itself.
class Unwaited {
 public:
  Unwaited() {
    for (const Context& gpu : kGpus) {
      arrays_.push_back(*NDArray::Zeros({1}, DType::kFloat32, gpu));
      const CudaDeviceScope scope(gpu.device_id);
      DeviceQueue& queue = **QueueOf(gpu);
      COOPER_EXPECT_OK(queue.Synchronize());
      COOPER_EXPECT_OK(
          queue.Copy(arrays_.back().raw_data(), gpu, arrays_.back().raw_data(), gpu, 4));
      EXPECT_EQ(cudaEventCreate(&events_.emplace_back()), cudaSuccess);
      EXPECT_EQ(cudaEventRecord(events_.back(), static_cast<cudaStream_t>(queue.handle())),
                cudaSuccess);
    }
  }
  ~Unwaited() {
    for (cudaEvent_t event : events_) cudaEventDestroy(event);
  }
  Unwaited(const Unwaited&) = delete;
  Unwaited& operator=(const Unwaited&) = delete;

  bool holds() const {
    cudaDeviceProp properties;
    if (cudaGetDeviceProperties(&properties, 0) != cudaSuccess) return false;
    if (std::string(properties.name).find("emulator") == std::string::npos) return true;
    bool holds = true;
    for (cudaEvent_t event : events_) {
      holds = holds && cudaEventQuery(event) == cudaErrorNotReady;
      cudaGetLastError();
    }
    return holds;
  }

 private:
  std::vector<NDArray> arrays_;
  std::vector<cudaEvent_t> events_;
};

// Of each key, an array on each GPU.
std::vector<DeviceGradient> Gradients(const std::vector<int64_t>& sizes, uint64_t seed) {
  RandomGenerator random(seed);
  std::vector<DeviceGradient> gradients;
  for (size_t k = 0; k < sizes.size(); ++k) {
    DeviceGradient& gradient = gradients.emplace_back();
    gradient.key = "g" + std::to_string(k);
    for (const Context& gpu : kGpus) {
      std::vector<float> values(static_cast<size_t>(sizes[k]));
      for (float& value : values) value = static_cast<float>(random.NextNormal());
      gradient.arrays.push_back(*NDArray::FromVector<float>({sizes[k]}, values)->CopyTo(gpu));
    }
  }
  return gradients;
}

// In the order of devices, in float32.
std::vector<float> SumOf(const std::vector<NDArray>& arrays) {
  std::vector<float> sum = Of(arrays[0]);
  for (size_t i = 1; i < arrays.size(); ++i) {
    const std::vector<float> more = Of(arrays[i]);
    for (size_t k = 0; k < sum.size(); ++k) sum[k] += more[k];
  }
  return sum;
}

TEST(DeviceSumsTest, ACollectiveSumsWithoutWaiting) {
  COOPER_REQUIRE_GPUS(3);
  COOPER_ASSERT_OK_AND_ASSIGN(const auto collective, MakeCollective(kGpus, nullptr));
  std::vector<DeviceQueue*> queues;
  for (const Context& gpu : kGpus) queues.push_back(*QueueOf(gpu));
  std::vector<std::vector<float>> expected;
  // Smaller ones later: what the first device needs for the copies is there.
  const std::vector<DeviceGradient> gradients = Gradients({1000, 10, 1000, 1}, 1);
  for (const DeviceGradient& gradient : gradients) expected.push_back(SumOf(gradient.arrays));
  COOPER_ASSERT_OK(collective->AllReduceSum(gradients[0].arrays, gradients[0].arrays, queues));
  const Unwaited unwaited;
  for (size_t k = 1; k < gradients.size(); ++k) {
    COOPER_ASSERT_OK(collective->AllReduceSum(gradients[k].arrays, gradients[k].arrays, queues));
  }
  EXPECT_TRUE(unwaited.holds());
  for (size_t k = 0; k < gradients.size(); ++k) {
    for (const NDArray& array : gradients[k].arrays) EXPECT_EQ(Of(array), expected[k]) << k;
  }
}

// What a queue holds comes before the sum, and what is put into it later comes after.
TEST(DeviceSumsTest, SumsStandInTheOrderOfTheQueues) {
  COOPER_REQUIRE_GPUS(3);
  COOPER_ASSERT_OK_AND_ASSIGN(const auto collective, MakeCollective(kGpus, nullptr));
  std::vector<std::unique_ptr<DeviceQueue>> owned;
  std::vector<DeviceQueue*> queues;
  std::vector<NDArray> ones, arrays, sums, after;
  for (const Context& gpu : kGpus) {
    owned.push_back(*(*FindDevice(gpu))->MakeQueue(gpu.device_id));
    queues.push_back(owned.back().get());
    ones.push_back(*NDArray::Full({100}, 1, DType::kFloat32, gpu));
    for (auto* list : {&arrays, &sums, &after}) {
      list->push_back(*NDArray::Full({100}, -1, DType::kFloat32, gpu));
    }
  }
  for (size_t i = 0; i < kGpus.size(); ++i) {
    COOPER_ASSERT_OK(
        queues[i]->Copy(arrays[i].raw_data(), kGpus[i], ones[i].raw_data(), kGpus[i], 400));
  }
  COOPER_ASSERT_OK(collective->AllReduceSum(arrays, sums, queues));
  for (size_t i = kGpus.size(); i-- > 0;) {
    COOPER_ASSERT_OK(
        queues[i]->Copy(after[i].raw_data(), kGpus[i], sums[i].raw_data(), kGpus[i], 400));
    // Overwrites what the sum has read, and what it has left.
    for (const auto* list : {&arrays, &sums}) {
      COOPER_ASSERT_OK(
          queues[i]->Copy((*list)[i].raw_data(), kGpus[i], ones[i].raw_data(), kGpus[i], 400));
    }
  }
  for (const NDArray& sum : sums) EXPECT_THAT(Of(sum), Each(1));
  for (const NDArray& array : after) EXPECT_THAT(Of(array), Each(3));
}

TEST(DeviceSumsTest, BucketsSumAsSingleArrays) {
  COOPER_REQUIRE_GPUS(3);
  const std::vector<int64_t> sizes = {300, 1, 77, 500, 4};
  for (const int64_t bytes : {4, 400, 1 << 20}) {
    GradientBuckets buckets(*MakeCollective(kGpus, nullptr), bytes);
    for (uint64_t step = 0; step < 4; ++step) {
      SCOPED_TRACE(testing::Message() << bytes << " bytes, step " << step);
      const std::vector<DeviceGradient> gradients = Gradients(sizes, step);
      const Unwaited unwaited;
      COOPER_ASSERT_OK(buckets.Begin(gradients));
      // Some devices tell of some; the rest is summed at the end.
      for (size_t k = sizes.size(); k-- > step;) {
        for (int device = 0; device < 3; ++device) {
          COOPER_ASSERT_OK(buckets.Ready(gradients[k].key, device, **QueueOf(kGpus[device])));
        }
      }
      COOPER_ASSERT_OK(buckets.Finish());
      // What comes later in a device's own queue finds the sums.
      std::vector<std::vector<NDArray>> later(sizes.size());
      for (size_t k = 0; k < sizes.size(); ++k) {
        for (size_t i = 0; i < kGpus.size(); ++i) {
          const NDArray& sum = buckets.sums(k)[i];
          later[k].push_back(*NDArray::Empty(sum.shape(), sum.dtype(), kGpus[i]));
          COOPER_ASSERT_OK((*QueueOf(kGpus[i]))
                               ->Copy(later[k][i].raw_data(), kGpus[i], sum.raw_data(), kGpus[i],
                                      sum.size_bytes()));
        }
      }
      EXPECT_TRUE(step == 0 || unwaited.holds()) << "but for the first memory";
      for (const Context& gpu : kGpus) COOPER_ASSERT_OK((*QueueOf(gpu))->Synchronize());
      for (size_t k = 0; k < sizes.size(); ++k) {
        for (const NDArray& sum : later[k]) EXPECT_EQ(Of(sum), SumOf(gradients[k].arrays)) << k;
      }
    }
  }
}

TEST(DeviceSumsTest, AStepOfAStoreWaitsForNothing) {
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
      COOPER_ASSERT_OK(store->InitAll(items));  // the first GPU's values are those of all
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

TEST(DeviceSumsTest, WhatWasBegunAndNotUsedIsForgotten) {
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
  EXPECT_THAT(store->BeginGradients({item}), IsOkAndHolds(false)) << "it has no value yet";
  COOPER_ASSERT_OK(store->InitAll({item}));
  const auto tell = [&] {
    for (int device = 0; device < 3; ++device) {
      COOPER_ASSERT_OK(store->GradientReady("w", device, **QueueOf(kGpus[device])));
    }
  };
  EXPECT_THAT(store->BeginGradients({item}), IsOkAndHolds(true));
  tell();
  COOPER_ASSERT_OK(store->BeginGradients({}).status());
  for (const NDArray& grad : item.grads) COOPER_ASSERT_OK(grad.Fill(2));
  tell();  // of nothing that was begun
  COOPER_ASSERT_OK(store->Step({item}, /*active=*/true).status());
  EXPECT_THAT(Of(item.weights[2]), Each(-6));
  // And where it is used, it is what there was when it was told.
  EXPECT_THAT(store->BeginGradients({item}), IsOkAndHolds(true));
  tell();
  COOPER_ASSERT_OK(store->Step({item}, /*active=*/true).status());
  EXPECT_THAT(Of(item.weights[1]), Each(-12));
  COOPER_ASSERT_OK(store->SetBuckets({.overlap = false}));
  EXPECT_THAT(store->BeginGradients({item}), IsOkAndHolds(false));
  EXPECT_THAT(store->SetBuckets({.bytes = 0}),
              StatusIs(absl::StatusCode::kInvalidArgument, testing::HasSubstr("0 bytes")));
}

TEST(DeviceSumsTest, QueuedCopiesStandBetweenReadersAndWriters) {
  COOPER_REQUIRE_GPUS(3);
  const Context a = Context::Gpu(0), b = Context::Gpu(1);
  const auto full = [](double value, Context context) {
    return *NDArray::Full({50}, value, DType::kFloat32, context);
  };
  const NDArray source = full(1, a), target = full(2, b), other = full(3, a);
  const NDArray on_cpu = full(4, Context::Cpu()), same = full(5, b);
  {
    const Unwaited unwaited;
    COOPER_ASSERT_OK((*QueueOf(a))->Copy(source.raw_data(), a, other.raw_data(), a, 200));
    COOPER_ASSERT_OK(CopyInQueues({{source, target}, {same, same}}));
    // Overwrites what is still to be read.
    const NDArray later = full(6, a);
    COOPER_ASSERT_OK((*QueueOf(a))->Copy(source.raw_data(), a, later.raw_data(), a, 200));
    EXPECT_TRUE(unwaited.holds());
    EXPECT_THAT(Of(source), Each(6)) << "runs what it waits for";
  }
  EXPECT_THAT(Of(target), Each(3));
  COOPER_ASSERT_OK(CopyInQueues({{target, on_cpu}}));
  EXPECT_THAT(Of(on_cpu), Each(3));
  EXPECT_THAT(CopyInQueues({{target, *NDArray::Zeros({2}, DType::kFloat32, a)}}),
              StatusIs(absl::StatusCode::kInvalidArgument, testing::HasSubstr("(50,)")));
}

}  // namespace
}  // namespace cooper
