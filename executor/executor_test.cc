#include "executor/executor.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "executor/executor_fixtures.h"
#include "executor/run/arena.h"
#include "executor/run/program_arrays.h"
#include "executor/run/random_state.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/random/random.h"
#include "ndarray/threads/profiler.h"
#include "ndarray/threads/subnormals.h"
#include "symbol/graph/name_manager.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

// Returns two layers that share one weight, so that its gradient is a sum.
Symbol SharedWeightNet() {
  NameManager names;  // automatic names start from 0 again
  const Symbol data = Symbol::Variable("data");
  const Symbol weight = Symbol::Variable("weight");
  Symbol x = data;
  for (int i = 0; i < 3; ++i) {
    x = Op("FullyConnected", {.name = "fc" + std::to_string(i),
                              .inputs = {x, weight},
                              .attrs = {{"num_hidden", "4"}, {"no_bias", "True"}}});
    x = Op("tanh", {.inputs = {x}});
  }
  return x;
}

struct Step {
  std::vector<float> output;
  std::map<std::string, std::vector<float>> grads;
};

Step RunOnce(const Symbol& symbol, const BindOptions& options) {
  Step run;
  auto executor = Executor::SimpleBind(symbol, options);
  EXPECT_TRUE(executor.ok()) << executor.status();
  uint64_t seed = 1;
  for (const auto& [name, array] : (*executor)->arg_dict()) FillRandom(array, seed++);
  for (const auto& [name, array] : (*executor)->grad_dict()) {
    EXPECT_TRUE(array.Fill(0.25).ok());
  }
  COOPER_EXPECT_OK((*executor)->Forward(true));
  const std::vector<NDArray> heads = RandomArrays((*executor)->output_shapes(), 99);
  COOPER_EXPECT_OK((*executor)->Backward(heads));
  run.output = Floats((*(*executor)->outputs())[0]);
  for (const auto& [name, array] : (*executor)->grad_dict()) run.grads[name] = Floats(array);
  return run;
}

TEST(ExecutorTest, EveryPassCanBeLeftOut) {
  const Symbol net = SharedWeightNet();
  const BindOptions options{.shapes = {{"data", {2, 4}}}};
  const Step all = RunOnce(net, options);
  for (const char* pass : {"accumulate", "views", "in_place", "tiles"}) {
    SCOPED_TRACE(pass);
    BindOptions without = options;
    without.disabled_passes = {pass};
    const Step run = RunOnce(net, without);
    EXPECT_EQ(run.output, all.output);
    for (const auto& [name, grad] : all.grads) {
      EXPECT_THAT(run.grads.at(name), Pointwise(FloatNear(1e-6), grad)) << name;
    }
  }
  BindOptions unknown = options;
  unknown.disabled_passes = {"fusion"};
  EXPECT_THAT(Executor::SimpleBind(net, unknown).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("in_place")));
}

// Passes one value as both inputs of operators that read the second input in another order than the
// first.
TEST(ExecutorTest, AValueIsAssignedToItself) {
  const Symbol y = Op("abs", {.inputs = {Symbol::Variable("data")}});
  const Symbol order = Symbol::Variable("order");
  const Symbol reversed[] = {
      Op("_slice_assign", {.inputs = {y, y},
                           .attrs = {{"begin", "(None,)"}, {"end", "(None,)"}, {"step", "(-1,)"}}}),
      Op("_scatter_set_nd", {.inputs = {y, y, order}, .attrs = {{"shape", "(3, 1)"}}}),
      Op("_contrib_index_copy",
         {.inputs = {y, Op("Reshape", {.inputs = {order}, .attrs = {{"shape", "(-1,)"}}}), y}}),
  };
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray data, NDArray::FromVector<float>({3, 1}, {1, 2, 3}));
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray indices, NDArray::FromVector<float>({1, 3}, {2, 1, 0}));
  for (const Symbol& symbol : reversed) {
    BindOptions options{.grad_req = WriteReq::kNull, .args = {{"data", data}}};
    if (symbol.ListArguments().size() > 1) options.args["order"] = indices;
    COOPER_ASSERT_OK_AND_ASSIGN(const auto executor, Executor::SimpleBind(symbol, options));
    COOPER_ASSERT_OK(executor->Forward(false));
    EXPECT_EQ(Floats((*executor->outputs())[0]), std::vector<float>({3, 2, 1}));
  }
}

// The number of rows that a mask keeps is known only after the run.
TEST(ExecutorTest, RowsThatAreCountedAreCut) {
  const Symbol mask = Op(
      "_contrib_boolean_mask",
      {.name = "mask",
       .inputs = {Op("abs", {.inputs = {Symbol::Variable("data")}}), Symbol::Variable("index")}});
  COOPER_ASSERT_OK_AND_ASSIGN(const Symbol net, Symbol::Group({mask, mask}));
  EXPECT_THAT(net.ListOutputs(), ElementsAre("mask_output", "mask_output"));
  COOPER_ASSERT_OK_AND_ASSIGN(
      const auto executor, Executor::SimpleBind(net, {.shapes = {{"data", {4, 2}}},
                                                      .grad_reqs = {{"index", WriteReq::kNull}}}));
  EXPECT_EQ(executor->output_shapes()[0], Shape({4, 2}));  // the maximum
  COOPER_ASSERT_OK(executor->arg("data").CopyFrom(
      *NDArray::FromVector<float>({4, 2}, {1, -2, 3, -4, 5, -6, 7, -8})));
  const auto set_index = [&](const std::vector<float>& flags) {
    COOPER_EXPECT_OK(executor->arg("index").CopyFrom(*NDArray::FromVector<float>({4}, flags)));
  };
  const auto ones = [](int64_t rows) { return *NDArray::Full({rows, 2}, 1); };
  const auto output = [&] { return (*executor->outputs())[1]; };

  set_index({0, 0.5, 0, -3});
  for (const bool as_one : {false, true}) {
    if (!as_one) {
      COOPER_ASSERT_OK(executor->Forward(/*is_train=*/true));
    }
    const NDArray twice = *NDArray::Full({2, 2}, 2);
    COOPER_ASSERT_OK(as_one ? executor->ForwardBackward({ones(2), twice})
                            : executor->Backward({ones(2), twice}));
    EXPECT_EQ(output().shape(), Shape({2, 2}));
    EXPECT_EQ(Floats(output()), std::vector<float>({3, 4, 7, 8}));
    EXPECT_EQ(Floats(executor->grad("data")), std::vector<float>({0, 0, 3, -3, 0, 0, 3, -3}));
  }

  set_index({1, 1, 1, 0});
  COOPER_ASSERT_OK(executor->Forward(/*is_train=*/true));
  EXPECT_EQ(Floats(output()), std::vector<float>({1, 2, 3, 4, 5, 6}));
  EXPECT_THAT(executor->Backward({ones(3), ones(2)}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("Backward: the head gradient of output 'mask_output' is (2, 2) "
                                 "float32 cpu(0), expected (3, 2) float32 cpu(0)")));
  EXPECT_THAT(executor->Backward(),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("'mask_output' is not a loss and needs a head gradient of shape "
                                 "(3, 2)")));
  COOPER_ASSERT_OK(executor->Backward({ones(3), ones(3)}));
  EXPECT_EQ(Floats(executor->grad("data")), std::vector<float>({2, -2, 2, -2, 2, -2, 0, 0}));

  set_index({0, 0, 0, 0});
  COOPER_ASSERT_OK(executor->Forward(/*is_train=*/true));
  EXPECT_EQ(output().shape(), Shape({0, 2}));
  COOPER_ASSERT_OK(executor->Backward({ones(0), ones(0)}));
  EXPECT_EQ(Floats(executor->grad("data")), std::vector<float>(8));
}

TEST(ExecutorTest, ConstantRowsThatAreCountedAreNotFolded) {
  const Symbol mask = Op("_contrib_boolean_mask",
                         {.inputs = {Symbol::Variable("data"), Symbol::Variable("index")}});
  const ArrayMap args = {{"data", *NDArray::FromVector<float>({3}, {1, 2, 3})},
                         {"index", *NDArray::FromVector<float>({3}, {0, 1, 1})}};
  COOPER_ASSERT_OK_AND_ASSIGN(
      const auto executor,
      Executor::SimpleBind(
          mask, {.grad_req = WriteReq::kNull, .args = args, .constants = {"data", "index"}}));
  COOPER_ASSERT_OK(executor->Forward(/*is_train=*/false));
  EXPECT_EQ(Floats((*executor->outputs())[0]), std::vector<float>({2, 3}));
}

TEST(ExecutorTest, AddRequestAddsToWhatIsThere) {
  const Symbol net = SharedWeightNet();
  const Step write = RunOnce(net, {.shapes = {{"data", {2, 4}}}});
  const Step add = RunOnce(net, {.shapes = {{"data", {2, 4}}}, .grad_req = WriteReq::kAdd});
  for (const auto& [name, grad] : write.grads) {
    std::vector<float> expected = grad;
    for (float& v : expected) v += 0.25f;
    EXPECT_THAT(add.grads.at(name), Pointwise(FloatNear(1e-6), expected)) << name;
  }
  const Step null =
      RunOnce(net, {.shapes = {{"data", {2, 4}}}, .grad_reqs = {{"weight", WriteReq::kNull}}});
  EXPECT_FALSE(null.grads.contains("weight"));
  EXPECT_EQ(null.grads.at("data"), write.grads.at("data"));
}

TEST(ExecutorTest, GradientAgreesWithCentralDifferences) {
  const Symbol net = SharedWeightNet();
  COOPER_ASSERT_OK_AND_ASSIGN(auto executor,
                              Executor::SimpleBind(net, {.shapes = {{"data", {2, 4}}},
                                                         .types = {{"data", DType::kFloat64}}}));
  RandomGenerator random(7);
  for (const auto& [name, array] : executor->arg_dict()) {
    auto values = array.Data<double>();
    ASSERT_TRUE(values.ok());
    for (double& v : *values) v = random.NextNormal() * 0.5;
  }
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray head, NDArray::Full({2, 4}, 1, DType::kFloat64));
  COOPER_ASSERT_OK(executor->Forward(true));
  COOPER_ASSERT_OK(executor->Backward({head}));
  auto total = [&]() {
    EXPECT_TRUE(executor->Forward(true).ok());
    const std::vector<double> output = *(*executor->outputs())[0].ToVector<double>();
    double sum = 0;
    for (double v : output) sum += v;
    return sum;
  };
  for (const auto& [name, array] : executor->arg_dict()) {
    const std::vector<double> grad = *executor->grad(name).ToVector<double>();
    auto values = array.Data<double>();
    for (size_t i = 0; i < values->size(); ++i) {
      constexpr double kStep = 1e-5;
      const double x = (*values)[i];
      (*values)[i] = x + kStep;
      const double above = total();
      (*values)[i] = x - kStep;
      const double below = total();
      (*values)[i] = x;
      // The difference errs by kStep^2 / 6 times the third derivative, which is of order 1 here.
      EXPECT_NEAR((above - below) / (2 * kStep), grad[i], 1e-8) << name << " " << i;
    }
  }
}

TEST(ExecutorTest, CallsInTheWrongOrderAreNamed) {
  const Symbol net = SharedWeightNet();
  COOPER_ASSERT_OK_AND_ASSIGN(auto executor,
                              Executor::SimpleBind(net, {.shapes = {{"data", {2, 4}}}}));
  EXPECT_THAT(executor->outputs(),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("Forward")));
  EXPECT_THAT(executor->Backward(),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("Forward")));
  COOPER_ASSERT_OK(executor->Forward(true));
  EXPECT_THAT(executor->Backward(), StatusIs(absl::StatusCode::kFailedPrecondition,
                                             HasSubstr("'tanh2_output' is not a loss")));
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray wrong, NDArray::Zeros({4, 2}));
  EXPECT_THAT(executor->Backward({wrong}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("expected (2, 4)")));
}

// Backward ignores its arguments then, as in MXNet.
TEST(ExecutorTest, BackwardOfAGraphWithoutGradientsDoesNothing) {
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray wrong, NDArray::Zeros({4, 2}));
  const Symbol net = SharedWeightNet();
  const Symbol integers =
      Op("_plus_scalar",
         {.name = "more", .inputs = {Symbol::Variable("data")}, .attrs = {{"scalar", "1"}}});
  BindOptions of_net{.shapes = {{"data", {2, 4}}}, .grad_req = WriteReq::kNull};
  BindOptions of_integers{.shapes = {{"data", {2, 4}}},
                          .types = {{"data", DType::kInt32}},
                          .grad_reqs = {{"data", WriteReq::kNull}}};
  for (const auto& [symbol, options] : {std::pair(net, of_net), std::pair(integers, of_integers)}) {
    COOPER_ASSERT_OK_AND_ASSIGN(auto executor, Executor::SimpleBind(symbol, options));
    COOPER_EXPECT_OK(executor->Backward());
    COOPER_ASSERT_OK(executor->Forward(true));
    COOPER_EXPECT_OK(executor->Backward());
    COOPER_EXPECT_OK(executor->Backward({wrong}));
    COOPER_EXPECT_OK(executor->outputs().status());
    COOPER_ASSERT_OK(executor->Forward(false));
    COOPER_EXPECT_OK(executor->Backward({wrong, wrong}));
    COOPER_ASSERT_OK(executor->ForwardBackward({wrong}));
    COOPER_EXPECT_OK(executor->outputs().status());
  }
}

TEST(ExecutorTest, ErrorsOfBindNameWhatIsWrong) {
  const Symbol net = SharedWeightNet();
  EXPECT_THAT(Executor::SimpleBind(net, {.shapes = {{"date", {2, 4}}}}).status(),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("'date'")));
  EXPECT_THAT(Executor::SimpleBind(net, {}).status(),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("data")));
  EXPECT_THAT(
      Executor::SimpleBind(net, {.shapes = {{"data", {2, 4}}, {"weight", {4, 5}}}}).status(),
      StatusIs(absl::StatusCode::kInvalidArgument,
               ::testing::AllOf(HasSubstr("FullyConnected 'fc0'"), HasSubstr("(4, 5)"))));
  EXPECT_THAT(Executor::SimpleBind(net, {.context = Context::Gpu(0), .shapes = {{"data", {2, 4}}}})
                  .status(),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("gpu")));
  EXPECT_THAT(Executor::Bind(net, {}).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'data' is missing")));
}

// Compiles with one set of options, and binds the result with another.
absl::StatusOr<std::unique_ptr<Executor>> BindCompiled(const Symbol& symbol,
                                                       const BindOptions& compiled_with,
                                                       const BindOptions& bound_with) {
  auto compiled = Executor::Compile(symbol, compiled_with);
  EXPECT_TRUE(compiled.ok()) << compiled.status();
  return Executor::SimpleBind(symbol, bound_with, *compiled);
}

// Binding gives the same results with and without a program that was compiled ahead.
TEST(ExecutorTest, WhatIsCompiledAheadChangesNoResult) {
  const Symbol net = SharedWeightNet();
  const BindOptions options{.shapes = {{"data", {2, 4}}}};
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray weight, NDArray::Zeros({4, 4}));
  BindOptions with_array = options, other_shape = options, without_pass = options,
              without_gradient = options;
  with_array.args = {{"weight", weight}};
  other_shape.shapes = {{"data", {3, 4}}};
  without_pass.disabled_passes = {"tiles"};
  without_gradient.grad_reqs = {{"data", WriteReq::kNull}};
  for (const BindOptions& bound_with :
       {options, with_array, other_shape, without_pass, without_gradient}) {
    COOPER_ASSERT_OK_AND_ASSIGN(const auto direct, Executor::SimpleBind(net, bound_with));
    COOPER_ASSERT_OK_AND_ASSIGN(const auto ahead, BindCompiled(net, options, bound_with));
    EXPECT_EQ(ahead->DebugString(), direct->DebugString());
    EXPECT_EQ(ahead->grad_names(), direct->grad_names());
    EXPECT_EQ(ahead->output_shapes(), direct->output_shapes());
  }
  BindOptions wrong = options;
  COOPER_ASSERT_OK_AND_ASSIGN(wrong.args["weight"], NDArray::Zeros({4, 5}));
  EXPECT_EQ(BindCompiled(net, options, wrong).status(), Executor::SimpleBind(net, wrong).status());
  EXPECT_FALSE(Executor::SimpleBind(net, wrong).ok());
  EXPECT_EQ(Executor::Compile(net, {}).status(), Executor::SimpleBind(net, {}).status());
}

TEST(ExecutorTest, OutputsAreGuardedWhenTheArenaIsShared) {
  const Symbol net = SharedWeightNet();
  auto arena = std::make_shared<Arena>(Context::Cpu());
  COOPER_ASSERT_OK_AND_ASSIGN(
      auto small, Executor::SimpleBind(net, {.shapes = {{"data", {2, 4}}}, .arena = arena}));
  COOPER_ASSERT_OK(small->Forward(true));
  const int64_t small_bytes = arena->bytes();
  COOPER_ASSERT_OK_AND_ASSIGN(
      auto large, Executor::SimpleBind(net, {.shapes = {{"data", {64, 4}}}, .arena = arena}));
  EXPECT_GT(arena->bytes(), small_bytes);
  EXPECT_EQ(arena->bytes(), large->memory().planned_bytes);
  // The replaced block exists as long as its values are needed, and no longer.
  COOPER_EXPECT_OK(small->outputs());
  const std::weak_ptr<Storage> replaced = (*small->outputs())[0].storage();
  EXPECT_FALSE(replaced.expired());
  COOPER_ASSERT_OK(small->Forward(true));
  COOPER_EXPECT_OK(small->outputs());
  EXPECT_TRUE(replaced.expired());
  COOPER_ASSERT_OK(large->Forward(true));
  EXPECT_THAT(small->outputs(),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("has run since")));
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray head, NDArray::Zeros({2, 4}));
  EXPECT_THAT(small->Backward({head}),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("has run since")));
}

// The arena's block is replaced between Forward and Backward: Backward and the monitor still use
// the block that Forward ran in.
TEST(ExecutorTest, AMonitorSeesTheBlockThatIsComputedIn) {
  const Symbol net = SharedWeightNet();
  std::map<std::string, std::vector<float>> seen[2];
  for (const bool replace : {false, true}) {
    auto arena = std::make_shared<Arena>(Context::Cpu());
    COOPER_ASSERT_OK_AND_ASSIGN(
        const auto small,
        Executor::SimpleBind(net, {.shapes = {{"data", {2, 4}}}, .arena = arena}));
    uint64_t seed = 1;
    for (const auto& [name, array] : small->arg_dict()) FillRandom(array, seed++);
    small->SetMonitorCallback(
        [&](const std::string& name, const NDArray& array) { seen[replace][name] = Floats(array); },
        /*monitor_all=*/true);
    COOPER_ASSERT_OK(small->Forward(true));
    std::unique_ptr<Executor> large;
    if (replace) {
      COOPER_ASSERT_OK_AND_ASSIGN(
          large, Executor::SimpleBind(net, {.shapes = {{"data", {64, 4}}}, .arena = arena}));
    }
    COOPER_ASSERT_OK(small->Backward({*NDArray::Full({2, 4}, 1)}));
  }
  EXPECT_EQ(seen[true], seen[false]);
  EXPECT_TRUE(seen[true].contains("fc1_backward_data"));
}

TEST(ExecutorTest, AnArenaForgetsAnExecutorThatEnded) {
  const Symbol net = SharedWeightNet();
  auto arena = std::make_shared<Arena>(Context::Cpu());
  const BindOptions options{.shapes = {{"data", {2, 4}}}, .arena = arena};
  COOPER_ASSERT_OK_AND_ASSIGN(auto executor, Executor::SimpleBind(net, options));
  COOPER_ASSERT_OK(executor->Forward(true));
  EXPECT_NE(arena->user(), nullptr);
  executor.reset();
  EXPECT_EQ(arena->user(), nullptr);
}

TEST(ExecutorTest, AForwardServesOneBackward) {
  COOPER_ASSERT_OK_AND_ASSIGN(
      auto executor, Executor::SimpleBind(SharedWeightNet(), {.shapes = {{"data", {2, 4}}}}));
  COOPER_ASSERT_OK(executor->Forward(true));
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray head, NDArray::Zeros(executor->output_shapes()[0]));
  COOPER_ASSERT_OK(executor->Backward({head}));
  EXPECT_THAT(executor->Backward({head}),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("once for each Backward")));
}

TEST(ExecutorTest, OutputsThatAreArgumentsFollowThem) {
  COOPER_ASSERT_OK_AND_ASSIGN(
      auto executor, Executor::SimpleBind(Symbol::Variable("data"), {.shapes = {{"data", {2}}},
                                                                     .grad_req = WriteReq::kNull,
                                                                     .unbound_args = {"data"}}));
  for (float value : {1.0f, 2.0f}) {
    COOPER_ASSERT_OK_AND_ASSIGN(const NDArray data, NDArray::Full({2}, value));
    COOPER_ASSERT_OK(executor->SetArg("data", data));
    COOPER_ASSERT_OK(executor->Forward(false));
    EXPECT_EQ(*(*executor->outputs())[0].ToVector<float>(), (std::vector<float>{value, value}));
  }
}

TEST(ExecutorTest, SetArgSharesTheArray) {
  const Symbol net = SharedWeightNet();
  COOPER_ASSERT_OK_AND_ASSIGN(
      auto executor,
      Executor::SimpleBind(net, {.shapes = {{"data", {2, 4}}}, .unbound_args = {"data"}}));
  EXPECT_THAT(executor->Forward(true),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("'data'")));
  FillRandom(executor->arg("weight"), 1);
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray data, NDArray::Full({2, 4}, 1));
  COOPER_ASSERT_OK(executor->SetArg("data", data));
  COOPER_ASSERT_OK(executor->Forward(false));
  const std::vector<float> ones = Floats((*executor->outputs())[0]);
  COOPER_ASSERT_OK(data.Fill(0));
  COOPER_ASSERT_OK(executor->Forward(false));
  EXPECT_NE(Floats((*executor->outputs())[0]), ones);
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray wrong, NDArray::Full({4, 2}, 1));
  EXPECT_THAT(executor->SetArg("data", wrong),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("takes (2, 4)")));
  EXPECT_THAT(executor->SetArg("dat", data),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("data, weight")));
}

// The next run may write other values to the memory of an output.
TEST(ExecutorTest, SetArgTakesNoArrayOfTheArena) {
  const auto arena = std::make_shared<Arena>(Context::Cpu());
  const BindOptions options = {.shapes = {{"data", {3, 4}}}, .arena = arena};
  COOPER_ASSERT_OK_AND_ASSIGN(const auto executor,
                              Executor::SimpleBind(SharedWeightNet(), options));
  COOPER_ASSERT_OK_AND_ASSIGN(const auto other, Executor::SimpleBind(SharedWeightNet(), options));
  COOPER_ASSERT_OK_AND_ASSIGN(
      const auto apart, Executor::SimpleBind(SharedWeightNet(), {.shapes = {{"data", {3, 4}}}}));
  COOPER_ASSERT_OK(executor->Forward(false));
  const NDArray output = (*executor->outputs())[0];
  EXPECT_TRUE(executor->Overwrites(output));
  EXPECT_FALSE(executor->Overwrites(executor->arg("data")));
  for (const auto& each : {executor.get(), other.get()}) {
    EXPECT_THAT(each->SetArg("data", output),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("the array for argument 'data' is in the arena")));
  }
  BindOptions given = options;
  given.args["data"] = output;
  EXPECT_THAT(
      Executor::SimpleBind(SharedWeightNet(), given).status(),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("argument 'data' is in the arena")));
  COOPER_EXPECT_OK(apart->SetArg("data", output));
  COOPER_EXPECT_OK(executor->SetArg("data", *output.Copy()));
}

// The gradient of an input is written before other gradients that still read the input.
TEST(ExecutorTest, SetArgTakesNoArrayOfAGradient) {
  COOPER_ASSERT_OK_AND_ASSIGN(
      const auto executor, Executor::SimpleBind(SharedWeightNet(), {.shapes = {{"data", {3, 4}}}}));
  const NDArray gradient = executor->grad("data");
  EXPECT_TRUE(executor->Overwrites(gradient));
  EXPECT_THAT(executor->SetArg("data", gradient),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("the array for argument 'data' is in the arena or where a "
                                 "gradient is written")));
  COOPER_EXPECT_OK(executor->SetArg("data", *gradient.Copy()));
}

TEST(ExecutorTest, BackwardTakesNoHeadGradientThatAGradientOverwrites) {
  COOPER_ASSERT_OK_AND_ASSIGN(
      const auto executor, Executor::SimpleBind(SharedWeightNet(), {.shapes = {{"data", {3, 4}}}}));
  COOPER_ASSERT_OK(executor->Forward(true));
  const NDArray gradient = executor->grad("data");
  EXPECT_THAT(executor->Backward({gradient}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("the head gradient of output 'tanh2_output' lies where a gradient "
                                 "is written")));
  COOPER_EXPECT_OK(executor->Backward({*gradient.Copy()}));
}

TEST(ExecutorTest, BindingTakesNoArrayThatAGradientOverwrites) {
  const NDArray array = *NDArray::Zeros({3, 4});
  EXPECT_THAT(Executor::SimpleBind(SharedWeightNet(),
                                   {.args = {{"data", array}}, .grads = {{"data", array}}})
                  .status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("argument 'data' is where a gradient is written")));
}

// Loading gives a null array for an array that MXNet wrote without a shape.
TEST(ExecutorTest, NullArraysAreAllocated) {
  COOPER_ASSERT_OK_AND_ASSIGN(
      const auto executor,
      Executor::SimpleBind(SharedWeightNet(),
                           {.shapes = {{"data", {3, 4}}}, .args = {{"weight", NDArray()}}}));
  EXPECT_EQ(executor->arg("weight").shape(), Shape({4, 4}));
  ArrayMap args = {{"data", executor->arg("data")}, {"weight", NDArray()}};
  EXPECT_THAT(Executor::Bind(SharedWeightNet(), {.args = args}).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'weight' is missing")));
}

TEST(ExecutorTest, ReshapeSharesWhatStays) {
  const Symbol net = SharedWeightNet();
  COOPER_ASSERT_OK_AND_ASSIGN(auto executor,
                              Executor::SimpleBind(net, {.shapes = {{"data", {4, 4}}}}));
  COOPER_ASSERT_OK_AND_ASSIGN(auto smaller, executor->Reshape({{"data", {2, 4}}}));
  EXPECT_EQ(smaller->arg("weight").raw_data(), executor->arg("weight").raw_data());
  EXPECT_EQ(smaller->grad("weight").raw_data(), executor->grad("weight").raw_data());
  EXPECT_EQ(smaller->output_shapes()[0], Shape({2, 4}));
  EXPECT_EQ(smaller->memory().arena_bytes, executor->memory().arena_bytes);
  EXPECT_THAT(executor->Reshape({{"data", {8, 4}}}).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("allow_up_sizing")));
  COOPER_EXPECT_OK(executor->Reshape({{"data", {8, 4}}}, false, true).status());
}

// Tests that an executor that was bound to arrays by slot can be reshaped.
TEST(ExecutorTest, ReshapesWhatIsBoundBySlot) {
  const Symbol net = SharedWeightNet();
  COOPER_ASSERT_OK_AND_ASSIGN(const auto compiled,
                              Executor::Compile(net, {.shapes = {{"data", {4, 4}}}}));
  ProgramArrays arrays;
  for (const Shape& shape : compiled->arg_shapes()) {
    arrays.args.push_back(*NDArray::Full(shape, 0.5));
    arrays.grads.push_back(*NDArray::Zeros(shape));
  }
  const auto arena = std::make_shared<Arena>(Context::Cpu());
  COOPER_ASSERT_OK_AND_ASSIGN(const auto executor, Executor::Bind(compiled, arrays, {arena},
                                                                  std::make_shared<RandomState>()));
  COOPER_ASSERT_OK_AND_ASSIGN(const auto smaller, executor->Reshape({{"data", {2, 4}}}));
  EXPECT_EQ(smaller->arg("weight").raw_data(), executor->arg("weight").raw_data());
  EXPECT_EQ(smaller->grad("weight").raw_data(), executor->grad("weight").raw_data());
  EXPECT_EQ(smaller->memory().arena_bytes, arena->bytes());
  COOPER_ASSERT_OK(smaller->arg("data").Fill(0.5));
  std::vector<float> outputs[2];
  for (int i = 0; i < 2; ++i) {
    Executor& each = i == 0 ? *executor : *smaller;
    COOPER_ASSERT_OK(each.Forward(/*is_train=*/false));
    outputs[i] = *(*each.outputs())[0].ToVector<float>();
  }
  ASSERT_EQ(outputs[1].size(), 8);
  outputs[0].resize(8);
  EXPECT_EQ(outputs[1], outputs[0]);
}

TEST(ExecutorTest, MonitorSeesEveryOutput) {
  const Symbol net = SharedWeightNet();
  COOPER_ASSERT_OK_AND_ASSIGN(auto executor,
                              Executor::SimpleBind(net, {.shapes = {{"data", {2, 4}}}}));
  std::vector<std::string> names;
  executor->SetMonitorCallback(
      [&](const std::string& name, const NDArray& array) {
        names.push_back(name);
        EXPECT_EQ(array.size(), name == "fc0_weight" ? 16 : array.size());
      },
      /*monitor_all=*/true);
  COOPER_ASSERT_OK(executor->Forward(false));
  EXPECT_EQ(names.front(), "fc0_data");
  EXPECT_EQ(names.back(), "tanh2_output");
  EXPECT_THAT(names, ::testing::Contains("fc1_output"));
  const size_t seen = names.size();
  executor->SetMonitorCallback({});
  COOPER_ASSERT_OK(executor->Forward(false));
  EXPECT_EQ(names.size(), seen);
}

// While there is a monitor, another program over the same arrays runs.
TEST(ExecutorTest, AMonitoredRunHasTheArraysOfTheOther) {
  // Runs as one chain of tiles.
  const Symbol product =
      Op("elemwise_mul", {.inputs = {Symbol::Variable("data"), Symbol::Variable("weight")}});
  const Symbol net = Op("tanh", {.inputs = {Op("sigmoid", {.inputs = {product}})}});
  COOPER_ASSERT_OK_AND_ASSIGN(const auto compiled,
                              Executor::Compile(net, {.shapes = {{"data", {2, 4}}}}));
  ASSERT_TRUE(compiled->merges_nodes());
  const std::vector<NDArray> arrays = RandomArrays(compiled->arg_shapes(), 1);
  std::vector<NDArray> grads;
  for (const Shape& shape : compiled->arg_shapes()) grads.push_back(*NDArray::Zeros(shape));
  const auto arena = std::make_shared<Arena>(Context::Cpu());
  COOPER_ASSERT_OK_AND_ASSIGN(
      const auto executor,
      Executor::Bind(compiled, {.args = arrays, .auxs = {}, .grads = grads}, {arena}, nullptr));
  EXPECT_EQ(executor->arg("data").raw_data(), arrays[0].raw_data());
  EXPECT_EQ(executor->grad_names(), executor->arg_names());
  const int num_args = static_cast<int>(arrays.size());
  for (const int slot : {-1, num_args}) {
    EXPECT_THAT(executor->SetArg(slot, arrays[0]),
                StatusIs(absl::StatusCode::kNotFound,
                         HasSubstr(absl::StrCat("SetArg: there is no argument ", slot,
                                                "; the executor has ", num_args))));
  }
  const std::vector<NDArray> heads = RandomArrays(executor->output_shapes(), 7);
  const std::vector<NDArray> batches = RandomArrays({{2, 4}, {2, 4}}, 9);
  const auto step = [&](const NDArray& batch) {
    COOPER_EXPECT_OK(executor->SetArg(0, batch));
    EXPECT_EQ(executor->arg("data").raw_data(), batch.raw_data());
    COOPER_EXPECT_OK(executor->Forward(/*is_train=*/true));
    std::vector<std::vector<float>> values = {Floats((*executor->outputs())[0])};
    COOPER_EXPECT_OK(executor->Backward(heads));
    for (const NDArray& grad : grads) values.push_back(Floats(grad));
    return values;
  };
  const auto first = step(batches[0]), second = step(batches[1]);
  EXPECT_NE(first, second);
  int calls = 0;
  executor->SetMonitorCallback([&](const std::string&, const NDArray&) { ++calls; });
  EXPECT_EQ(step(batches[0]), first);
  EXPECT_GT(std::exchange(calls, 0), 0);
  EXPECT_EQ(step(batches[1]), second);
  EXPECT_GT(std::exchange(calls, 0), 0);
  executor->SetMonitorCallback({});
  EXPECT_EQ(step(batches[0]), first);
  EXPECT_EQ(calls, 0);
}

// The gradient of one half of a split needs zeros in the shape of the other half, which is not
// computed for that. A monitor must not see that half.
TEST(ExecutorTest, AMonitorSeesNoArrayThatNobodyWrote) {
  const Symbol split = Op("SliceChannel", {.name = "split",
                                           .inputs = {Symbol::Variable("data")},
                                           .attrs = {{"num_outputs", "2"}, {"axis", "0"}}});
  COOPER_ASSERT_OK_AND_ASSIGN(auto executor,
                              Executor::SimpleBind(split[0], {.shapes = {{"data", {2, 4}}}}));
  std::vector<std::string> names;
  executor->SetMonitorCallback(
      [&](const std::string& name, const NDArray&) { names.push_back(name); },
      /*monitor_all=*/true);
  COOPER_ASSERT_OK(executor->Forward(true));
  COOPER_ASSERT_OK(executor->Backward({*NDArray::Full({1, 4}, 1)}));
  EXPECT_THAT(names, ::testing::Contains(::testing::AllOf(HasSubstr("zeros_like"),
                                                          ::testing::EndsWith("_output"))));
  EXPECT_THAT(names, ::testing::Not(::testing::Contains(
                         ::testing::AllOf(HasSubstr("zeros_like"), ::testing::EndsWith("_data")))));
}

TEST(ExecutorTest, AMonitorMayEndItself) {
  COOPER_ASSERT_OK_AND_ASSIGN(
      const auto executor, Executor::SimpleBind(SharedWeightNet(), {.shapes = {{"data", {2, 4}}}}));
  int calls = 0;
  executor->SetMonitorCallback(
      [&, text = std::string(100, 'x')](const std::string&, const NDArray&) {
        if (++calls == 1) executor->SetMonitorCallback({});
        EXPECT_EQ(text, std::string(100, 'x'));
      });
  COOPER_ASSERT_OK(executor->Forward(false));
  const int seen = calls;
  COOPER_ASSERT_OK(executor->Forward(false));
  EXPECT_EQ(calls, seen);
}

TEST(ExecutorTest, AMonitorThatThrowsLeavesNoOutputs) {
  COOPER_ASSERT_OK_AND_ASSIGN(
      const auto executor, Executor::SimpleBind(SharedWeightNet(), {.shapes = {{"data", {2, 4}}}}));
  const auto throws = [](const std::string&, const NDArray&) { throw std::runtime_error("no"); };
  const std::vector<NDArray> heads = RandomArrays(executor->output_shapes(), 1);
  for (const bool with_backward : {false, true}) {
    executor->SetMonitorCallback({});
    COOPER_ASSERT_OK(executor->Forward(false));
    executor->SetMonitorCallback(throws);
    EXPECT_THROW(
        (with_backward ? executor->ForwardBackward(heads) : executor->Forward(false)).IgnoreError(),
        std::runtime_error);
    EXPECT_THAT(executor->outputs(),
                StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("call Forward first")));
  }
}

// The graph has two values whose gradients have two terms each; the first term is the same for
// both.
TEST(ExecutorTest, MonitoredNamesAreOfOneArrayEach) {
  NameManager names;
  const Symbol x = Symbol::Variable("x");
  const Symbol a = Op("tanh", {.name = "a", .inputs = {x}});
  const Symbol b =
      Op("FullyConnected", {.name = "b", .inputs = {x}, .attrs = {{"num_hidden", "4"}}});
  const Symbol net = Op("elemwise_add", {.name = "out",
                                         .inputs = {Op("elemwise_mul", {.inputs = {a, b}}),
                                                    Op("elemwise_add", {.inputs = {a, b}})}});
  COOPER_ASSERT_OK_AND_ASSIGN(auto executor,
                              Executor::SimpleBind(net, {.shapes = {{"x", {2, 4}}}}));
  std::map<std::string, std::vector<float>> seen;
  executor->SetMonitorCallback(
      [&](const std::string& name, const NDArray& array) {
        EXPECT_TRUE(seen.emplace(name, Floats(array)).second) << name << " comes twice";
      },
      /*monitor_all=*/true);
  for (const auto& [name, array] : executor->arg_dict()) FillRandom(array, name.size());
  COOPER_ASSERT_OK(executor->Forward(true));
  COOPER_ASSERT_OK(executor->Backward({*NDArray::Full({2, 4}, 1)}));
  EXPECT_EQ(seen.at("b_backward_input_data"), Floats(executor->arg("x")));
  EXPECT_EQ(seen.at("b_backward_input_ograd"), seen.at("b_output_grad_sum_output"));
  EXPECT_EQ(seen.at("b_backward_weight"), Floats(executor->grad("b_weight")));
  EXPECT_TRUE(seen.contains("a_output_grad_sum_output"));
}

// Returns descriptions such as "FullyConnected 'fc1'" of the instructions that run, in the order of
// DebugString.
std::vector<std::string> RunInstructions(const Executor& executor) {
  std::vector<std::string> instructions;
  for (absl::string_view line : absl::StrSplit(executor.DebugString(), '\n')) {
    const size_t colon = line.find(": ");
    if (colon == line.npos || absl::StartsWith(line, "(view) ")) continue;
    instructions.emplace_back(line.substr(0, colon));
  }
  return instructions;
}

TEST(ExecutorTest, AProfileHasAnEventForEachInstructionThatRuns) {
  const Symbol net = Op("Flatten", {.name = "flat", .inputs = {SharedWeightNet()}});
  COOPER_ASSERT_OK_AND_ASSIGN(auto executor,
                              Executor::SimpleBind(net, {.shapes = {{"data", {2, 4}}}}));
  EXPECT_THAT(executor->DebugString(), HasSubstr("(view) Flatten 'flat'"));
  COOPER_ASSERT_OK(executor->Forward(true));
  StartProfile();
  COOPER_ASSERT_OK(executor->Forward(true));
  COOPER_ASSERT_OK(executor->Backward({*NDArray::Full({2, 4}, 1)}));
  const Profile profile = StopProfile();
  std::vector<std::string> seen;
  std::map<std::string, int64_t> flops;
  for (const ProfileEvent& event : profile.events) {
    seen.push_back(absl::StrCat(event.name, " '", event.detail, "'"));
    flops[seen.back()] = event.flops;
    const bool backward = event.category == ProfileCategory::kBackward;
    EXPECT_TRUE(backward || event.category == ProfileCategory::kForward);
    EXPECT_EQ(backward, absl::StrContains(event.detail, "_backward")) << event.detail;
  }
  EXPECT_EQ(seen, RunInstructions(*executor));
  // The product is (2, 4) x (4, 4); the gradient has one such product for the data and one for the
  // weight.
  EXPECT_EQ(flops.at("FullyConnected 'fc1'"), 2 * 2 * 4 * 4);
  EXPECT_EQ(flops.at("_backward_FullyConnected 'fc1_backward'"), 2 * 2 * 2 * 4 * 4);
  EXPECT_EQ(flops.at("tanh 'tanh0'"), 0);
}

TEST(ExecutorTest, ASharedWeightKeepsOneGradientBuffer) {
  // With the gradients of three uses added in place, the plan holds no sum and no term.
  const Symbol net = SharedWeightNet();
  COOPER_ASSERT_OK_AND_ASSIGN(auto executor,
                              Executor::SimpleBind(net, {.shapes = {{"data", {2, 4}}}}));
  EXPECT_THAT(executor->DebugString(), ::testing::Not(HasSubstr("_grad_sum")));
  EXPECT_LE(executor->memory().planned_bytes, executor->memory().lower_bound * 105 / 100);
}

bool ThreadKeepsSubnormals() {
  volatile float smallest = std::numeric_limits<float>::denorm_min();
  return smallest * 2.0f != 0;
}

// Computes data * 0.5 alone, and followed by operators that run with it tile by tile.
TEST(ExecutorTest, KernelsFlushSubnormalsAndTheCallersModeStays) {
  constexpr float kSmall = 1.5e-38f;  // normal, but half of it is subnormal
  const Symbol half =
      Op("_mul_scalar", {.inputs = {Symbol::Variable("data")}, .attrs = {{"scalar", "0.5"}}});
  const Symbol chain = Op("negative", {.inputs = {Op("negative", {.inputs = {half}})}});
  for (const Symbol& net : {half, chain}) {
    for (const bool flush : {true, false}) {
      SetFlushSubnormals(flush);
      COOPER_ASSERT_OK_AND_ASSIGN(auto executor,
                                  Executor::SimpleBind(net, {.shapes = {{"data", {50'000}}}}));
      COOPER_ASSERT_OK(executor->arg_dict().at("data").Fill(kSmall));
      COOPER_ASSERT_OK(executor->Forward(true));
      COOPER_ASSERT_OK(executor->Backward({*NDArray::Full({50'000}, kSmall)}));
      const float expected = flush ? 0 : kSmall / 2;
      EXPECT_THAT(Floats((*executor->outputs())[0]), ::testing::Each(expected));
      EXPECT_THAT(Floats(executor->grad_dict().at("data")), ::testing::Each(expected));
      EXPECT_TRUE(ThreadKeepsSubnormals());
    }
  }
  SetFlushSubnormals(true);
  // Runs a kernel that fails, and a monitor: the caller's mode is restored after both.
  const Symbol factor = Op("_linalg_potrf", {.name = "factor", .inputs = {half}});
  COOPER_ASSERT_OK_AND_ASSIGN(auto executor,
                              Executor::SimpleBind(factor, {.shapes = {{"data", {2, 2}}}}));
  COOPER_ASSERT_OK(executor->arg_dict().at("data").Fill(-1));
  EXPECT_FALSE(executor->Forward(true).ok());
  EXPECT_TRUE(ThreadKeepsSubnormals());
}

}  // namespace
}  // namespace cooper
