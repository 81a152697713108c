#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/array/device.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/array/storage.h"
#include "ndarray/base/context.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/cuda/require_gpu.h"

namespace cooper {
namespace {

using ::testing::ContainsRegex;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

NDArray Floats(Shape shape, const std::vector<float>& values) {
  return *NDArray::FromVector(std::move(shape), values);
}

TEST(CudaDeviceTest, IsMissedWhereThereIsNone) {
  if (NoGpuReason().empty()) GTEST_SKIP() << "there is a GPU";
  const auto missing =
      StatusIs(absl::StatusCode::kNotFound, HasSubstr("gpu(0): there are 0 such devices"));
  EXPECT_THAT(FindDevice(Context::Gpu(0)), missing);
  EXPECT_THAT(Storage::Allocate(8, Context::Gpu(0)), missing);
  EXPECT_THAT(NDArray::Zeros({2}, DType::kFloat32, Context::Gpu(0)), missing);
  EXPECT_THAT(Floats({1}, {1}).CopyTo(Context::Gpu(0)), missing);
}

TEST(CudaDeviceTest, HasNoSuchNumber) {
  const auto missing = StatusIs(absl::StatusCode::kNotFound, HasSubstr("such devices"));
  EXPECT_THAT(FindDevice(Context::Gpu(1 << 20)), missing);
  EXPECT_THAT(FindDevice(Context::Gpu(-1)), missing);
}

TEST(CudaDeviceTest, AQueueRunsCopiesInOrder) {
  COOPER_REQUIRE_GPU();
  const Context gpu = Context::Gpu(0), cpu = Context::Cpu();
  COOPER_ASSERT_OK_AND_ASSIGN(Device * device, FindDevice(gpu));
  COOPER_ASSERT_OK_AND_ASSIGN(const auto first, device->MakeQueue(0));
  COOPER_ASSERT_OK_AND_ASSIGN(const auto second, device->MakeQueue(0));
  EXPECT_NE(first->handle(), nullptr);
  const NDArray source = Floats({3}, {1, 2, 3}), result = Floats({3}, {0, 0, 0});
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray a, NDArray::Zeros({3}, DType::kFloat32, gpu));
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray b, NDArray::Zeros({3}, DType::kFloat32, gpu));
  COOPER_ASSERT_OK(first->Copy(a.raw_data(), gpu, source.raw_data(), cpu, 12));
  COOPER_ASSERT_OK(second->WaitFor(*first));
  COOPER_ASSERT_OK(second->Copy(b.raw_data(), gpu, a.raw_data(), gpu, 12));
  COOPER_ASSERT_OK(second->Copy(result.raw_data(), cpu, b.raw_data(), gpu, 12));
  COOPER_ASSERT_OK(second->Synchronize());
  EXPECT_THAT(result.ToVector<float>(), IsOkAndHolds(ElementsAre(1, 2, 3)));
  EXPECT_THAT(b.ToVector<float>(), IsOkAndHolds(ElementsAre(1, 2, 3)));
}

TEST(CudaDeviceTest, CopiesThereAndBack) {
  COOPER_REQUIRE_GPU();
  const NDArray source = Floats({2, 3}, {1, 2, 3, 4, 5, 6});
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray there, source.CopyTo(Context::Gpu(0)));
  EXPECT_EQ(there.context(), Context::Gpu(0));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(there.raw_data()) % kStorageAlignment, 0u);
  EXPECT_THAT(there.Data<float>(),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("gpu(0)")));
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray twice, there.Copy());
  EXPECT_EQ(twice.context(), Context::Gpu(0));
  COOPER_ASSERT_OK(there.Fill(0));
  EXPECT_THAT(twice.ToVector<float>(), IsOkAndHolds(ElementsAre(1, 2, 3, 4, 5, 6)));
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray back, twice.CopyTo(Context::Cpu()));
  EXPECT_THAT(back.ToVector<float>(), IsOkAndHolds(ElementsAre(1, 2, 3, 4, 5, 6)));
}

TEST(CudaDeviceTest, CopiesMoreThanIsStagedAtOnce) {
  COOPER_REQUIRE_GPU();
  std::vector<int32_t> values(3 << 20);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int32_t>(i * 2654435761u);
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray source,
                              NDArray::FromVector({static_cast<int64_t>(values.size())}, values));
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray there, source.CopyTo(Context::Gpu(0)));
  EXPECT_TRUE(*there.ToVector<int32_t>() == values);
}

TEST(CudaDeviceTest, Fills) {
  COOPER_REQUIRE_GPU();
  for (DType dtype : {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kInt32}) {
    SCOPED_TRACE(DTypeName(dtype));
    COOPER_ASSERT_OK_AND_ASSIGN(NDArray array, NDArray::Full({4, 2}, 3, dtype, Context::Gpu(0)));
    EXPECT_THAT(array.ToVector<double>(), IsOkAndHolds(Each(3)));
    COOPER_ASSERT_OK(array.Fill(0));
    EXPECT_THAT(array.ToVector<double>(), IsOkAndHolds(Each(0)));
  }
}

TEST(CudaDeviceTest, ViewsShareElements) {
  COOPER_REQUIRE_GPU();
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray array,
                              Floats({3, 2}, {1, 2, 3, 4, 5, 6}).CopyTo(Context::Gpu(0)));
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray rows, array.Slice(1, 3));
  EXPECT_THAT(rows.ToVector<float>(), IsOkAndHolds(ElementsAre(3, 4, 5, 6)));
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray row, array.At(1));
  COOPER_ASSERT_OK(row.CopyFrom(Floats({2}, {-3, -4})));
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray flat, array.Reshape({6}));
  EXPECT_THAT(flat.ToVector<float>(), IsOkAndHolds(ElementsAre(1, 2, -3, -4, 5, 6)));
}

TEST(CudaDeviceTest, ConvertsOnTheWay) {
  COOPER_REQUIRE_GPU();
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray array,
                              NDArray::Empty({3}, DType::kInt32, Context::Gpu(0)));
  COOPER_ASSERT_OK(array.CopyFrom(Floats({3}, {1.5, -2, 7})));
  EXPECT_THAT(array.ToVector<int32_t>(), IsOkAndHolds(ElementsAre(1, -2, 7)));
}

TEST(CudaDeviceTest, CopiesBetweenTwoDevices) {
  COOPER_REQUIRE_GPU();
  if (!FindDevice(Context::Gpu(1)).ok()) GTEST_SKIP() << "only one GPU";
  const NDArray source = Floats({3}, {1, 2, 3});
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray first, source.CopyTo(Context::Gpu(0)));
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray second, first.CopyTo(Context::Gpu(1)));
  EXPECT_THAT(second.ToVector<float>(), IsOkAndHolds(ElementsAre(1, 2, 3)));
}

TEST(CudaDeviceTest, SaysWhatDoesNotFit) {
  COOPER_REQUIRE_GPU();
  EXPECT_THAT(Storage::Allocate(int64_t{1} << 50, Context::Gpu(0)),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       ContainsRegex("1125899906842624 bytes on gpu.0., where [0-9]+ of [0-9]+ "
                                     "are free")));
  // The failed allocation does not affect the next call.
  COOPER_EXPECT_OK(NDArray::Zeros({2}, DType::kFloat32, Context::Gpu(0)));
}

TEST(CudaDeviceTest, KeepsSmallBlocksForTheNext) {
  COOPER_REQUIRE_GPU();
  ReleasePool(DeviceType::kGpu);
  COOPER_ASSERT_OK_AND_ASSIGN(auto storage, Storage::Allocate(100, Context::Gpu(0)));
  const void* data = storage->data();
  storage.reset();
  EXPECT_EQ(PooledBytes(DeviceType::kGpu), 128);
  COOPER_ASSERT_OK_AND_ASSIGN(storage, Storage::Allocate(128, Context::Gpu(0)));
  EXPECT_EQ(storage->data(), data);
  storage.reset();
  ReleasePool(DeviceType::kGpu);
  EXPECT_EQ(PooledBytes(DeviceType::kGpu), 0);
}

}  // namespace
}  // namespace cooper
