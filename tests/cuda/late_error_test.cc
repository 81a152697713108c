// Tests work that fails while it runs on an emulated GPU. The calls that queued it have returned by
// then: whatever waits first returns the error, which says how to find its source. The device
// cannot be used afterwards, so there is only one test.

#include <cstdlib>

#include "cuda_runtime.h"
#include "executor/executor.h"
#include "executor/executor_fixtures.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/array/device_graphs.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/context.h"
#include "ndarray/base/status_matchers.h"
#include "tests/cuda_emulator/runtime/faults.h"

namespace cooper {
namespace {

// A graph is one unit of work for many operators.
[[maybe_unused]] const bool kWithoutGraphs = (SetDeviceGraphs(false), true);

using cuda_emulator::FailNext;
using cuda_emulator::FaultTime;
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(LateErrorTest, IsToldByWhoWaits) {
  const Symbol net =
      Op("Activation",
         {.name = "act", .inputs = {Symbol::Variable("data")}, .attrs = {{"act_type", "tanh"}}});
  COOPER_ASSERT_OK_AND_ASSIGN(
      const auto executor,
      Executor::SimpleBind(net, {.context = Context::Gpu(0), .shapes = {{"data", {4, 5}}}}));
  COOPER_ASSERT_OK(executor->Forward(/*is_train=*/false));
  FailNext("", cudaErrorIllegalAddress, FaultTime::kRun);
  const absl::Status forward = executor->Forward(/*is_train=*/false);
  const char* blocking = std::getenv("CUDA_LAUNCH_BLOCKING");
  if (blocking != nullptr) {
    EXPECT_THAT(forward,
                StatusIs(absl::StatusCode::kInternal, AllOf(HasSubstr("Activation 'act': launch: "
                                                                      "cudaErrorIllegalAddress: "),
                                                            HasSubstr("inputs (4, 5) float32"))));
    return;
  }
  COOPER_ASSERT_OK(forward);
  const NDArray output = (*executor->outputs())[0];
  EXPECT_THAT(output.ToVector<float>(),
              StatusIs(absl::StatusCode::kInternal,
                       AllOf(HasSubstr("copying 80 bytes from gpu(0) to cpu(0): "
                                       "cudaErrorIllegalAddress: "),
                             HasSubstr("CUDA_LAUNCH_BLOCKING=1"))));
}

}  // namespace
}  // namespace cooper
