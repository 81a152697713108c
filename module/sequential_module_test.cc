// Tests SequentialModule: modules in a chain compute and train like one network.

#include "module/sequential_module.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "module/bucketing/bucketing_module.h"
#include "module/initializer/initializers.h"
#include "module/metric/classification.h"
#include "module/network/module.h"
#include "ndarray/base/status_matchers.h"
#include "tests/module/module_fixtures.h"

namespace cooper {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

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

// A module gets the batch axis of the outputs of the module before, whichever it is.
TEST(SequentialModuleTest, TheBatchAxisGoesFromPartToPart) {
  const auto part = [](const char* name, const char* data, int contexts) {
    std::vector<Context> cpus;
    for (int i = 0; i < contexts; ++i) cpus.push_back(Context::Cpu(i));
    return *Module::Create(
        Op("tanh", {.name = name, .inputs = {Symbol::Variable(data)}}),
        {.data_names = {data}, .label_names = {}, .compute = {.contexts = cpus}});
  };
  std::vector<std::vector<float>> outputs, grads;
  for (const int contexts : {1, 2}) {
    SequentialModule chain;
    COOPER_ASSERT_OK(chain.Add(part("first", "data", contexts)));
    COOPER_ASSERT_OK(chain.Add(part("second", "first_output", contexts)));
    COOPER_ASSERT_OK(
        chain.Bind({.data_shapes = {{.name = "data", .shape = {3, 4, 2}, .layout = "TNC"}},
                    .inputs_need_grad = true}));
    COOPER_ASSERT_OK(chain.InitParams());
    COOPER_ASSERT_OK(chain.Forward({.data = {RandomArray({3, 4, 2}, 1)}}, true));
    COOPER_ASSERT_OK(chain.Backward({RandomArray({3, 4, 2}, 2)}));
    EXPECT_THAT(chain.output_layouts(), ElementsAre(BatchLayout::Samples(1)));
    outputs.push_back(Floats((*chain.GetOutputs())[0]));
    grads.push_back(Floats((*chain.GetInputGrads())[0]));
  }
  EXPECT_THAT(outputs[1], Pointwise(FloatNear(1e-6f), outputs[0]));
  EXPECT_THAT(grads[1], Pointwise(FloatNear(1e-6f), grads[0]));
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
      const int64_t rows = step == 2 ? 7 : 4;  // a batch of another size in between
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

// data (batch_size, length, 3) -> scaled, of the same shape -> pooled (batch_size, 3) -> softmax.
Symbol Scaled() {
  return Op("broadcast_mul",
            {.name = "scaled",
             .inputs = {Symbol::Variable("data"),
                        Symbol::Variable("scale_weight", {.shape = PartialShape({1, 1, 3})})}});
}
Symbol Pooled(const Symbol& scaled) {
  return Op("mean", {.name = "pooled", .inputs = {scaled}, .attrs = {{"axis", "1"}}});
}
Symbol Classified(const Symbol& pooled) {
  const Symbol fc =
      Op("FullyConnected", {.name = "fc", .inputs = {pooled}, .attrs = {{"num_hidden", "2"}}});
  return Op("SoftmaxOutput", {.name = "softmax", .inputs = {fc}});
}

std::unique_ptr<BucketingModule> Buckets(const Symbol& symbol, const std::string& data) {
  return *BucketingModule::Create(
      {.sym_gen = [=](const BucketKey&) -> absl::StatusOr<BucketSymbol> {
         return BucketSymbol{.symbol = symbol, .data_names = {data}};
       },
       .default_bucket_key = 4});
}

DataBatch SequenceBatch(int64_t length, uint64_t seed) {
  return {.data = {RandomArray({4, length, 3}, seed)},
          .label = {Classes(4, 2, seed)},
          .bucket_key = length,
          .provide_data = {{.name = "data", .shape = {4, length, 3}}}};
}

TEST(SequentialModuleTest, BucketsMayBeAnyPart) {
  const auto whole = Buckets(Classified(Pooled(Scaled())), "data");
  SequentialModule buckets_first;
  COOPER_ASSERT_OK(buckets_first.Add(Buckets(Pooled(Scaled()), "data")));
  COOPER_ASSERT_OK(buckets_first.Add(*Module::Create(Classified(Symbol::Variable("pooled_output")),
                                                     {.data_names = {"pooled_output"}}),
                                     {.take_labels = true}));
  SequentialModule buckets_last;
  COOPER_ASSERT_OK(buckets_last.Add(*Module::Create(Scaled(), {.label_names = {}})));
  COOPER_ASSERT_OK(buckets_last.Add(
      Buckets(Classified(Pooled(Symbol::Variable("scaled_output"))), "scaled_output"),
      {.take_labels = true}));
  ArrayMap params;
  for (BaseModule* module : std::vector<BaseModule*>{whole.get(), &buckets_first, &buckets_last}) {
    COOPER_ASSERT_OK(module->Bind({.data_shapes = SequenceBatch(4, 0).provide_data,
                                   .label_shapes = {{.name = "softmax_label", .shape = {4}}}}));
    COOPER_ASSERT_OK(module->InitParams({.initializer = init::Uniform(1), .seed = 5}));
    COOPER_ASSERT_OK(module->InitOptimizer({.optimizer_params = {{"learning_rate", "0.5"}}}));
    for (uint64_t step = 0; step < 6; ++step) {
      const int64_t length = std::vector<int64_t>{4, 2, 7}[step % 3];
      DataBatch batch = SequenceBatch(length, step);
      if (module == whole.get()) batch.provide_label = whole->label_shapes();
      COOPER_ASSERT_OK(module->Prepare(batch));
      COOPER_ASSERT_OK(module->ForwardBackward(batch));
      COOPER_ASSERT_OK(module->Update());
    }
    COOPER_ASSERT_OK_AND_ASSIGN(const ModuleParams trained, module->GetParams());
    if (module == whole.get()) params = trained.args;
    ASSERT_EQ(trained.args.size(), 3u);
    for (const auto& [name, array] : trained.args) {
      EXPECT_THAT(Floats(array), Pointwise(FloatNear(1e-6f), Floats(params.at(name)))) << name;
    }
  }
  for (const BaseModule* part : {&buckets_first.module(0), &buckets_last.module(1)}) {
    EXPECT_EQ(dynamic_cast<const BucketingModule&>(*part).Report().size(), 3u);
  }
}

TEST(SequentialModuleTest, GradientsAddUpAsInOneNetwork) {
  ModuleBindOptions bind = Shapes(4);
  bind.inputs_need_grad = false;
  bind.grad_req = WriteReq::kAdd;
  auto whole = *Module::Create(TwoLayers());
  SequentialModule chain = MakeChain(SecondHalf(), /*auto_wiring=*/false);
  COOPER_ASSERT_OK(whole->Bind(bind));
  COOPER_ASSERT_OK(chain.Bind(bind));
  COOPER_ASSERT_OK(whole->InitParams({.initializer = init::Uniform(0.5)}));
  COOPER_ASSERT_OK_AND_ASSIGN(const ModuleParams params, whole->GetParams());
  COOPER_ASSERT_OK(chain.InitParams({.initializer = nullptr, .arg_params = params.args}));
  for (uint64_t step = 0; step < 3; ++step) {
    const DataBatch batch{.data = {RandomArray({4, 6}, step)}, .label = {Classes(4, 3, step)}};
    COOPER_ASSERT_OK(whole->ForwardBackward(batch));
    COOPER_ASSERT_OK(chain.ForwardBackward(batch));
  }
  for (const auto& [name, array] : params.args) {
    EXPECT_EQ(Floats(*chain.GetGrad(name)), Floats(*whole->GetGrad(name))) << name;
  }
}

std::unique_ptr<Module> DropHalf(const std::string& data) {
  return *Module::Create(
      Op("Dropout",
         {.name = data + "_drop", .inputs = {Symbol::Variable(data)}, .attrs = {{"p", "0.5"}}}),
      {.data_names = {data}, .label_names = {}});
}

// The same mask again would keep everything that the first one kept.
TEST(SequentialModuleTest, PartsDrawNumbersOfTheirOwnWithoutASeedToo) {
  SequentialModule chain;
  COOPER_ASSERT_OK(chain.Add(DropHalf("data")));
  COOPER_ASSERT_OK(chain.Add(DropHalf("again"), {.auto_wiring = true}));
  COOPER_ASSERT_OK(chain.Bind({.data_shapes = {{.name = "data", .shape = {1, 256}}}}));
  COOPER_ASSERT_OK(chain.InitParams());
  COOPER_ASSERT_OK(chain.Forward({.data = {*NDArray::Full({1, 256}, 1)}}, true));
  const std::vector<float> left = Floats((*chain.GetOutputs())[0]);
  // A quarter instead of a half; sqrt(n p (1 - p)) is 7.
  EXPECT_LT(std::count(left.begin(), left.end(), 4.0F), 100);
}

// The float32 gradients of a module's data are the head gradients of one with 16-bit outputs.
TEST(SequentialModuleTest, PartsMayHaveOtherDTypes) {
  const Symbol cast =
      Op("Cast",
         {.name = "cast", .inputs = {Symbol::Variable("data")}, .attrs = {{"dtype", "float16"}}});
  SequentialModule chain;
  COOPER_ASSERT_OK(chain.Add(*Module::Create(cast, {.label_names = {}})));
  COOPER_ASSERT_OK(chain.Add(SecondHalf("cast_output"), {.take_labels = true}));
  COOPER_ASSERT_OK(chain.Bind(Shapes(4)));
  COOPER_ASSERT_OK(chain.InitParams({.initializer = init::Uniform(0.5)}));
  COOPER_ASSERT_OK(
      chain.ForwardBackward({.data = {RandomArray({4, 6}, 1)}, .label = {Classes(4, 3, 1)}}));
  COOPER_ASSERT_OK_AND_ASSIGN(const auto grads, chain.GetInputGrads());
  EXPECT_EQ(grads[0].dtype(), DType::kFloat32);
}

TEST(SequentialModuleTest, NeighboursThatDoNotFitAreNamedWithTheirShapes) {
  // Seven inputs for each of three units, while the module before has five outputs.
  const Symbol narrow =
      Op("FullyConnected",
         {.name = "fc2",
          .inputs = {Symbol::Variable("features")},
          .named = {{"weight", Symbol::Variable("fc2_weight", {.shape = PartialShape({3, 7})})}},
          .attrs = {{"num_hidden", "3"}}});
  SequentialModule chain =
      MakeChain(*Module::Create(Op("SoftmaxOutput", {.name = "softmax", .inputs = {narrow}}),
                                {.data_names = {"features"}}),
                /*auto_wiring=*/true);
  EXPECT_THAT(
      chain.Bind(Shapes(4)),
      StatusIs(kInvalidArgument, AllOf(HasSubstr("module 1, which gets act_output (4, 5) of module "
                                                 "0 as its data (features): "),
                                       HasSubstr("(3, 7)"), HasSubstr("'fc2'"))));
  EXPECT_THAT(chain.Forward({}), StatusIs(kFailedPrecondition, HasSubstr("call Bind first")));

  const Symbol sum =
      Op("elemwise_add", {.name = "sum", .inputs = {Symbol::Variable("a"), Symbol::Variable("b")}});
  for (bool auto_wiring : {false, true}) {
    chain = MakeChain(*Module::Create(sum, {.data_names = {"a", "b"}}), auto_wiring);
    EXPECT_THAT(chain.Bind(Shapes(4)),
                StatusIs(kInvalidArgument,
                         AllOf(HasSubstr("module 1"), HasSubstr("(a, b)"), HasSubstr("module 0"),
                               HasSubstr("act_output"), HasSubstr("(4, 5)"))));
  }
}

TEST(SequentialModuleTest, OutputsOfOneNameAreNotTakenByIt) {
  const Symbol data = Symbol::Variable("data");
  const Symbol both = *Symbol::Group(
      {Op("relu", {.name = "r", .inputs = {data}}), Op("abs", {.name = "r", .inputs = {data}})});
  const Symbol sum =
      Op("elemwise_add",
         {.name = "sum", .inputs = {Symbol::Variable("r_output"), Symbol::Variable("other")}});
  for (const bool auto_wiring : {false, true}) {
    SequentialModule chain;
    COOPER_ASSERT_OK(chain.Add(*Module::Create(both, {.label_names = {}})));
    COOPER_ASSERT_OK(
        chain.Add(*Module::Create(sum, {.data_names = {"r_output", "other"}, .label_names = {}}),
                  {.auto_wiring = auto_wiring}));
    const absl::Status bound = chain.Bind({.data_shapes = Shapes(4).data_shapes});
    if (auto_wiring) {
      COOPER_EXPECT_OK(bound);
    } else {
      EXPECT_THAT(bound, StatusIs(kInvalidArgument,
                                  HasSubstr("two outputs of module 0 are called 'r_output', "
                                            "numbers 0 and 1; give one")));
    }
  }
}

TEST(SequentialModuleTest, ErrorsNameBothNeighboursOrTheMissingCall) {
  SequentialModule empty;
  EXPECT_THAT(empty.Bind(Shapes(4)), StatusIs(kFailedPrecondition, HasSubstr("call Add first")));
  EXPECT_THAT(empty.symbol(), StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("symbol")));

  SequentialModule unwired = MakeChain(SecondHalf("features"), /*auto_wiring=*/false);
  EXPECT_THAT(unwired.Bind(Shapes(4)),
              StatusIs(kInvalidArgument,
                       AllOf(HasSubstr("'act_output' (4, 5) of module 0"), HasSubstr("module 1"),
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
  // Parameters of the module before are unchanged.
  COOPER_ASSERT_OK_AND_ASSIGN(const ModuleParams before, chain.GetParams());
  EXPECT_THAT(
      chain.SetParams({{"fc1_bias", RandomArray({5}, 1)}, {"fc9_bias", RandomArray({3}, 1)}}, {},
                      {.allow_missing = true}),
      StatusIs(kInvalidArgument, HasSubstr("'fc9_bias'")));
  EXPECT_THAT(
      chain.SetParams({{"fc1_bias", RandomArray({5}, 1)}, {"fc2_bias", RandomArray({9}, 1)}}, {},
                      {.allow_missing = true}),
      StatusIs(kInvalidArgument, HasSubstr("module 1: parameter 'fc2_bias'")));
  COOPER_ASSERT_OK_AND_ASSIGN(const ModuleParams after, chain.GetParams());
  EXPECT_EQ(Floats(after.args.at("fc1_bias")), Floats(before.args.at("fc1_bias")));
  EXPECT_THAT(chain.Forward({.data = {RandomArray({4, 8}, 1)}}),
              StatusIs(kInvalidArgument, AllOf(HasSubstr("module 0"), HasSubstr("(4, 8)"))));
}

}  // namespace
}  // namespace cooper
