// Tests outputs that are computed in the caller's arrays (BindOptions::unbound_outputs).

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "executor/executor.h"
#include "executor/executor_fixtures.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/graph/name_manager.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;

// Returns a symbol with three outputs: a computed value, that value in another shape, and the
// argument itself.
Symbol Net() {
  const NameManager names;
  const Symbol data = Symbol::Variable("data");
  const Symbol fc =
      Op("FullyConnected", {.name = "fc", .inputs = {data}, .attrs = {{"num_hidden", "3"}}});
  const Symbol act = Op("tanh", {.name = "act", .inputs = {fc}});
  const Symbol flat =
      Op("Reshape", {.name = "flat", .inputs = {act}, .attrs = {{"shape", "(-1,)"}}});
  return *Symbol::Group({act, flat, data});
}

std::unique_ptr<Executor> Bind(const Symbol& net, bool unbound,
                               WriteReq grad_req = WriteReq::kNull) {
  auto executor = Executor::SimpleBind(
      net, {.shapes = {{"data", {2, 4}}}, .grad_req = grad_req, .unbound_outputs = unbound});
  EXPECT_TRUE(executor.ok()) << executor.status();
  uint64_t seed = 1;
  for (const auto& [name, array] : (*executor)->arg_dict()) FillRandom(array, seed++);
  return *std::move(executor);
}

std::vector<std::vector<float>> OutputsOf(const Executor& executor) {
  std::vector<std::vector<float>> values;
  const auto outputs = executor.outputs();
  for (const NDArray& output : *outputs) values.push_back(Floats(output));
  return values;
}

TEST(UnboundOutputsTest, AreComputedWhereTheCallerSays) {
  const auto bound = Bind(Net(), false);
  COOPER_ASSERT_OK(bound->Forward(false));
  const auto executor = Bind(Net(), true);
  EXPECT_FALSE(bound->TakesOutput(0));
  EXPECT_TRUE(executor->TakesOutput(0));
  EXPECT_FALSE(executor->TakesOutput(1));  // in the memory of the first
  EXPECT_FALSE(executor->TakesOutput(2));  // an argument
  EXPECT_LT(executor->memory().planned_bytes, bound->memory().planned_bytes);

  const NDArray first = *NDArray::Zeros({2, 3}), second = *NDArray::Zeros({2, 3});
  COOPER_ASSERT_OK(executor->SetOutput(0, first));
  COOPER_ASSERT_OK(executor->Forward(false));
  EXPECT_EQ(OutputsOf(*executor), OutputsOf(*bound));
  EXPECT_EQ((*executor->outputs())[0].raw_data(), first.raw_data());

  // The next run does not change the previous output's array.
  COOPER_ASSERT_OK(executor->SetOutput(0, second));
  FillRandom(executor->arg("data"), 7);
  COOPER_ASSERT_OK(executor->Forward(false));
  EXPECT_EQ(Floats(first), OutputsOf(*bound)[0]);
  EXPECT_NE(Floats(second), Floats(first));
}

TEST(UnboundOutputsTest, AreMadeWhereNobodyGivesThem) {
  const auto bound = Bind(Net(), false);
  COOPER_ASSERT_OK(bound->Forward(false));
  const auto executor = Bind(Net(), true);
  COOPER_ASSERT_OK(executor->Forward(false));
  EXPECT_EQ(OutputsOf(*executor), OutputsOf(*bound));
  std::weak_ptr<Storage> made = (*executor->outputs())[0].storage();
  EXPECT_FALSE(made.expired());
  COOPER_ASSERT_OK(executor->SetOutput(0, NDArray()));
  EXPECT_TRUE(made.expired());
  EXPECT_TRUE((*executor->outputs())[0].is_null());
  COOPER_ASSERT_OK(executor->Forward(false));
  EXPECT_EQ(OutputsOf(*executor), OutputsOf(*bound));
}

TEST(UnboundOutputsTest, OfAnotherKindAreRefused) {
  const auto executor = Bind(Net(), true);
  EXPECT_THAT(executor->SetOutput(0, *NDArray::Zeros({3, 2})),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("output 'act_output' takes (2, 3) float32 cpu(0), got (3, 2)")));
  EXPECT_THAT(executor->SetOutput(0, *NDArray::Zeros({2, 3}, DType::kFloat64)),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("got (2, 3) float64")));
  EXPECT_THAT(executor->SetOutput(2, *NDArray::Zeros({2, 4})),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'data' takes no array")));
  EXPECT_THAT(Bind(Net(), false)->SetOutput(0, *NDArray::Zeros({2, 3})),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("takes no array")));
}

TEST(UnboundOutputsTest, GradientsReadThem) {
  const auto bound = Bind(Net(), false, WriteReq::kWrite);
  const auto executor = Bind(Net(), true, WriteReq::kWrite);
  COOPER_ASSERT_OK(executor->SetOutput(0, *NDArray::Zeros({2, 3})));
  const std::vector<NDArray> heads = RandomArrays(bound->output_shapes(), 99);
  for (const auto& each : {bound.get(), executor.get()}) {
    COOPER_ASSERT_OK(each->Forward(true));
    COOPER_ASSERT_OK(each->Backward(heads));
  }
  EXPECT_EQ(Floats(executor->grad("fc_weight")), Floats(bound->grad("fc_weight")));
}

TEST(UnboundOutputsTest, AreThereForBackward) {
  const auto executor = Bind(Net(), true, WriteReq::kWrite);
  const std::vector<NDArray> heads = RandomArrays(executor->output_shapes(), 99);
  const NDArray output = *NDArray::Zeros({2, 3});
  for (const NDArray& other : {NDArray(), *NDArray::Zeros({2, 3})}) {
    COOPER_ASSERT_OK(executor->SetOutput(0, output));
    COOPER_ASSERT_OK(executor->Forward(true));
    COOPER_ASSERT_OK(executor->SetOutput(0, output));
    COOPER_ASSERT_OK(executor->Backward(heads));
    COOPER_ASSERT_OK(executor->Forward(true));
    COOPER_ASSERT_OK(executor->SetOutput(0, other));
    EXPECT_THAT(executor->Backward(heads), StatusIs(absl::StatusCode::kFailedPrecondition,
                                                    HasSubstr("call Forward(is_train=true)")));
  }
}

// Tests a state that is an input of the next run. Its next value needs another array, whichever of
// the two is set first.
TEST(UnboundOutputsTest, AreNotComputedInAnArgument) {
  const NameManager names;
  const Symbol net =
      Op("FullyConnected",
         {.name = "fc", .inputs = {Symbol::Variable("data")}, .attrs = {{"num_hidden", "4"}}});
  const auto executor = Bind(net, true);
  COOPER_ASSERT_OK(executor->Forward(false));
  const NDArray state = (*executor->outputs())[0], other = *state.Copy();
  COOPER_ASSERT_OK(executor->SetArg("data", state));
  const auto refused =
      StatusIs(absl::StatusCode::kFailedPrecondition,
               HasSubstr("output 'fc_output' would be computed in the array of argument 'data'"));
  EXPECT_THAT(executor->Forward(false), refused);
  COOPER_ASSERT_OK(executor->SetOutput(0, other));
  COOPER_ASSERT_OK(executor->Forward(false));
  COOPER_ASSERT_OK(executor->SetOutput(0, state));
  EXPECT_THAT(executor->Forward(false), refused);
  COOPER_ASSERT_OK(executor->SetArg("data", other));
  COOPER_ASSERT_OK(executor->Forward(false));
}

// Tests inputs that came with BindOptions or were made by SimpleBind, and inputs of the program
// that runs while there is a monitor.
TEST(UnboundOutputsTest, AreNotComputedInAnArgumentOfBind) {
  const NameManager names;
  Symbol x = Symbol::Variable("data");
  for (const char* name : {"fc1", "fc2"}) {
    x = Op("FullyConnected", {.name = name, .inputs = {x}, .attrs = {{"num_hidden", "4"}}});
    x = Op("tanh", {.inputs = {Op("square", {.inputs = {x}})}});
  }
  const auto executor = Bind(x, true);
  const NDArray given = executor->arg("data");
  const auto refused = StatusIs(absl::StatusCode::kFailedPrecondition,
                                HasSubstr("would be computed in the array of argument 'data'"));
  COOPER_ASSERT_OK(executor->SetOutput(0, given));
  EXPECT_THAT(executor->Forward(false), refused);
  executor->SetMonitorCallback([](const std::string&, const NDArray&) {}, /*monitor_all=*/true);
  EXPECT_THAT(executor->Forward(false), refused);
  COOPER_ASSERT_OK(executor->SetOutput(0, *given.Copy()));
  COOPER_ASSERT_OK(executor->Forward(false));
}

TEST(UnboundOutputsTest, AMonitorSeesThemThere) {
  const auto executor = Bind(Net(), true);
  const NDArray output = *NDArray::Zeros({2, 3});
  COOPER_ASSERT_OK(executor->SetOutput(0, output));
  const void* seen = nullptr;
  executor->SetMonitorCallback([&](const std::string& name, const NDArray& array) {
    if (name == "act_output") seen = array.raw_data();
  });
  COOPER_ASSERT_OK(executor->Forward(false));
  EXPECT_EQ(seen, output.raw_data());
}

// Two halves that are concatenated to an output are computed directly in the caller's array.
TEST(UnboundOutputsTest, MayBeMadeOfPieces) {
  const NameManager names;
  const Symbol data = Symbol::Variable("data");
  std::vector<Symbol> halves;
  for (const char* name : {"a", "b"}) {
    halves.push_back(
        Op("FullyConnected", {.name = name, .inputs = {data}, .attrs = {{"num_hidden", "16"}}}));
  }
  const Symbol net = Op("Concat", {.inputs = halves, .attrs = {{"num_args", "2"}, {"dim", "0"}}});
  const auto bound = Bind(net, false), executor = Bind(net, true);
  const NDArray output = *NDArray::Zeros({4, 16});
  COOPER_ASSERT_OK(executor->SetOutput(0, output));
  COOPER_ASSERT_OK(executor->Forward(false));
  COOPER_ASSERT_OK(bound->Forward(false));
  EXPECT_EQ(Floats(output), OutputsOf(*bound)[0]);
  EXPECT_THAT(executor->DebugString(), HasSubstr("(view) Concat"));
}

// In each of these cases one result would be written over another.
TEST(UnboundOutputsTest, AreRefusedWhereTheRunWrites) {
  const Symbol data = Symbol::Variable("data");
  const Symbol first = Op("tanh", {.name = "first", .inputs = {data}});
  const Symbol second = Op("sin", {.name = "second", .inputs = {data}});
  const auto executor = Bind(*Symbol::Group({first, second}), true, WriteReq::kWrite);
  const auto refused = StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("overwritten"));
  EXPECT_THAT(executor->SetOutput(0, executor->grad("data")), refused);

  const NDArray one = *NDArray::Zeros({2, 4}), two = *NDArray::Zeros({2, 4});
  COOPER_ASSERT_OK(executor->SetOutput(0, one));
  COOPER_ASSERT_OK(executor->SetOutput(1, one));
  EXPECT_THAT(executor->Forward(false),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("outputs 'first_output' and 'second_output'")));
  COOPER_ASSERT_OK(executor->SetOutput(0, two));
  COOPER_ASSERT_OK(executor->Forward(false));
  // Two outputs may exchange their arrays.
  COOPER_ASSERT_OK(executor->SetOutput(0, one));
  COOPER_ASSERT_OK(executor->SetOutput(1, two));
  COOPER_ASSERT_OK(executor->Forward(false));
}

}  // namespace
}  // namespace cooper
