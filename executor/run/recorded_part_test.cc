// Tests when a part of a program is recorded, and when the recording is launched.

#include "executor/run/recorded_part.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/array/device.h"
#include "ndarray/array/device_graphs.h"
#include "ndarray/array/recording_queue.h"
#include "ndarray/base/context.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;

// A queue that logs the calls of its functions.
class FakeQueue : public RecordingQueue {
 public:
  void* handle() const override { return nullptr; }
  absl::Status WaitFor(DeviceQueue&) override { return absl::OkStatus(); }
  absl::Status Copy(void*, Context, const void*, Context, int64_t) override {
    log.push_back("copy");
    return absl::OkStatus();
  }
  absl::Status Synchronize() override { return absl::OkStatus(); }
  absl::StatusOr<std::unique_ptr<DeviceGraph>> Record(
      RecordedRandom* random, absl::FunctionRef<absl::Status(DeviceQueue&)> enqueue) override {
    log.push_back("record");
    if (!can_be_recorded) return absl::FailedPreconditionError("it waits");
    EXPECT_NE(random->words, nullptr);
    random->drawn = draws;
    const absl::Status status = enqueue(*this);
    if (!status.ok()) return status;
    return std::make_unique<DeviceGraph>();
  }
  absl::Status SetWords(uint64_t* words, uint64_t seed, uint64_t stream) override {
    EXPECT_NE(words, nullptr);
    log.push_back(absl::StrCat("random ", seed, " ", stream));
    return absl::OkStatus();
  }
  absl::Status EnqueueFn(const DeviceGraph&) override {
    log.push_back("graph");
    return absl::OkStatus();
  }

  bool can_be_recorded = true;
  bool draws = false;
  std::vector<std::string> log;
};

class RecordedPartTest : public testing::Test {
 protected:
  // Runs the part once and returns the calls of the queue's functions.
  std::vector<std::string> Run(int64_t pointers, RunRandom random = {}) {
    queue_.log.clear();
    COOPER_EXPECT_OK(
        part_.Run(queue_, Context::Cpu(), pointers, random, [&](DeviceQueue& queue, bool recorded) {
          EXPECT_EQ(&queue, &queue_);
          queue_.log.push_back(recorded ? "recorded" : "kernels");
          return absl::OkStatus();
        }));
    return queue_.log;
  }

  FakeQueue queue_;
  RecordedPart part_;
};

TEST_F(RecordedPartTest, TheSecondRunIsRecorded) {
  EXPECT_THAT(Run(7), ElementsAre("kernels"));
  EXPECT_FALSE(part_.is_recorded());
  EXPECT_THAT(Run(7), ElementsAre("record", "recorded", "graph"));
  EXPECT_TRUE(part_.is_recorded());
  EXPECT_THAT(Run(7), ElementsAre("graph"));
}

TEST_F(RecordedPartTest, OtherPointersNeedAnotherRecording) {
  for (int i = 0; i < 3; ++i) Run(7);
  EXPECT_THAT(Run(8), ElementsAre("kernels"));
  EXPECT_FALSE(part_.is_recorded());
  EXPECT_THAT(Run(8), ElementsAre("record", "recorded", "graph"));
  for (int pointers = 9; pointers < 12; ++pointers) {
    EXPECT_THAT(Run(pointers), ElementsAre("kernels")) << "recordings would be of no use";
  }
}

TEST_F(RecordedPartTest, RandomNumbersAreThoseOfTheRun) {
  queue_.draws = true;
  Run(7, {.seed = 1, .stream = 10});
  EXPECT_THAT(Run(7, {.seed = 1, .stream = 20}),
              ElementsAre("record", "recorded", "random 1 20", "graph"));
  EXPECT_THAT(Run(7, {.seed = 2, .stream = 30}), ElementsAre("random 2 30", "graph"));
}

TEST_F(RecordedPartTest, WhatCannotBeRecordedIsTriedOncePerSetOfArrays) {
  queue_.can_be_recorded = false;
  Run(7);
  EXPECT_THAT(Run(7), ElementsAre("record", "kernels"));
  EXPECT_THAT(Run(7), ElementsAre("kernels"));
  // Recording is tried again for other arrays.
  EXPECT_THAT(Run(8), ElementsAre("kernels"));
  queue_.can_be_recorded = true;
  EXPECT_THAT(Run(8), ElementsAre("record", "recorded", "graph"));
}

TEST_F(RecordedPartTest, AKernelsErrorIsThatOfTheRun) {
  Run(7);
  EXPECT_THAT(part_.Run(queue_, Context::Cpu(), 7, {},
                        [](DeviceQueue&, bool) { return absl::OutOfRangeError("a bad index"); }),
              StatusIs(absl::StatusCode::kOutOfRange, "a bad index"));
}

TEST_F(RecordedPartTest, CanBeTurnedOff) {
  for (int i = 0; i < 3; ++i) Run(7);
  SetDeviceGraphs(false);
  EXPECT_THAT(Run(7), ElementsAre("kernels"));
  SetDeviceGraphs(true);
  EXPECT_THAT(Run(7), ElementsAre("graph"));
}

}  // namespace
}  // namespace cooper
