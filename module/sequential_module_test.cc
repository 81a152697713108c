// SequentialModule: two modules in a row compute and learn as one network does.

#include "module/sequential_module.h"

#include <memory>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "module/initializer/initializers.h"
#include "module/metric/classification.h"
#include "module/module.h"
#include "module/module_fixtures.h"
#include "ndarray/status_matchers.h"

namespace cooper {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr auto kInvalidArgument = absl::StatusCode::kInvalidArgument;
constexpr auto kFailedPrecondition = absl::StatusCode::kFailedPrecondition;

// The halves of TwoLayers().
std::unique_ptr<Module> FirstHalf() {
  const Symbol fc1 =
      Op("FullyConnected",
         {.name = "fc1", .inputs = {Symbol::Variable("data")}, .attrs = {{"num_hidden", "5"}}});
  return *Module::Create(
      Op("Activation", {.name = "act", .inputs = {fc1}, .attrs = {{"act_type", "tanh"}}}),
      {.label_names = {}});
}

std::unique_ptr<Module> SecondHalf(const std::string& data = "act_output",
                                   const std::string& layer = "fc2") {
  const Symbol fc2 =
      Op("FullyConnected",
         {.name = layer, .inputs = {Symbol::Variable(data)}, .attrs = {{"num_hidden", "3"}}});
  return *Module::Create(Op("SoftmaxOutput", {.name = "softmax", .inputs = {fc2}}),
                         {.data_names = {data}});
}

SequentialModule MakeChain(std::unique_ptr<Module> second, bool auto_wiring) {
  SequentialModule chain;
  COOPER_EXPECT_OK(chain.Add(FirstHalf()));
  COOPER_EXPECT_OK(chain.Add(std::move(second), {.take_labels = true, .auto_wiring = auto_wiring}));
  return chain;
}

ModuleBindOptions Shapes(int64_t rows) {
  return {.data_shapes = {{.name = "data", .shape = {rows, 6}, .layout = "NC"}},
          .label_shapes = {{.name = "softmax_label", .shape = {rows}, .layout = "N"}},
          .inputs_need_grad = true};
}

TEST(SequentialModuleTest, LearnsAsOneNetworkDoes) {
  for (bool auto_wiring : {false, true}) {
    SCOPED_TRACE(auto_wiring);
    auto whole = *Module::Create(TwoLayers());
    SequentialModule chain =
        MakeChain(SecondHalf(auto_wiring ? "features" : "act_output"), auto_wiring);
    EXPECT_THAT(chain.data_names(), ElementsAre("data"));
    EXPECT_THAT(chain.label_names(), ElementsAre("softmax_label"));
    EXPECT_THAT(chain.output_names(), ElementsAre("softmax_output"));
    COOPER_ASSERT_OK(whole->Bind(Shapes(4)));
    COOPER_ASSERT_OK(chain.Bind(Shapes(4)));
    COOPER_ASSERT_OK(whole->InitParams({.initializer = init::Uniform(0.5)}));
    COOPER_ASSERT_OK_AND_ASSIGN(const ModuleParams params, whole->GetParams());
    COOPER_ASSERT_OK(chain.InitParams({.initializer = nullptr, .arg_params = params.args}));
    for (BaseModule* module :
         {static_cast<BaseModule*>(whole.get()), static_cast<BaseModule*>(&chain)}) {
      COOPER_ASSERT_OK(module->InitOptimizer(
          {.optimizer_params = {{"learning_rate", "0.1"}, {"momentum", "0.9"}}}));
    }
    const auto whole_metric = Accuracy({});
    const auto chain_metric = Accuracy({});
    for (uint64_t step = 0; step < 4; ++step) {
      const int64_t rows = step == 2 ? 7 : 4;  // a batch of another size on the way
      const DataBatch batch{.data = {RandomArray({rows, 6}, step)},
                            .label = {Classes(rows, 3, step)}};
      COOPER_ASSERT_OK(whole->ForwardBackward(batch));
      COOPER_ASSERT_OK(chain.ForwardBackward(batch));
      EXPECT_EQ(Floats((*chain.GetOutputs())[0]), Floats((*whole->GetOutputs())[0]));
      EXPECT_EQ(Floats((*chain.GetInputGrads())[0]), Floats((*whole->GetInputGrads())[0]));
      COOPER_ASSERT_OK(whole->UpdateMetric(*whole_metric, batch.label));
      COOPER_ASSERT_OK(chain.UpdateMetric(*chain_metric, batch.label));
      COOPER_ASSERT_OK(whole->Update());
      COOPER_ASSERT_OK(chain.Update());
    }
    EXPECT_EQ(chain_metric->GetNameValue(), whole_metric->GetNameValue());
    COOPER_ASSERT_OK_AND_ASSIGN(const ModuleParams expected, whole->GetParams());
    COOPER_ASSERT_OK_AND_ASSIGN(const ModuleParams got, chain.GetParams());
    ASSERT_EQ(got.args.size(), expected.args.size());
    for (const auto& [name, array] : expected.args) {
      EXPECT_EQ(Floats(got.args.at(name)), Floats(array)) << name;
    }
  }
}

TEST(SequentialModuleTest, ErrorsNameBothNeighboursOrTheMissingCall) {
  SequentialModule empty;
  EXPECT_THAT(empty.Bind(Shapes(4)), StatusIs(kFailedPrecondition, HasSubstr("call Add first")));
  EXPECT_THAT(empty.symbol(), StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("symbol")));

  SequentialModule unwired = MakeChain(SecondHalf("features"), /*auto_wiring=*/false);
  EXPECT_THAT(
      unwired.Bind(Shapes(4)),
      StatusIs(kInvalidArgument, AllOf(HasSubstr("'act_output' of module 0"), HasSubstr("module 1"),
                                       HasSubstr("(features)"), HasSubstr("auto_wiring"))));
  EXPECT_THAT(unwired.Forward({}), StatusIs(kFailedPrecondition, HasSubstr("call Bind first")));

  SequentialModule chain = MakeChain(SecondHalf("act_output", "fc1"), /*auto_wiring=*/false);
  COOPER_ASSERT_OK(chain.Bind(Shapes(4)));
  EXPECT_THAT(chain.Add(FirstHalf()), StatusIs(kFailedPrecondition, HasSubstr("bound")));
  EXPECT_THAT(chain.InitOptimizer(), StatusIs(kFailedPrecondition, HasSubstr("InitParams")));
  EXPECT_THAT(chain.InitParams(),
              StatusIs(kInvalidArgument, AllOf(HasSubstr("'fc1_"), HasSubstr("module 1"))));

  chain = MakeChain(SecondHalf(), /*auto_wiring=*/true);
  COOPER_ASSERT_OK(chain.Bind(Shapes(4)));
  COOPER_ASSERT_OK(chain.InitParams());
  EXPECT_THAT(chain.SetParams({{"fc9_bias", RandomArray({3}, 1)}}, {}, {.allow_missing = true}),
              StatusIs(kInvalidArgument, HasSubstr("'fc9_bias'")));
  EXPECT_THAT(chain.SetParams({{"fc1_bias", RandomArray({5}, 1)}}, {}),
              StatusIs(kInvalidArgument, HasSubstr("module 0: parameter 'fc1_weight'")));
  EXPECT_THAT(chain.Forward({.data = {RandomArray({4, 8}, 1)}}),
              StatusIs(kInvalidArgument, AllOf(HasSubstr("module 0"), HasSubstr("(4, 8)"))));
}

}  // namespace
}  // namespace cooper
