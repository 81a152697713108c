// Tests that gradients reported by Backward are final: they do not change until its end.

#include "executor/run/grad_order.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "executor/executor.h"
#include "executor/executor_fixtures.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/graph/symbol.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Returns four layers. The first and the third share one weight, whose gradient is a sum.
Symbol SharedWeight() {
  const Symbol weight = Symbol::Variable("shared_weight");
  Symbol x = Symbol::Variable("data");
  for (const std::string name : {"first", "middle", "third", "top"}) {
    const bool own = name == "middle" || name == "top";
    x = Op("FullyConnected", {.name = name,
                              .inputs = {x, own ? Symbol::Variable(name + "_weight") : weight},
                              .attrs = {{"num_hidden", "4"}, {"no_bias", "True"}}});
  }
  return x;
}

std::unique_ptr<Executor> Bind(WriteReq req) {
  auto bound = Executor::SimpleBind(
      SharedWeight(),
      {.shapes = {{"data", {3, 4}}}, .grad_req = req, .grad_reqs = {{"data", WriteReq::kNull}}});
  EXPECT_TRUE(bound.ok()) << bound.status();
  uint64_t seed = 1;
  for (const auto& [name, array] : (*bound)->arg_dict()) FillRandom(array, seed++);
  return *std::move(bound);
}

TEST(GradOrderTest, EachIsToldOfOnceAndStaysAsItIs) {
  for (const WriteReq req : {WriteReq::kWrite, WriteReq::kAdd}) {
    const auto executor = Bind(req);
    for (int step = 0; step < 2; ++step) {
      COOPER_ASSERT_OK(executor->Forward(/*is_train=*/true));
      std::vector<std::string> order;
      std::map<std::string, std::vector<float>> then;
      COOPER_ASSERT_OK(
          executor->Backward(RandomArrays({{3, 4}}, 9), [&](const std::string& name, DeviceQueue&) {
            order.push_back(name);
            then[name] = Floats(executor->grad(name));
            return absl::OkStatus();
          }));
      EXPECT_THAT(order, ElementsAre("top_weight", "middle_weight", "shared_weight"));
      for (const auto& [name, values] : then) {
        EXPECT_EQ(values, Floats(executor->grad(name))) << name;
      }
    }
  }
}

TEST(GradOrderTest, TheCallersErrorIsTold) {
  const auto executor = Bind(WriteReq::kWrite);
  COOPER_ASSERT_OK(executor->Forward(/*is_train=*/true));
  int calls = 0;
  EXPECT_THAT(executor->Backward(RandomArrays({{3, 4}}, 9),
                                 [&](const std::string&, DeviceQueue&) -> absl::Status {
                                   return ++calls == 2 ? absl::DataLossError("the second")
                                                       : absl::OkStatus();
                                 }),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("the second")));
  EXPECT_EQ(calls, 3) << "the pass goes on";
}

TEST(GradOrderTest, AMonitoredPassTellsOfNone) {
  const auto executor = Bind(WriteReq::kWrite);
  executor->SetMonitorCallback([](const std::string&, const NDArray&) {});
  COOPER_ASSERT_OK(executor->Forward(/*is_train=*/true));
  COOPER_EXPECT_OK(executor->Backward(
      RandomArrays({{3, 4}}, 9),
      [](const std::string& name, DeviceQueue&) { return absl::InternalError(name); }));
}

// The graph as written ran forward. It has one instruction more than the graph after passes, so
// positions of instructions do not fit.
TEST(GradOrderTest, NorDoesOneWhoseMonitorIsGone) {
  const Symbol net = Op("SoftmaxOutput", {.name = "softmax", .inputs = {SharedWeight()}});
  COOPER_ASSERT_OK_AND_ASSIGN(const auto executor,
                              Executor::SimpleBind(net, {.shapes = {{"data", {3, 4}}}}));
  ASSERT_THAT(executor->DebugString(), HasSubstr("_fc_softmax_output"));
  const auto told = [](const std::string& name, DeviceQueue&) { return absl::InternalError(name); };
  executor->SetMonitorCallback([](const std::string&, const NDArray&) {});
  COOPER_ASSERT_OK(executor->Forward(/*is_train=*/true));
  executor->SetMonitorCallback({});
  COOPER_EXPECT_OK(executor->Backward({}, told));
  COOPER_ASSERT_OK(executor->Forward(/*is_train=*/true));
  EXPECT_THAT(executor->Backward({}, told), StatusIs(absl::StatusCode::kInternal, HasSubstr("top")))
      << "told again from the next Forward on";
}

}  // namespace
}  // namespace cooper
