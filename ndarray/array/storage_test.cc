#include "ndarray/array/storage.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/array/device.h"
#include "ndarray/base/context.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;

TEST(StorageTest, IsAlignedAndAsLargeAsAsked) {
  for (int64_t bytes : {0, 1, 63, 64, 65, 1000, 1 << 20, (1 << 20) + 1, 2 << 20, (5 << 20) + 1}) {
    COOPER_ASSERT_OK_AND_ASSIGN(auto storage, Storage::Allocate(bytes, Context::Cpu()));
    EXPECT_EQ(storage->bytes(), bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(storage->data()) % kStorageAlignment, 0u);
    std::fill_n(static_cast<char*>(storage->data()), bytes, 1);
  }
}

TEST(StorageTest, ZerosAreZeroWhateverWasThere) {
  for (int64_t bytes : {0, 1, 1000, 1 << 20, (2 << 20) - 1, 2 << 20, (5 << 20) + 1}) {
    for (int round = 0; round < 2; ++round) {
      COOPER_ASSERT_OK_AND_ASSIGN(auto storage, Storage::AllocateZeros(bytes, Context::Cpu()));
      char* data = static_cast<char*>(storage->data());
      EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % kStorageAlignment, 0u);
      EXPECT_TRUE(std::all_of(data, data + bytes, [](char c) { return c == 0; })) << bytes;
      // The next round may get the same block.
      std::fill_n(data, bytes, 1);
    }
  }
}

TEST(StorageTest, ReusesSmallBlocks) {
  ReleasePool(DeviceType::kCpu);
  EXPECT_EQ(PooledBytes(DeviceType::kCpu), 0);
  COOPER_ASSERT_OK_AND_ASSIGN(auto storage, Storage::Allocate(100, Context::Cpu()));
  const void* data = storage->data();
  storage.reset();
  EXPECT_EQ(PooledBytes(DeviceType::kCpu), 128);
  // 128 bytes are the same size class.
  COOPER_ASSERT_OK_AND_ASSIGN(storage, Storage::Allocate(128, Context::Cpu()));
  EXPECT_EQ(storage->data(), data);
  EXPECT_EQ(PooledBytes(DeviceType::kCpu), 0);
  storage.reset();
  ReleasePool(DeviceType::kCpu);
  EXPECT_EQ(PooledBytes(DeviceType::kCpu), 0);
}

TEST(StorageTest, GivesLargeBlocksBack) {
  ReleasePool(DeviceType::kCpu);
  COOPER_ASSERT_OK_AND_ASSIGN(auto storage, Storage::Allocate(8 << 20, Context::Cpu()));
  storage.reset();
  EXPECT_EQ(PooledBytes(DeviceType::kCpu), 0);
}

TEST(StorageTest, WrapKeepsTheOwnerAlive) {
  auto owner = std::make_shared<int>(7);
  std::weak_ptr<int> watch = owner;
  auto storage = Storage::Wrap(owner.get(), sizeof(int), Context::Cpu(), owner);
  owner.reset();
  EXPECT_FALSE(watch.expired());
  EXPECT_EQ(*static_cast<int*>(storage->data()), 7);
  storage.reset();
  EXPECT_TRUE(watch.expired());
}

TEST(StorageTest, RefusesWhatCannotBe) {
  EXPECT_THAT(Storage::Allocate(-1, Context::Cpu()),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("-1 bytes")));
  EXPECT_THAT(Storage::Allocate(std::numeric_limits<int64_t>::max(), Context::Cpu()),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("bytes")));
  EXPECT_THAT(Storage::Allocate(int64_t{1} << 61, Context::Cpu()),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("2305843009213693952")));
}

TEST(DeviceTest, SaysWhatIsNotLinked) {
  EXPECT_THAT(Storage::Allocate(8, Context::Gpu(0)),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("gpu(0)")));
  EXPECT_THAT(FindDevice(Context::Cpu(-1)),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("cpu(-1)")));
  EXPECT_THAT(FindDevice(Context::Cpu(3)), IsOk());
}

TEST(ContextTest, PrintsAndCompares) {
  EXPECT_EQ(Context::Cpu().ToString(), "cpu(0)");
  EXPECT_EQ(Context::Gpu(1).ToString(), "gpu(1)");
  EXPECT_EQ(Context::Cpu(), Context{});
  EXPECT_NE(Context::Cpu(0), Context::Gpu(0));
  EXPECT_LT(Context::Cpu(0), Context::Cpu(1));
}

}  // namespace
}  // namespace cooper
