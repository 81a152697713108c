// Tests that repeated GPU work is recorded once as a graph, and that graphs change no bit of the
// results.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "executor/executor.h"
#include "executor/executor_fixtures.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/array/device_graphs.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/context.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/cuda/require_gpu.h"
#include "ndarray/threads/profiler.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;

const Context kGpu = Context::Gpu(0);
using Results = std::vector<std::vector<float>>;

class GraphsTest : public testing::Test {
 protected:
  void SetUp() override { COOPER_REQUIRE_GPU(); }
  ~GraphsTest() override { SetDeviceGraphs(true); }

  // Expects the same bits from `run` with and without graphs.
  static void ExpectNoDifference(const std::function<Results()>& run) {
    SetDeviceGraphs(false);
    const Results expected = run();
    SetDeviceGraphs(true);
    EXPECT_EQ(run(), expected);
  }
};

std::unique_ptr<Executor> Bind(const Symbol& symbol, const KnownShapes& shapes) {
  auto bound = Executor::SimpleBind(symbol, {.context = kGpu, .shapes = shapes});
  EXPECT_TRUE(bound.ok()) << bound.status();
  return *std::move(bound);
}

// Returns weight * data, for data (rows, 1) and one weight.
Symbol Double(const Symbol& data) {
  return Op(
      "FullyConnected",
      {.name = "double", .inputs = {data}, .attrs = {{"num_hidden", "1"}, {"no_bias", "True"}}});
}

constexpr int kNone = 0, kOneGraph = 1, kTwoGraphs = 2;

// Returns the outputs and gradients of five steps with head gradients of ones. Calls `before`
// before each step. `recorded` is the expected number of graphs at the end, unless graphs are
// disabled.
Results FiveSteps(
    Executor& executor, bool in_two_calls, int recorded,
    const std::function<void(int step)>& before = [](int) {}) {
  Results results;
  std::vector<NDArray> heads;
  for (const Shape& shape : executor.output_shapes()) {
    heads.push_back(*NDArray::Full(shape, 1, DType::kFloat32, kGpu));
  }
  for (int step = 0; step < 5; ++step) {
    before(step);
    if (in_two_calls) {
      COOPER_EXPECT_OK(executor.Forward(/*is_train=*/true));
      COOPER_EXPECT_OK(executor.Backward(heads));
    } else {
      COOPER_EXPECT_OK(executor.ForwardBackward(heads));
    }
    const auto outputs = executor.outputs();
    for (const NDArray& output : *outputs) {
      results.push_back(*output.ToVector<float>());
    }
    for (const std::string& name : executor.grad_names()) {
      results.push_back(*executor.grad(name).ToVector<float>());
    }
  }
  EXPECT_EQ(executor.num_recorded(), DeviceGraphsAreOn() ? recorded : kNone);
  return results;
}

// Each run draws its own random numbers, the same as without a graph.
TEST_F(GraphsTest, RandomNumbersAreThoseOfTheRun) {
  const Symbol data = Symbol::Variable("data");
  const Symbol networks[] = {
      Op("Dropout", {.inputs = {Double(data)}, .attrs = {{"p", "0.5"}}}),
      Op("Dropout", {.inputs = {data}, .attrs = {{"p", "0.5"}, {"axes", "(0,)"}}}),
      Op("LeakyReLU", {.inputs = {data}, .attrs = {{"act_type", "rrelu"}}}),
      Op("RNN",
         {.name = "rnn",
          .inputs = {data},
          .attrs = {{"mode", "lstm"}, {"state_size", "4"}, {"num_layers", "2"}, {"p", "0.5"}}}),
  };
  for (const Symbol& network : networks) {
    for (bool in_two_calls : {false, true}) {
      SCOPED_TRACE(absl::StrCat(network.outputs()[0].node->op()->name(), " ", in_two_calls));
      const auto run = [&] {
        const bool doubles = network.ListInputs().back() == "double_weight";
        const Shape shape = doubles ? Shape({40, 1}) : Shape({5, 6, 4});
        const auto executor = Bind(network, {{"data", shape}});
        uint64_t seed = 1;
        for (const auto& [name, array] : executor->arg_dict()) {
          COOPER_EXPECT_OK(array.CopyFrom(RandomArrays({array.shape()}, seed++)[0]));
        }
        return FiveSteps(*executor, in_two_calls, in_two_calls ? kTwoGraphs : kOneGraph);
      };
      ExpectNoDifference(run);
      const Results results = run();
      EXPECT_NE(results[results.size() / 5 * 4], results[results.size() / 5 * 3]);
    }
  }
}

TEST_F(GraphsTest, ArraysMayChangeFromStepToStep) {
  for (int period : {1, 2, 3}) {
    ExpectNoDifference([&] {
      const auto executor = Bind(Double(Symbol::Variable("data")), {{"data", {10, 1}}});
      COOPER_EXPECT_OK(executor->arg("double_weight").Fill(2));
      std::vector<NDArray> arrays;
      for (const NDArray& array : RandomArrays(std::vector<Shape>(5, Shape({10, 1})), 1)) {
        arrays.push_back(*array.CopyTo(kGpu));
      }
      // With period 3, the last step has the arrays of the previous step.
      const int recorded = period == 3 ? kOneGraph : kNone;
      return FiveSteps(*executor, /*in_two_calls=*/false, recorded, [&](int step) {
        COOPER_EXPECT_OK(executor->SetArg("data", arrays[step / period]));
      });
    });
  }
}

TEST_F(GraphsTest, AMonitorSeesEveryStep) {
  const auto executor = Bind(Double(Symbol::Variable("data")), {{"data", {10, 1}}});
  COOPER_ASSERT_OK(executor->arg("double_weight").Fill(2));
  int seen = 0;
  const auto watch = [&](int step) {
    COOPER_EXPECT_OK(executor->arg("data").Fill(step + 1));
    if (step == 2) {
      executor->SetMonitorCallback([&](const std::string&, const NDArray& array) {
        ++seen;
        if (seen == 1) {
          EXPECT_EQ((*array.ToVector<float>())[0], 6);
        }
      });
    }
    if (step == 4) executor->SetMonitorCallback(nullptr);
  };
  const Results results = FiveSteps(*executor, /*in_two_calls=*/false, kOneGraph, watch);
  EXPECT_EQ(seen, 2 * 3) << "the output and both gradients of two steps";
  for (int step = 0; step < 5; ++step) {
    EXPECT_EQ(results[3 * step][0], 2 * (step + 1));
    EXPECT_EQ(results[3 * step + 1][0], 2) << "the gradient of data";
    EXPECT_EQ(results[3 * step + 2][0], 10 * (step + 1)) << "the gradient of the weight";
  }
}

TEST_F(GraphsTest, AProfileHasItsOperators) {
  const auto executor = Bind(Double(Symbol::Variable("data")), {{"data", {10, 1}}});
  FiveSteps(*executor, /*in_two_calls=*/false, kOneGraph);
  StartProfile();
  FiveSteps(*executor, /*in_two_calls=*/false, kOneGraph);  // the graph of the previous steps
  int products = 0;
  const Profile profile = StopProfile();
  for (const ProfileEvent& event : profile.events) {
    products += event.name == "FullyConnected" ? 1 : 0;
  }
  EXPECT_EQ(products, 5);
}

// With mode raise, take checks its indices on the host, which cannot be recorded.
TEST_F(GraphsTest, WhatWaitsForTheHostRunsWithout) {
  const Symbol take = Op("take", {.name = "rows",
                                  .inputs = {Symbol::Variable("data"), Symbol::Variable("at")},
                                  .attrs = {{"mode", "raise"}}});
  const auto executor = Bind(take, {{"data", {4, 2}}, {"at", {2}}});
  for (int step = 0; step < 6; ++step) {
    const float at = step % 4, bad = step == 5 ? 4 : 0;
    COOPER_ASSERT_OK(executor->arg("data").CopyFrom(RandomArrays({{4, 2}}, step)[0]));
    COOPER_ASSERT_OK(executor->arg("at").CopyFrom(*NDArray::FromVector<float>({2}, {at, bad})));
    const absl::Status status = executor->Forward(/*is_train=*/false);
    if (step == 5) {
      EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'rows'")));
      break;
    }
    COOPER_ASSERT_OK(status);
    const std::vector<float> data = *executor->arg("data").ToVector<float>();
    const std::vector<float> rows = *(*executor->outputs())[0].ToVector<float>();
    EXPECT_EQ(rows[0], data[2 * static_cast<int>(at)]);
    EXPECT_EQ(rows[2], data[0]);
    EXPECT_EQ(executor->num_recorded(), kNone);
  }
}

}  // namespace
}  // namespace cooper
