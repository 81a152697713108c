// Tests the messages when a GPU has no memory left or refuses a call: they name the call, the
// operator, its shapes, and bytes. Runs on an emulated GPU of 4 MiB with injected errors.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cuda_runtime.h"
#include "executor/executor.h"
#include "executor/executor_fixtures.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "module/kvstore/collective.h"
#include "module/network/module.h"
#include "ndarray/array/device.h"
#include "ndarray/array/device_graphs.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/array/queue_of.h"
#include "ndarray/base/context.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/cuda/require_gpu.h"
#include "tests/cuda_emulator/runtime/faults.h"
#include "tests/module/module_fixtures.h"

namespace cooper {
namespace {

COOPER_EMULATE(DEVICES, "2");
COOPER_EMULATE(MEMORY, "4194304");

// A graph is one unit of work for many operators, so messages could not name one of them.
[[maybe_unused]] const bool kWithoutGraphs = (SetDeviceGraphs(false), true);

using cuda_emulator::FailNext;
using cuda_emulator::FaultTime;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

constexpr auto kResourceExhausted = absl::StatusCode::kResourceExhausted;

Symbol Tanh(const Symbol& x) {
  return Op("Activation", {.name = "act", .inputs = {x}, .attrs = {{"act_type", "tanh"}}});
}

Symbol Dense(const std::string& num_hidden) {
  return Op(
      "FullyConnected",
      {.name = "fc", .inputs = {Symbol::Variable("data")}, .attrs = {{"num_hidden", num_hidden}}});
}

std::unique_ptr<Executor> Bind(const Symbol& symbol, const Shape& data,
                               const std::map<std::string, Context>& group2ctx = {}) {
  auto bound = Executor::SimpleBind(symbol, {.context = Context::Gpu(0),
                                             .group2ctx = group2ctx,
                                             .shapes = {{"data", PartialShape(data)}}});
  EXPECT_TRUE(bound.ok()) << bound.status();
  return *std::move(bound);
}

TEST(DeviceErrorsTest, ActivationsThatDoNotFitNameBothBytes) {
  const Symbol net = Tanh(Dense("512"));
  const BindOptions options = {.context = Context::Gpu(0), .shapes = {{"data", {4096, 6}}}};
  COOPER_ASSERT_OK_AND_ASSIGN(const auto compiled, Executor::Compile(net, options));
  EXPECT_THAT(Executor::SimpleBind(net, options, compiled),
              StatusIs(kResourceExhausted,
                       AllOf(HasSubstr(absl::StrCat("activations as planned: cannot allocate ",
                                                    PlannedMemory(*compiled).planned_bytes,
                                                    " bytes on gpu(0), where ")),
                             ContainsRegex("where [0-9]+ of 4194304 are free"))));
  // The executor is still usable: a smaller binding runs.
  const auto smaller = Bind(Tanh(Dense("512")), {40, 6});
  COOPER_EXPECT_OK(smaller->Forward(/*is_train=*/true));
  COOPER_EXPECT_OK((*smaller->outputs())[0].ToVector<float>().status());
}

TEST(DeviceErrorsTest, AParameterThatDoesNotFitIsNamed) {
  COOPER_ASSERT_OK_AND_ASSIGN(
      const auto module,
      Module::Create(Dense("500000"),
                     {.label_names = {}, .compute = {.contexts = {Context::Gpu(1)}}}));
  EXPECT_THAT(
      module->Bind({.data_shapes = {{.name = "data", .shape = {1, 6}}}}),
      StatusIs(kResourceExhausted,
               ContainsRegex("parameter 'fc_weight': cannot allocate 12000000 bytes on gpu.1., "
                             "where [0-9]+ of 4194304 are free")));
}

TEST(DeviceErrorsTest, ALaunchNamesItsNode) {
  const auto executor = Bind(Tanh(Symbol::Variable("data")), {4, 5});
  COOPER_ASSERT_OK(executor->Forward(/*is_train=*/false));
  FailNext("", cudaErrorLaunchOutOfResources, FaultTime::kCall);
  EXPECT_THAT(executor->Forward(/*is_train=*/false),
              StatusIs(absl::StatusCode::kInternal,
                       AllOf(HasSubstr("Activation 'act': launch: cudaErrorLaunchOutOfResources: "),
                             HasSubstr("inputs (4, 5) float32"))));
  COOPER_EXPECT_OK(executor->Forward(/*is_train=*/false));
}

TEST(DeviceErrorsTest, AProductNamesItsNode) {
  const auto executor = Bind(Dense("3"), {4, 5});
  COOPER_ASSERT_OK(executor->Forward(/*is_train=*/false));
  FailNext("cublas", cudaErrorUnknown, FaultTime::kCall);
  EXPECT_THAT(executor->Forward(/*is_train=*/false),
              StatusIs(absl::StatusCode::kInternal,
                       AllOf(HasSubstr("FullyConnected 'fc': cublas"), HasSubstr("m 4, n 3, k 5"),
                             HasSubstr("inputs (4, 5) float32, (3, 5) float32"))));
  COOPER_EXPECT_OK(executor->Forward(/*is_train=*/false));
}

TEST(DeviceErrorsTest, ACopyBetweenGroupsNamesWhatIsCopied) {
  const Symbol first = Op("Activation", {.name = "first",
                                         .inputs = {Symbol::Variable("data")},
                                         .attrs = {{"act_type", "tanh"}, {"__ctx_group__", "a"}}});
  const Symbol both = Op("Activation", {.name = "second",
                                        .inputs = {first},
                                        .attrs = {{"act_type", "relu"}, {"__ctx_group__", "b"}}});
  const auto executor = Bind(both, {4, 5}, {{"a", Context::Gpu(0)}, {"b", Context::Gpu(1)}});
  COOPER_ASSERT_OK(executor->Forward(/*is_train=*/false));
  FailNext("cudaMemcpyPeerAsync", cudaErrorInvalidValue, FaultTime::kCall);
  EXPECT_THAT(
      executor->Forward(/*is_train=*/false),
      StatusIs(absl::StatusCode::kInternal,
               AllOf(HasSubstr("first_output_copy_gpu(1)"),
                     HasSubstr("copying 80 bytes from gpu(0) to gpu(1): cudaErrorInvalidValue"),
                     HasSubstr("inputs (4, 5) float32"))));
}

TEST(DeviceErrorsTest, ASumOverDevicesNamesCopiesAndBytes) {
  const std::vector<Context> gpus = {Context::Gpu(0), Context::Gpu(1)};
  COOPER_ASSERT_OK_AND_ASSIGN(const auto collective, MakeCollective(gpus, nullptr));
  std::vector<NDArray> arrays;
  std::vector<DeviceQueue*> queues;
  for (const Context& gpu : gpus) {
    arrays.push_back(*NDArray::Zeros({6}, DType::kFloat32, gpu));
    queues.push_back(*GetQueue(gpu));
  }
  FailNext("cudaMemcpyPeerAsync", cudaErrorInvalidValue, FaultTime::kCall);
  EXPECT_THAT(collective->AllReduceSum(arrays, arrays, queues),
              StatusIs(absl::StatusCode::kInternal,
                       HasSubstr("copying 24 bytes from gpu(1) to gpu(0): cudaErrorInvalidValue")));
  COOPER_EXPECT_OK(collective->AllReduceSum(arrays, arrays, queues));
  // The copy of a large array does not fit into the remaining memory.
  std::vector<NDArray> large;
  for (const Context& gpu : gpus) {
    large.push_back(*NDArray::Zeros({600000}, DType::kFloat32, gpu));
  }
  EXPECT_THAT(collective->AllReduceSum(large, large, queues),
              StatusIs(kResourceExhausted, ContainsRegex("cannot allocate 2400000 bytes on "
                                                         "gpu.0., where [0-9]+ of 4194304")));
}

}  // namespace
}  // namespace cooper
