// Tests constants on a GPU that are read by a node that runs on the CPU (BindOptions::fallback).

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/executor.h"
#include "executor/executor_fixtures.h"
#include "executor/program/kernel.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/array/device.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/context.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

class Queue final : public DeviceQueue {
 public:
  void* handle() const override { return nullptr; }
  absl::Status WaitFor(DeviceQueue& /*other*/) override { return absl::OkStatus(); }
  absl::Status Copy(void* dst, Context /*dst_context*/, const void* src, Context /*src_context*/,
                    int64_t bytes) override {
    std::memcpy(dst, src, static_cast<size_t>(bytes));
    return absl::OkStatus();
  }
  absl::Status Synchronize() override { return absl::OkStatus(); }
};

// A device that acts as a GPU, with memory of the CPU.
class PretendedGpu final : public Device {
 public:
  int Count() const override { return 1; }
  absl::StatusOr<void*> Allocate(int /*device_id*/, int64_t bytes) override {
    return std::aligned_alloc(kStorageAlignment, static_cast<size_t>(bytes));
  }
  void Free(int /*device_id*/, void* data, int64_t /*bytes*/) override { std::free(data); }
  absl::Status Copy(void* dst, Context dst_context, const void* src, Context src_context,
                    int64_t bytes) override {
    return Queue().Copy(dst, dst_context, src, src_context, bytes);
  }
  absl::Status FillZero(void* dst, Context /*context*/, int64_t bytes) override {
    std::memset(dst, 0, static_cast<size_t>(bytes));
    return absl::OkStatus();
  }
  absl::StatusOr<std::unique_ptr<DeviceQueue>> MakeQueue(int /*device_id*/) override {
    return std::make_unique<Queue>();
  }
};

// The GPU computes the constant exp(weight). It is stored on the CPU, where the sum reads it,
// because the GPU has no kernel for the sum.
TEST(FallbackConstantsTest, LieWhereTheyAreRead) {
  RegisterDevice(DeviceType::kGpu, new PretendedGpu);
  COOPER_ASSERT_OK_AND_ASSIGN(const Kernel* const exp, FindKernel("exp", DeviceType::kCpu));
  const KernelRegistrar registrar("exp", DeviceType::kGpu, exp->dtypes, exp->run, exp->prepare);
  const Symbol net =
      Op("elemwise_add",
         {.inputs = {Symbol::Variable("data"),
                     Op("exp", {.name = "e", .inputs = {Symbol::Variable("weight")}})}});
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray weight,
                              RandomArrays({{2, 3}}, 1)[0].CopyTo(Context::Gpu()));
  COOPER_ASSERT_OK_AND_ASSIGN(const auto executor,
                              Executor::SimpleBind(net, {.context = Context::Gpu(),
                                                         .fallback = true,
                                                         .shapes = {{"data", {2, 3}}},
                                                         .grad_req = WriteReq::kNull,
                                                         .args = {{"weight", weight}},
                                                         .constants = {"weight"}}));
  ASSERT_EQ(executor->compiled()->folded().size(), 1u);
  COOPER_ASSERT_OK(executor->arg("data").Fill(1));
  COOPER_ASSERT_OK(executor->Forward(/*is_train=*/false));
  const auto output = Floats((*executor->outputs())[0]);
  const auto values = *weight.ToVector<float>();
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_NEAR(output[i], 1 + std::exp(values[i]), 1e-6) << i;
  }
}

}  // namespace
}  // namespace cooper
