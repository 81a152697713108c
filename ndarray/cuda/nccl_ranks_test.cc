#include "ndarray/cuda/nccl_ranks.h"

#include <cstdlib>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/array/device.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/cuda/require_gpu.h"

namespace cooper {
namespace {

COOPER_EMULATE(DEVICES, "3");
COOPER_EMULATE(LAZY, "1");
// NCCL reads the variable once. Without it a sum over host memory fails only when it runs,
// permanently.
[[maybe_unused]] const int kChecksPointers = setenv("NCCL_CHECK_POINTERS", "1", /*overwrite=*/1);

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;

#define COOPER_REQUIRE_NCCL() \
  if (const absl::Status status = NcclRanks::CheckInstalled(); !status.ok()) GTEST_SKIP() << status

TEST(NcclRanksTest, SaysWhereTheLibraryWasLookedFor) {
  if (NcclRanks::CheckInstalled().ok()) GTEST_SKIP() << "it is installed";
  const auto missing =
      StatusIs(absl::StatusCode::kFailedPrecondition,
               AllOf(HasSubstr("libnccl.so.2"), HasSubstr("COOPER_CUDA_LIB_PATH")));
  EXPECT_THAT(NcclRanks::MakeId(), missing);
  EXPECT_THAT(NcclRanks::Create("", 1, 0, {0}), missing);
}

TEST(NcclRanksTest, RefusesWhatIsNoSet) {
  COOPER_REQUIRE_NCCL();
  const auto refused = [](const std::string& id, int size, int first, int devices) {
    const std::vector<int> numbers(static_cast<size_t>(devices), 0);
    return NcclRanks::Create(id, size, first, numbers).status();
  };
  const std::string id(128, 'x');
  for (const absl::Status& status : {refused("short", 1, 0, 1), refused(id, 1, 0, 2),
                                     refused(id, 2, -1, 1), refused(id, 1, 0, 0)}) {
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("128 bytes")));
  }
}

TEST(NcclRanksTest, SumsOverTheGpusThatThereAre) {
  COOPER_REQUIRE_NCCL();
  COOPER_REQUIRE_GPU();
  COOPER_ASSERT_OK_AND_ASSIGN(Device * device, FindDevice(Context::Gpu(0)));
  const int n = device->Count();
  std::vector<int> devices;
  for (int i = 0; i < n; ++i) devices.push_back(i);
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string id, NcclRanks::MakeId());
  COOPER_ASSERT_OK_AND_ASSIGN(const auto ranks, NcclRanks::Create(id, n, 0, devices));
  std::vector<NDArray> arrays;
  COOPER_ASSERT_OK(ranks->GroupStart());
  for (int i = 0; i < n; ++i) {
    arrays.push_back(*NDArray::Full({1000}, i + 1, DType::kFloat32, Context::Gpu(i)));
    COOPER_ASSERT_OK(ranks->AllReduceSum(i, arrays[i].raw_data(), arrays[i].raw_data(),
                                         arrays[i].shape(), arrays[i].dtype(), nullptr));
  }
  COOPER_ASSERT_OK(ranks->GroupEnd());
  for (const NDArray& array : arrays) {
    EXPECT_THAT(*array.ToVector<float>(), Each(n * (n + 1) / 2));
  }
  COOPER_EXPECT_OK(ranks->AsyncError());
}

TEST(NcclRanksTest, FailsWithWhyItWasGivenUp) {
  COOPER_REQUIRE_NCCL();
  COOPER_REQUIRE_GPU();
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string id, NcclRanks::MakeId());
  COOPER_ASSERT_OK_AND_ASSIGN(const auto ranks, NcclRanks::Create(id, 1, 0, {0}));
  ranks->Abort(absl::UnavailableError("rank 7 is gone"));
  ranks->Abort(absl::UnavailableError("so is rank 8"));
  const auto gone = StatusIs(absl::StatusCode::kUnavailable, HasSubstr("rank 7 is gone"));
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray array,
                              NDArray::Zeros({3}, DType::kFloat32, Context::Gpu(0)));
  EXPECT_THAT(ranks->AllReduceSum(0, array.raw_data(), array.raw_data(), array.shape(),
                                  array.dtype(), nullptr),
              gone);
  EXPECT_THAT(ranks->GroupStart(), gone);
  EXPECT_THAT(ranks->AsyncError(), gone);
}

TEST(NcclRanksTest, AnErrorHasNcclsWords) {
  COOPER_REQUIRE_NCCL();
  COOPER_REQUIRE_GPU();
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string id, NcclRanks::MakeId());
  COOPER_ASSERT_OK_AND_ASSIGN(const auto ranks, NcclRanks::Create(id, 1, 0, {0}));
  EXPECT_EQ(ranks->first(), 0);
  EXPECT_EQ(ranks->count(), 1);
  EXPECT_EQ(ranks->size(), 1);
  EXPECT_THAT(ranks->AllReduceSum(0, nullptr, nullptr, Shape({3}), DType::kInt32, nullptr),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("of int32")));
  // Host memory.
  float values[3] = {1, 2, 3};
  EXPECT_THAT(ranks->AllReduceSum(0, values, values, Shape({3}), DType::kFloat32, nullptr),
              StatusIs(absl::StatusCode::kInternal,
                       HasSubstr("ncclAllReduce of (3,) float32, rank 0 of 1: invalid argument")));
}

}  // namespace
}  // namespace cooper
