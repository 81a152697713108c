// The C++ of executor.md, memory.md, profile.md and passes.md, run: check_snippets.sh holds
// them together.

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "docs/two_layers.h"
#include "executor/compile/compiled_program.h"
#include "executor/executor.h"
#include "executor/plan/memory_plan.h"
#include "executor/run/arena.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/context.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/products/gemm_rate.h"
#include "ndarray/threads/profile_report.h"
#include "ndarray/threads/profiler.h"
#include "symbol/graph/symbol.h"

namespace cooper {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

absl::Status OneStep() {
  const Symbol net = TwoLayers();
  COOPER_ASSIGN_OR_RETURN(
      auto executor,
      Executor::SimpleBind(
          net, {.shapes = {{"data", {32, 650}}},
                .grad_reqs = {{"data", WriteReq::kNull}, {"softmax_label", WriteReq::kNull}}}));
  COOPER_RETURN_IF_ERROR(executor->arg("fc1_weight").Fill(0.01));
  COOPER_RETURN_IF_ERROR(executor->Forward(/*is_train=*/true));
  COOPER_RETURN_IF_ERROR(executor->Backward());  // the output is a loss: no head gradients
  std::cout << executor->grad("fc1_weight").ToString() << "\n" << executor->DebugString();
  return absl::OkStatus();
}

TEST(ExecutorPageTest, RunsOneStep) {
  testing::internal::CaptureStdout();
  COOPER_ASSERT_OK(OneStep());
  const std::string text = testing::internal::GetCapturedStdout();
  EXPECT_THAT(text, HasSubstr("(128, 650) float32 cpu(0)\n"));
  RecordProperty("program", text);
  EXPECT_THAT(text, HasSubstr("_fc_softmax_output 'softmax'"));
}

// Runs training steps with batches of 32 and of 20 in one arena.
absl::Status TwoBatchSizes() {
  const Symbol net = TwoLayers();
  COOPER_ASSIGN_OR_RETURN(const auto full,
                          CompiledProgram::Compile(net, {.shapes = {{"data", {32, 650}}}}));
  COOPER_ASSIGN_OR_RETURN(const auto part, full->Resize({{"data", {20, 650}}}));
  std::cout << part->arg_shapes()[0].ToString() << ", planned bytes "
            << part->layout().regions[0].plan.arena_size << "\n";
  return absl::OkStatus();
}

TEST(ExecutorPageTest, ResizesAProgram) {
  testing::internal::CaptureStdout();
  COOPER_ASSERT_OK(TwoBatchSizes());
  EXPECT_THAT(testing::internal::GetCapturedStdout(), HasSubstr("(20, 650), planned bytes "));
}

absl::Status ProfileSteps(Executor& executor, const std::string& path) {
  StartProfile();
  for (int step = 0; step < 20; ++step) {
    COOPER_RETURN_IF_ERROR(executor.Forward(/*is_train=*/true));
    COOPER_RETURN_IF_ERROR(executor.Backward());
  }
  const Profile profile = StopProfile();
  std::cout << ProfileTable(profile, /*limit=*/GemmRate());
  return WriteChromeTrace(profile, path);  // for https://ui.perfetto.dev or chrome://tracing
}

TEST(ExecutorPageTest, Profiles) {
  const Symbol net = TwoLayers();
  COOPER_ASSERT_OK_AND_ASSIGN(auto executor,
                              Executor::SimpleBind(net, {.shapes = {{"data", {4, 8}}}}));
  testing::internal::CaptureStdout();
  const std::string path = testing::TempDir() + "trace.json";
  COOPER_ASSERT_OK(ProfileSteps(*executor, path));
  EXPECT_THAT(testing::internal::GetCapturedStdout(),
              AllOf(HasSubstr("_backward_FullyConnected"), HasSubstr("GFLOP/s of the limit")));
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string trace, ReadFile(path));
  EXPECT_THAT(trace, HasSubstr("\"node\":\"fc1\""));
}

// Runs two executors that share an arena. Each reads its batch in place; the outputs of one are
// valid until the other runs.
absl::Status ShareAnArena(const NDArray& long_batch, const NDArray& short_batch) {
  const Symbol net = TwoLayers();
  const auto arena = std::make_shared<Arena>(Context::Cpu());
  COOPER_ASSIGN_OR_RETURN(auto large, Executor::SimpleBind(net, {.shapes = {{"data", {32, 650}}},
                                                                 .unbound_args = {"data"},
                                                                 .arena = arena}));
  auto params = large->arg_dict();
  params.erase("softmax_label");  // of a shape that depends on data's
  COOPER_ASSIGN_OR_RETURN(auto small, Executor::SimpleBind(net, {.shapes = {{"data", {8, 650}}},
                                                                 .args = params,
                                                                 .unbound_args = {"data"},
                                                                 .arena = arena}));
  COOPER_RETURN_IF_ERROR(large->SetArg("data", long_batch));
  COOPER_RETURN_IF_ERROR(large->Forward(/*is_train=*/false));
  COOPER_RETURN_IF_ERROR(small->SetArg("data", short_batch));
  COOPER_RETURN_IF_ERROR(small->Forward(/*is_train=*/false));
  return large->outputs().status();  // kFailedPrecondition: they are gone
}

TEST(ExecutorPageTest, OldOutputsAreRefused) {
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray long_batch, NDArray::Zeros({32, 650}));
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray short_batch, NDArray::Zeros({8, 650}));
  EXPECT_THAT(ShareAnArena(long_batch, short_batch),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("another executor that shares the arena has run")));
}

TEST(ExecutorPageTest, PlansMemory) {
  const std::vector<LiveRange> ranges = {
      {.size = 128, .first = 0, .last = 1},  // a
      {.size = 64, .first = 1, .last = 3},   // b
      {.size = 128, .first = 2, .last = 4},  // c
      {.size = 64, .first = 4, .last = 4},   // d
  };
  COOPER_ASSERT_OK_AND_ASSIGN(const MemoryPlan plan, PlanMemory(ranges));
  EXPECT_THAT(plan.offsets, ElementsAre(0, 128, 0, 128));
  EXPECT_EQ(plan.arena_size, 192);
  EXPECT_EQ(plan.lower_bound, 192);
  COOPER_EXPECT_OK(CheckMemoryPlan(ranges, plan));
}

absl::StatusOr<std::unique_ptr<Executor>> BindAsWritten(const Symbol& net) {
  return Executor::SimpleBind(
      net, {.shapes = {{"data", {32, 650}}}, .disabled_passes = {"rnn_layers", "softmax_output"}});
}

TEST(PassesPageTest, BindsAsWritten) {
  const Symbol net = TwoLayers();
  COOPER_ASSERT_OK_AND_ASSIGN(const auto executor, BindAsWritten(net));
  EXPECT_THAT(executor->DebugString(), HasSubstr("\nSoftmaxOutput 'softmax'"));
}

}  // namespace
}  // namespace cooper
