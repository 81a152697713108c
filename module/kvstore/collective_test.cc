// Tests sums over devices by copies, here over CPU contexts; tests/cuda has tests on GPUs.

#include "module/kvstore/collective.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/array/device.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/context.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr auto kInvalidArgument = absl::StatusCode::kInvalidArgument;

std::vector<Context> Cpus(int n) {
  std::vector<Context> contexts;
  for (int i = 0; i < n; ++i) contexts.push_back(Context::Cpu(i));
  return contexts;
}

struct Queues {
  explicit Queues(const std::vector<Context>& contexts) {
    for (const Context& context : contexts) {
      owned.push_back(*(*FindDevice(context))->MakeQueue(context.device_id));
      all.push_back(owned.back().get());
    }
  }
  std::vector<std::unique_ptr<DeviceQueue>> owned;
  std::vector<DeviceQueue*> all;
};

NDArray Row(const std::vector<float>& values, Context context) {
  return *NDArray::FromVector({static_cast<int64_t>(values.size())}, values)->CopyTo(context);
}

std::vector<float> Of(const NDArray& array) { return *array.ToVector<float>(); }

TEST(CollectiveTest, SumsOverAnyNumberOfDevices) {
  for (const int n : {1, 2, 5}) {
    SCOPED_TRACE(n);
    COOPER_ASSERT_OK_AND_ASSIGN(const auto collective, MakeCollective(Cpus(n), nullptr));
    EXPECT_EQ(collective->name(), "copies");
    EXPECT_EQ(collective->contexts(), Cpus(n));
    const Queues queues(Cpus(n));
    for (const DType dtype :
         {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBfloat16}) {
      std::vector<NDArray> arrays, sums;
      for (int i = 0; i < n; ++i) {
        arrays.push_back(*NDArray::Full({3, 7}, i + 1, dtype, Context::Cpu(i)));
        sums.push_back(*NDArray::Full({3, 7}, -1, dtype, Context::Cpu(i)));
      }
      COOPER_ASSERT_OK(collective->AllReduceSum(arrays, sums, queues.all));
      for (int i = 0; i < n; ++i) {
        EXPECT_THAT(Of(sums[i]), Each(n * (n + 1) / 2)) << DTypeName(dtype);
        EXPECT_THAT(Of(arrays[i]), Each(i + 1)) << "stays as it was";
      }
      COOPER_ASSERT_OK(collective->AllReduceSum(arrays, arrays, queues.all));
      for (const NDArray& array : arrays) EXPECT_THAT(Of(array), Each(n * (n + 1) / 2));
    }
  }
}

TEST(CollectiveTest, SumsForTheFirstDeviceAlone) {
  for (const int n : {1, 3}) {
    COOPER_ASSERT_OK_AND_ASSIGN(const auto collective, MakeCollective(Cpus(n), nullptr));
    ASSERT_TRUE(collective->can_reduce());
    const Queues queues(Cpus(n));
    std::vector<NDArray> arrays;
    for (int i = 0; i < n; ++i) arrays.push_back(Row({1, 2}, Context::Cpu(i)));
    const NDArray sum = Row({-1, -1}, Context::Cpu(0));
    COOPER_ASSERT_OK(collective->ReduceSum(arrays, sum, queues.all));
    EXPECT_THAT(Of(sum), ElementsAre(n, 2 * n));
    for (const NDArray& array : arrays) EXPECT_THAT(Of(array), ElementsAre(1, 2));
    COOPER_ASSERT_OK(collective->ReduceSum(arrays, arrays[0], queues.all));
    EXPECT_THAT(Of(arrays[0]), ElementsAre(n, 2 * n));
    for (int i = 1; i < n; ++i) EXPECT_THAT(Of(arrays[i]), ElementsAre(1, 2));
    EXPECT_THAT(collective->ReduceSum(arrays, Row({1}, Context::Cpu(0)), queues.all),
                StatusIs(kInvalidArgument, HasSubstr("(1,) float32 cpu(0)")));
    EXPECT_THAT(collective->ReduceSum({}, sum, queues.all),
                StatusIs(kInvalidArgument, HasSubstr("got 0 arrays")));
  }
}

// (2^24 + 1) + 1 is 2^24 in float32, 2^24 + (1 + 1) is not.
TEST(CollectiveTest, AddsInTheOrderOfDevices) {
  COOPER_ASSERT_OK_AND_ASSIGN(const auto collective, MakeCollective(Cpus(3), nullptr));
  const Queues queues(Cpus(3));
  const float large = 1 << 24;
  const auto sum_of = [&](float a, float b, float c) {
    const std::vector<NDArray> arrays = {Row({a}, Context::Cpu(0)), Row({b}, Context::Cpu(1)),
                                         Row({c}, Context::Cpu(2))};
    COOPER_EXPECT_OK(collective->AllReduceSum(arrays, arrays, queues.all));
    return Of(arrays[2])[0];
  };
  EXPECT_EQ(sum_of(large, 1, 1), large);
  EXPECT_EQ(sum_of(1, 1, large), large + 2);
}

TEST(CollectiveTest, AGroupIsSummedAtItsEnd) {
  COOPER_ASSERT_OK_AND_ASSIGN(const auto collective, MakeCollective(Cpus(2), nullptr));
  const Queues queues(Cpus(2));
  const Context a = Context::Cpu(0), b = Context::Cpu(1);
  const std::vector<NDArray> small = {Row({1}, a), Row({2}, b)};
  const std::vector<NDArray> large = {Row({1, 2, 3}, a), Row({10, 20, 30}, b)};
  COOPER_ASSERT_OK(collective->GroupStart());
  COOPER_ASSERT_OK(collective->AllReduceSum(small, small, queues.all));
  COOPER_ASSERT_OK(collective->AllReduceSum(large, large, queues.all));
  EXPECT_THAT(Of(small[0]), ElementsAre(1));
  COOPER_ASSERT_OK(collective->GroupEnd());
  EXPECT_THAT(Of(small[1]), ElementsAre(3));
  EXPECT_THAT(Of(large[0]), ElementsAre(11, 22, 33));
  COOPER_ASSERT_OK(collective->AllReduceSum(small, small, queues.all));
  EXPECT_THAT(Of(small[0]), ElementsAre(6)) << "the group is over";
}

TEST(CollectiveTest, ErrorsNameWhatDoesNotFit) {
  EXPECT_THAT(MakeCollective({}, nullptr), StatusIs(kInvalidArgument, HasSubstr("0 devices")));
  EXPECT_THAT(MakeCollective({Context::Cpu(1), Context::Cpu(1)}, nullptr),
              StatusIs(kInvalidArgument, HasSubstr("2 devices, of which 1 differ")));
  COOPER_ASSERT_OK_AND_ASSIGN(const auto collective, MakeCollective(Cpus(2), nullptr));
  const Queues queues(Cpus(2));
  const NDArray a = Row({1, 2}, Context::Cpu(0)), b = Row({1, 2}, Context::Cpu(1));
  EXPECT_THAT(collective->AllReduceSum({a}, {a, b}, queues.all),
              StatusIs(kInvalidArgument, HasSubstr("got 1 arrays, 2 sums, 2 queues")));
  EXPECT_THAT(collective->AllReduceSum({a, Row({1}, Context::Cpu(1))}, {a, b}, queues.all),
              StatusIs(kInvalidArgument,
                       AllOf(HasSubstr("(1,) float32 cpu(1)"), HasSubstr("(2,) float32 cpu(0)"))));
  EXPECT_THAT(collective->AllReduceSum({b, b}, {a, b}, queues.all),
              StatusIs(kInvalidArgument, HasSubstr("expected floats on cpu(0)")));
  EXPECT_THAT(collective->AllReduceSum({a, b}, {a, NDArray()}, queues.all),
              StatusIs(kInvalidArgument, HasSubstr("null array")));
  const NDArray ints = *NDArray::Zeros({2}, DType::kInt32, Context::Cpu(0));
  EXPECT_THAT(collective->AllReduceSum({ints, ints}, {ints, ints}, queues.all),
              StatusIs(kInvalidArgument, HasSubstr("expected floats")));
  // Empty arrays are not an error.
  const NDArray none = *NDArray::Zeros({0}),
                other = *NDArray::Zeros({0}, DType::kFloat32, Context::Cpu(1));
  COOPER_EXPECT_OK(collective->AllReduceSum({none, other}, {none, other}, queues.all));
}

// A second process that adds 1000 to everything.
class FakeWorld : public CollectiveWorld {
 public:
  int rank() const override { return 0; }
  int size() const override { return 2; }
  absl::StatusOr<std::vector<std::string>> AllGatherText(const std::string& text) override {
    return std::vector<std::string>{text, text};
  }
  absl::Status AllReduceSum(absl::Span<float> values) override { return Add(values); }
  absl::Status AllReduceSum(absl::Span<double> values) override { return Add(values); }

 private:
  template <typename T>
  static absl::Status Add(absl::Span<T> values) {
    for (T& value : values) value += 1000;
    return absl::OkStatus();
  }
};

TEST(CollectiveTest, OtherProcessesAddTheirs) {
  FakeWorld world;
  COOPER_ASSERT_OK_AND_ASSIGN(const auto collective, MakeCollective(Cpus(2), &world));
  const Queues queues(Cpus(2));
  for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kFloat16}) {
    const std::vector<NDArray> arrays = {*NDArray::Full({4}, 1, dtype, Context::Cpu(0)),
                                         *NDArray::Full({4}, 2, dtype, Context::Cpu(1))};
    COOPER_ASSERT_OK(collective->AllReduceSum(arrays, arrays, queues.all));
    for (const NDArray& array : arrays) EXPECT_THAT(Of(array), Each(1003)) << DTypeName(dtype);
    COOPER_ASSERT_OK(collective->ReduceSum(arrays, arrays[0], queues.all));
    EXPECT_THAT(Of(arrays[0]), Each(3006)) << DTypeName(dtype);
    EXPECT_THAT(Of(arrays[1]), Each(1003)) << "stays as it was";
  }
}

// The reason why a preferred kind cannot serve GPUs is logged once; for CPUs it is not logged.
TEST(CollectiveTest, AReasonForCopiesIsLoggedOnce) {
  static std::string why;
  RegisterCollective([](const std::vector<Context>&,
                        CollectiveWorld*) -> absl::StatusOr<std::unique_ptr<Collective>> {
    return absl::FailedPreconditionError(why);
  });
  const auto logged = [](const std::string& reason, Context context) {
    why = reason;
    testing::internal::CaptureStderr();
    // This program has no GPU support: copies fail too, but the choice is made before.
    EXPECT_EQ(MakeCollective({context}, nullptr).ok(), context.is_cpu());
    return testing::internal::GetCapturedStderr();
  };
  const auto tells = [](const char* reason) { return HasSubstr(absl::StrCat("since ", reason)); };
  EXPECT_THAT(logged("no library", Context::Cpu()), IsEmpty());
  EXPECT_THAT(logged("no library", Context::Gpu(0)), tells("no library"));
  EXPECT_THAT(logged("no library", Context::Gpu(0)), IsEmpty());
  EXPECT_THAT(logged("no driver", Context::Gpu(0)), tells("no driver"));
  EXPECT_THAT(logged("no library", Context::Gpu(1)), IsEmpty());
  RegisterCollective(nullptr);
}

}  // namespace
}  // namespace cooper
