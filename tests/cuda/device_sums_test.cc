// Tests sums and buckets of gradients on several GPUs. The host queues them without waiting. Under
// the emulator, work runs only when something waits for it.

#include <cstdint>
#include <memory>
#include <vector>

#include "cuda_runtime.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "module/kvstore/collective.h"
#include "module/kvstore/gradient_buckets.h"
#include "module/kvstore/queued_copies.h"
#include "ndarray/array/device.h"
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

TEST(DeviceSumsTest, ACollectiveSumsWithoutWaiting) {
  COOPER_REQUIRE_GPUS(3);
  COOPER_ASSERT_OK_AND_ASSIGN(const auto collective, MakeCollective(kGpus, nullptr));
  std::vector<DeviceQueue*> queues;
  for (const Context& gpu : kGpus) queues.push_back(*GetQueue(gpu));
  std::vector<std::vector<float>> expected;
  // Later gradients are smaller, so the first device already has the memory for their copies.
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

// A separate queue for each GPU.
struct Queues {
  Queues() {
    for (const Context& gpu : kGpus) {
      owned.push_back(*(*FindDevice(gpu))->MakeQueue(gpu.device_id));
      all.push_back(owned.back().get());
    }
  }
  std::vector<std::unique_ptr<DeviceQueue>> owned;
  std::vector<DeviceQueue*> all;
};

TEST(DeviceSumsTest, TheSumGoesToOneDeviceWithoutWaitingForAnother) {
  COOPER_REQUIRE_GPUS(3);
  COOPER_ASSERT_OK_AND_ASSIGN(const auto collective, MakeCollective(kGpus, nullptr));
  const Queues queues;
  const DeviceGradient gradient = Gradients({100}, 1)[0];
  const std::vector<float> expected = SumOf(gradient.arrays);
  COOPER_ASSERT_OK(collective->AllReduceSum(gradient.arrays, gradient.arrays, queues.all));
  COOPER_ASSERT_OK(queues.all[2]->Synchronize());
  if (IsEmulated()) {
    EXPECT_EQ(cudaStreamQuery(static_cast<cudaStream_t>(queues.all[1]->handle())),
              cudaErrorNotReady);
    cudaGetLastError();
  }
  for (const NDArray& sum : gradient.arrays) EXPECT_EQ(Of(sum), expected);
}

void ExpectOrder(bool for_all) {
  COOPER_ASSERT_OK_AND_ASSIGN(const auto collective, MakeCollective(kGpus, nullptr));
  const Queues owned;
  const std::vector<DeviceQueue*>& queues = owned.all;
  std::vector<NDArray> ones, arrays, sums, after;
  for (const Context& gpu : kGpus) {
    ones.push_back(*NDArray::Full({100}, 1, DType::kFloat32, gpu));
    for (auto* list : {&arrays, &sums, &after}) {
      list->push_back(*NDArray::Full({100}, -1, DType::kFloat32, gpu));
    }
  }
  for (size_t i = 0; i < kGpus.size(); ++i) {
    COOPER_ASSERT_OK(
        queues[i]->Copy(arrays[i].raw_data(), kGpus[i], ones[i].raw_data(), kGpus[i], 400));
  }
  COOPER_ASSERT_OK(for_all ? collective->AllReduceSum(arrays, sums, queues)
                           : collective->ReduceSum(arrays, sums[0], queues));
  for (size_t i = kGpus.size(); i-- > 0;) {
    COOPER_ASSERT_OK(
        queues[i]->Copy(after[i].raw_data(), kGpus[i], sums[i].raw_data(), kGpus[i], 400));
    // Overwrites the arrays that the sum reads, and its results.
    for (const auto* list : {&arrays, &sums}) {
      COOPER_ASSERT_OK(
          queues[i]->Copy((*list)[i].raw_data(), kGpus[i], ones[i].raw_data(), kGpus[i], 400));
    }
  }
  for (const NDArray& sum : sums) EXPECT_THAT(Of(sum), Each(1));
  for (size_t i = 0; i < after.size(); ++i) {
    EXPECT_THAT(Of(after[i]), Each(for_all || i == 0 ? 3 : -1)) << "gpu(" << i << ")";
  }
}

// A sum runs after the work that is already in a queue and before the work that is queued later;
// for all devices and for the first one.
TEST(DeviceSumsTest, SumsStandInTheOrderOfTheQueues) {
  COOPER_REQUIRE_GPUS(3);
  for (const bool for_all : {true, false}) {
    SCOPED_TRACE(for_all);
    ExpectOrder(for_all);
  }
}

TEST(DeviceSumsTest, BucketsSumAsSingleArrays) {
  COOPER_REQUIRE_GPUS(3);
  const std::vector<int64_t> sizes = {300, 1, 77, 500, 4};
  for (const int64_t bytes : {4, 400, 1 << 20}) {
    GradientBuckets buckets(*MakeCollective(kGpus, nullptr), bytes);
    for (uint64_t step = 0; step < 4; ++step) {
      SCOPED_TRACE(testing::Message() << bytes << " bytes, step " << step);
      std::vector<DeviceGradient> gradients = Gradients(sizes, step);
      const std::vector<DeviceGradient> for_all = Gradients(sizes, step);
      gradients[1].sums = for_all[1].arrays;  // the others are for the first device
      const Unwaited unwaited;
      COOPER_ASSERT_OK(buckets.Begin(gradients));
      // Some devices report some gradients; the rest is summed at the end.
      for (size_t k = sizes.size(); k-- > step;) {
        for (int device = 0; device < 3; ++device) {
          COOPER_ASSERT_OK(buckets.Ready(gradients[k].key, device, **GetQueue(kGpus[device])));
        }
      }
      COOPER_ASSERT_OK(buckets.Finish());
      // Work that is queued later in a device's own queue reads the sums.
      std::vector<std::vector<NDArray>> later(sizes.size());
      for (size_t k = 0; k < sizes.size(); ++k) {
        for (size_t i = 0; i < buckets.sums(k).size(); ++i) {
          const NDArray& sum = buckets.sums(k)[i];
          later[k].push_back(*NDArray::Empty(sum.shape(), sum.dtype(), kGpus[i]));
          COOPER_ASSERT_OK((*GetQueue(kGpus[i]))
                               ->Copy(later[k][i].raw_data(), kGpus[i], sum.raw_data(), kGpus[i],
                                      sum.size_bytes()));
        }
      }
      EXPECT_TRUE(step == 0 || unwaited.holds()) << "but for the first memory";
      for (const Context& gpu : kGpus) COOPER_ASSERT_OK((*GetQueue(gpu))->Synchronize());
      for (size_t k = 0; k < sizes.size(); ++k) {
        EXPECT_EQ(later[k].size(), k == 1 ? kGpus.size() : 1u);
        for (const NDArray& sum : later[k]) EXPECT_EQ(Of(sum), SumOf(gradients[k].arrays)) << k;
      }
    }
  }
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
    COOPER_ASSERT_OK((*GetQueue(a))->Copy(source.raw_data(), a, other.raw_data(), a, 200));
    COOPER_ASSERT_OK(CopyInQueues({{source, target}, {same, same}}));
    // Overwrites an array that is still to be read.
    const NDArray later = full(6, a);
    COOPER_ASSERT_OK((*GetQueue(a))->Copy(source.raw_data(), a, later.raw_data(), a, 200));
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
