// Tests queues of a GPU: one per device, and recordings.

#include "ndarray/cuda/cuda_queue.h"

#include <memory>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/array/device.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/array/queue_of.h"
#include "ndarray/array/recording_queue.h"
#include "ndarray/base/context.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/cuda/require_gpu.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Context kGpu = Context::Gpu(0);

TEST(QueueOfTest, EachContextHasOne) {
  COOPER_ASSERT_OK_AND_ASSIGN(DeviceQueue * cpu, GetQueue(Context::Cpu()));
  EXPECT_THAT(GetQueue(Context::Cpu()), IsOkAndHolds(cpu));
  EXPECT_EQ(AsRecording(cpu), nullptr);
  EXPECT_THAT(GetQueue(Context::Gpu(1 << 20)),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("such devices")));
  COOPER_REQUIRE_GPU();
  COOPER_ASSERT_OK_AND_ASSIGN(DeviceQueue * gpu, GetQueue(kGpu));
  EXPECT_NE(AsRecording(gpu), nullptr);
  EXPECT_THAT(GetQueue(kGpu), IsOkAndHolds(gpu));
}

class RecordingTest : public testing::Test {
 protected:
  void SetUp() override {
    COOPER_REQUIRE_GPU();
    COOPER_ASSERT_OK_AND_ASSIGN(queue_, CudaQueue::Create(0));
    COOPER_ASSERT_OK_AND_ASSIGN(from_, NDArray::Full({2}, 1, DType::kFloat32, kGpu));
    COOPER_ASSERT_OK_AND_ASSIGN(to_, NDArray::Full({2}, 0, DType::kFloat32, kGpu));
  }

  absl::Status CopyIn(DeviceQueue& queue) const {
    return queue.Copy(to_.raw_data(), kGpu, from_.raw_data(), kGpu, 8);
  }

  std::unique_ptr<CudaQueue> queue_;
  RecordedRandom random_;
  NDArray from_, to_;
};

TEST_F(RecordingTest, RunsAsOftenAsItIsPutIn) {
  COOPER_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<DeviceGraph> graph,
                              queue_->Record(&random_, [&](DeviceQueue& queue) {
                                EXPECT_EQ(AsRecording(&queue)->recorded_random(), &random_);
                                return CopyIn(queue);
                              }));
  EXPECT_EQ(queue_->recorded_random(), nullptr);
  EXPECT_THAT(to_.ToVector<float>(), IsOkAndHolds(ElementsAre(0, 0))) << "nothing has run";
  for (float value : {2, 3}) {
    COOPER_ASSERT_OK(from_.Fill(value));
    COOPER_ASSERT_OK(queue_->EnqueueFn(*graph));
    EXPECT_THAT(to_.ToVector<float>(), IsOkAndHolds(ElementsAre(value, value)));
  }
}

TEST_F(RecordingTest, WhatWaitsCannotBeRecorded) {
  EXPECT_THAT(queue_->Record(&random_,
                             [&](DeviceQueue& queue) {
                               COOPER_EXPECT_OK(CopyIn(queue));
                               EXPECT_FALSE(queue.Synchronize().ok());
                               return absl::OkStatus();
                             }),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("cannot be recorded")));
  COOPER_ASSERT_OK(CopyIn(*queue_));
  EXPECT_THAT(to_.ToVector<float>(), IsOkAndHolds(ElementsAre(1, 1)));
}

TEST_F(RecordingTest, AnErrorOfWhoPutsInIsReturned) {
  EXPECT_THAT(queue_->Record(&random_,
                             [&](DeviceQueue& queue) {
                               COOPER_EXPECT_OK(CopyIn(queue));
                               return absl::OutOfRangeError("no more");
                             }),
              StatusIs(absl::StatusCode::kOutOfRange, HasSubstr("no more")));
  COOPER_ASSERT_OK(CopyIn(*queue_));
}

TEST_F(RecordingTest, OtherThreadsMayUseTheDevice) {
  NDArray other;
  COOPER_ASSERT_OK_AND_ASSIGN(
      const std::unique_ptr<DeviceGraph> graph, queue_->Record(&random_, [&](DeviceQueue& queue) {
        std::thread([&] {
          COOPER_ASSERT_OK_AND_ASSIGN(other, NDArray::Full({2}, 5, DType::kFloat32, kGpu));
          COOPER_EXPECT_OK(queue_->Copy(from_.raw_data(), kGpu, other.raw_data(), kGpu, 8));
          EXPECT_THAT(from_.ToVector<float>(), IsOkAndHolds(ElementsAre(5, 5)));
        }).join();
        return CopyIn(queue);
      }));
  COOPER_ASSERT_OK(queue_->EnqueueFn(*graph));
  EXPECT_THAT(to_.ToVector<float>(), IsOkAndHolds(ElementsAre(5, 5)));
}

}  // namespace
}  // namespace cooper
