#include "executor/run/arena.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/array/device.h"
#include "ndarray/array/storage.h"
#include "ndarray/base/context.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

// A queue whose work runs at once, when it is enqueued.
class Queue final : public DeviceQueue {
 public:
  void* handle() const override { return nullptr; }
  absl::Status WaitFor(DeviceQueue& /*other*/) override { return absl::OkStatus(); }
  absl::Status Copy(void* /*dst*/, Context /*dst_context*/, const void* /*src*/,
                    Context /*src_context*/, int64_t /*bytes*/) override {
    return absl::UnimplementedError("");
  }
  absl::Status Synchronize() override { return absl::OkStatus(); }
};

// A device that counts the bytes of its allocations.
class CountingDevice final : public Device {
 public:
  int Count() const override { return 1; }
  absl::StatusOr<void*> Allocate(int /*device_id*/, int64_t bytes) override {
    if (used + bytes > limit) return absl::ResourceExhaustedError("no memory");
    used += bytes;
    peak = std::max(peak, used);
    return std::aligned_alloc(kStorageAlignment, static_cast<size_t>(bytes));
  }
  void Free(int /*device_id*/, void* data, int64_t bytes) override {
    used -= bytes;
    std::free(data);
  }
  absl::Status Copy(void* /*dst*/, Context /*dst_context*/, const void* /*src*/,
                    Context /*src_context*/, int64_t /*bytes*/) override {
    return absl::UnimplementedError("");
  }
  absl::Status FillZero(void* /*dst*/, Context /*context*/, int64_t /*bytes*/) override {
    return absl::UnimplementedError("");
  }
  absl::StatusOr<std::unique_ptr<DeviceQueue>> MakeQueue(int /*device_id*/) override {
    return std::make_unique<Queue>();
  }

  int64_t used = 0;
  int64_t peak = 0;
  int64_t limit = std::numeric_limits<int64_t>::max();
};

class User final : public ArenaUser {
 public:
  void OnArenaReused() override { ++lost; }
  int lost = 0;
};

constexpr int64_t kUnit = int64_t{2} << 20;  // larger than the blocks that pools keep

class ArenaTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    device_ = new CountingDevice;
    RegisterDevice(DeviceType::kGpu, device_);
  }
  void SetUp() override {
    ASSERT_EQ(device_->used, 0);
    device_->peak = 0;
    device_->limit = std::numeric_limits<int64_t>::max();
  }

  static CountingDevice* device_;
};

CountingDevice* ArenaTest::device_ = nullptr;

TEST_F(ArenaTest, GrowsWithoutASecondBlockWhereItHoldsNobodysValues) {
  Arena arena(Context::Gpu());
  for (int64_t units = 2; units <= 4; ++units) {
    const int64_t generation = arena.generation();
    COOPER_ASSERT_OK(arena.Reserve(units * kUnit));
    EXPECT_GT(arena.generation(), generation);
    EXPECT_EQ(device_->peak, units * kUnit);
  }
  const int64_t generation = arena.generation();
  COOPER_ASSERT_OK(arena.Reserve(kUnit));
  EXPECT_EQ(arena.generation(), generation);
  EXPECT_EQ(device_->used, 4 * kUnit);
}

// The arena keeps the block with the user's values and the latest, largest one. Blocks between the
// two are freed.
TEST_F(ArenaTest, KeepsTheBlockOfItsUserUntilTheNextRun) {
  Arena arena(Context::Gpu());
  User first, second;
  COOPER_ASSERT_OK(arena.Reserve(2 * kUnit));
  arena.Use(&first);
  COOPER_ASSERT_OK(arena.Reserve(3 * kUnit));
  EXPECT_EQ(device_->used, (2 + 3) * kUnit);
  COOPER_ASSERT_OK(arena.Reserve(4 * kUnit));
  EXPECT_EQ(device_->used, (2 + 4) * kUnit);
  EXPECT_EQ(device_->peak, (2 + 4) * kUnit);
  EXPECT_EQ(arena.user(), &first);
  arena.Use(&second);
  EXPECT_EQ(first.lost, 1);
  EXPECT_EQ(device_->used, 4 * kUnit);
  arena.Release(&second);
}

TEST_F(ArenaTest, MayBeReservedAgainAfterThereWasNoMemory) {
  Arena arena(Context::Gpu());
  COOPER_ASSERT_OK(arena.Reserve(2 * kUnit));
  device_->limit = 3 * kUnit;
  EXPECT_THAT(arena.Reserve(4 * kUnit), StatusIs(absl::StatusCode::kResourceExhausted,
                                                 ::testing::HasSubstr("activations as planned")));
  COOPER_ASSERT_OK(arena.Reserve(3 * kUnit));
  EXPECT_EQ(arena.bytes(), 3 * kUnit);
  // A Reserve that fails keeps the block with the user's values.
  User user;
  arena.Use(&user);
  const auto block = arena.storage();
  EXPECT_FALSE(arena.Reserve(4 * kUnit).ok());
  EXPECT_EQ(arena.storage(), block);
  arena.Release(&user);
}

// Reserve frees the blocks that the pool keeps if memory is short.
TEST_F(ArenaTest, TakesWhatThePoolKeeps) {
  device_->limit = 2 * kUnit;
  COOPER_ASSERT_OK(Storage::Allocate(1024, Context::Gpu()).status());
  ASSERT_GT(PooledBytes(DeviceType::kGpu), 0);
  Arena arena(Context::Gpu());
  COOPER_EXPECT_OK(arena.Reserve(2 * kUnit));
  EXPECT_EQ(PooledBytes(DeviceType::kGpu), 0);
}

}  // namespace
}  // namespace cooper
