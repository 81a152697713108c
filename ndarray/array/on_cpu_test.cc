#include "ndarray/array/on_cpu.h"

#include <cstdlib>
#include <cstring>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/array/device.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/context.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;

// A device that is registered as the GPU but keeps its memory on the CPU, so that the test needs no
// GPU.
class PretendedGpu : public Device {
 public:
  int Count() const override { return 1; }
  absl::StatusOr<void*> Allocate(int, int64_t bytes) override { return std::malloc(bytes); }
  void Free(int, void* data, int64_t) override { std::free(data); }
  absl::Status Copy(void* dst, Context, const void* src, Context, int64_t bytes) override {
    if (fails) return absl::InternalError("the copy failed");
    std::memcpy(dst, src, static_cast<size_t>(bytes));
    return absl::OkStatus();
  }
  absl::Status FillZero(void* dst, Context, int64_t bytes) override {
    std::memset(dst, 0, static_cast<size_t>(bytes));
    return absl::OkStatus();
  }
  absl::StatusOr<std::unique_ptr<DeviceQueue>> MakeQueue(int) override {
    return absl::UnimplementedError("no queues");
  }

  bool fails = false;
};

TEST(OnCpuTest, SharesWhatIsThere) {
  for (const Context context : {Context::Cpu(), Context::Cpu(1)}) {
    COOPER_ASSERT_OK_AND_ASSIGN(const NDArray array,
                                NDArray::Zeros({2, 3}, DType::kFloat32, context));
    COOPER_ASSERT_OK_AND_ASSIGN(const NDArray on_cpu, OnCpu(array));
    EXPECT_EQ(on_cpu.raw_data(), array.raw_data());
  }
}

TEST(OnCpuTest, CopiesWhatIsElsewhere) {
  static auto* const gpu = new PretendedGpu;
  RegisterDevice(DeviceType::kGpu, gpu);
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray values, NDArray::FromVector<float>({2}, {3, 4}));
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray array, values.CopyTo(Context::Gpu()));
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray on_cpu, OnCpu(array));
  EXPECT_EQ(on_cpu.context(), Context::Cpu());
  EXPECT_NE(on_cpu.raw_data(), array.raw_data());
  COOPER_ASSERT_OK_AND_ASSIGN(const auto copied, on_cpu.ToVector<float>());
  EXPECT_THAT(copied, ElementsAre(3, 4));
  gpu->fails = true;
  EXPECT_THAT(OnCpu(array), StatusIs(absl::StatusCode::kInternal, "the copy failed"));
}

}  // namespace
}  // namespace cooper
