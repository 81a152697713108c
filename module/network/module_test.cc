// Tests Module: the order of calls, valid and invalid batches, what training changes, checkpoints.

#include "module/network/module.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/iterators/ndarray_iter.h"
#include "module/initializer/initializers.h"
#include "module/metric/classification.h"
#include "module/parameters/checkpoint.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/status_matchers.h"
#include "tests/module/module_fixtures.h"

namespace cooper {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr auto kFailedPrecondition = absl::StatusCode::kFailedPrecondition;
constexpr auto kInvalidArgument = absl::StatusCode::kInvalidArgument;

std::unique_ptr<Module> MakeModule(ModuleOptions options = {}) {
  auto module = Module::Create(TwoLayers(), std::move(options));
  EXPECT_TRUE(module.ok()) << module.status();
  return *std::move(module);
}

ModuleBindOptions Shapes(int64_t rows) {
  return {.data_shapes = {{.name = "data", .shape = {rows, 6}, .layout = "NC"}},
          .label_shapes = {{.name = "softmax_label", .shape = {rows}, .layout = "N"}}};
}

// Returns a module bound to 4 rows, with parameters and sgd with momentum.
std::unique_ptr<Module> MakeTrainable(ModuleOptions options = {}) {
  auto module = MakeModule(std::move(options));
  COOPER_EXPECT_OK(module->Bind(Shapes(4)));
  COOPER_EXPECT_OK(module->InitParams({.initializer = init::Uniform(0.5)}));
  COOPER_EXPECT_OK(
      module->InitOptimizer({.optimizer_params = {{"learning_rate", "0.1"}, {"momentum", "0.9"}}}));
  return module;
}

DataBatch RandomBatch(int64_t rows, uint64_t seed) {
  return {.data = {RandomArray({rows, 6}, seed)}, .label = {Classes(rows, 3, seed)}};
}

void Train(BaseModule& module, int64_t first, int64_t last) {
  for (int64_t step = first; step < last; ++step) {
    COOPER_ASSERT_OK(module.ForwardBackward(RandomBatch(4, step)));
    COOPER_ASSERT_OK(module.Update());
  }
}

TEST(ModuleTest, ACallThatComesTooEarlyNamesTheMissingOne) {
  auto module = MakeModule();
  const DataBatch batch = RandomBatch(4, 1);
  EXPECT_THAT(module->InitParams(), StatusIs(kFailedPrecondition, "InitParams: call Bind first"));
  EXPECT_THAT(module->Forward(batch), StatusIs(kFailedPrecondition, HasSubstr("call Bind first")));
  EXPECT_THAT(module->Reshape({}, {}), StatusIs(kFailedPrecondition, HasSubstr("Bind")));
  COOPER_ASSERT_OK(module->Bind(Shapes(4)));
  EXPECT_THAT(module->Forward(batch),
              StatusIs(kFailedPrecondition, HasSubstr("call InitParams first")));
  EXPECT_THAT(module->InitOptimizer(),
              StatusIs(kFailedPrecondition, HasSubstr("call InitParams first")));
  EXPECT_THAT(module->GetParams(), StatusIs(kFailedPrecondition, HasSubstr("InitParams")));
  COOPER_ASSERT_OK(module->InitParams());
  EXPECT_THAT(module->Update(), StatusIs(kFailedPrecondition, HasSubstr("call InitOptimizer")));
  EXPECT_THAT(module->GetInputGrads(),
              StatusIs(kFailedPrecondition, HasSubstr("inputs_need_grad")));
  COOPER_ASSERT_OK(module->InitOptimizer());
  EXPECT_THAT(module->GetOutputs(), Not(IsOk())) << "nothing has been computed";
  COOPER_ASSERT_OK(module->ForwardBackward(batch));
  COOPER_ASSERT_OK(module->Update());
  COOPER_EXPECT_OK(module->GetOutputs());
}

TEST(ModuleTest, AStepDoesWhatItIsAskedTo) {
  const auto by_calls = MakeTrainable(), by_steps = MakeTrainable();
  const auto params = [](const Module& module) {
    return Floats(module.GetParams()->args.at("fc1_weight"));
  };
  for (int64_t step = 0; step < 3; ++step) {
    const DataBatch batch = RandomBatch(4, step);
    COOPER_ASSERT_OK(by_calls->Forward(batch, /*is_train=*/true));
    COOPER_ASSERT_OK(by_calls->Backward());
    const std::vector<float> before = params(*by_steps);
    if (step == 0) {
      COOPER_ASSERT_OK(by_steps->TrainStep(batch, {.check_finite = true, .update = false}));
      EXPECT_EQ(Floats(*by_steps->GetGrad("fc1_weight")), Floats(*by_calls->GetGrad("fc1_weight")));
      EXPECT_EQ(params(*by_steps), before);
      COOPER_ASSERT_OK(by_steps->Update());
    } else {
      COOPER_ASSERT_OK(by_steps->TrainStep(batch, {.check_finite = step == 1}));
    }
    COOPER_ASSERT_OK(by_calls->Update());
    EXPECT_EQ(params(*by_steps), params(*by_calls));
    EXPECT_NE(params(*by_steps), before);
  }
  DataBatch batch = RandomBatch(4, 3);
  COOPER_ASSERT_OK(batch.data[0].Fill(std::nan("")));
  EXPECT_THAT(by_steps->TrainStep(batch, {.check_finite = true}),
              StatusIs(absl::StatusCode::kOutOfRange,
                       "the loss 'softmax_output' has elements that are not finite"));
  EXPECT_EQ(params(*by_steps), params(*by_calls));
  const auto unready = MakeModule();
  COOPER_ASSERT_OK(unready->Bind(Shapes(4)));
  COOPER_ASSERT_OK(unready->InitParams());
  EXPECT_THAT(unready->TrainStep(RandomBatch(4, 1)),
              StatusIs(kFailedPrecondition, "TrainStep: call InitOptimizer first"));
}

TEST(ModuleTest, NamesThatAreNoArgumentsAreRefused) {
  EXPECT_THAT(Module::Create(TwoLayers(), {.data_names = {"dat"}}),
              StatusIs(kInvalidArgument, HasSubstr("'dat', which is no argument")));
  EXPECT_THAT(Module::Create(TwoLayers(), {.compute = {.fixed_param_names = {"fc1_weihgt"}}}),
              StatusIs(kInvalidArgument, HasSubstr("fc1_weight")));
  EXPECT_THAT(Module::Create(TwoLayers(), {.compute = {.state_names = {"h"}}}),
              StatusIs(kInvalidArgument, HasSubstr("'h'")));
  auto module = MakeModule();
  EXPECT_THAT(module->Bind({.data_shapes = {{.name = "image", .shape = {4, 6}}}}),
              StatusIs(kInvalidArgument, HasSubstr("expected data_names (data)")));
}

TEST(ModuleTest, ABatchThatDoesNotFitIsNamed) {
  auto module = MakeTrainable();
  DataBatch batch = RandomBatch(4, 1);
  batch.data.clear();
  EXPECT_THAT(module->Forward(batch), StatusIs(kInvalidArgument, HasSubstr("0 data arrays")));
  batch.data = {RandomArray({4, 7}, 1)};
  EXPECT_THAT(module->Forward(batch), StatusIs(kInvalidArgument, HasSubstr("(4, 7)")));
  // The module stays usable.
  COOPER_EXPECT_OK(module->Forward(RandomBatch(4, 1)));
}

TEST(ModuleTest, ABatchOfAnotherSizeReshapes) {
  auto module = MakeTrainable();
  COOPER_ASSERT_OK(module->Forward(RandomBatch(4, 1), /*is_train=*/false));
  const std::vector<float> four = Floats((*module->GetOutputs())[0]);
  COOPER_ASSERT_OK(module->Forward(RandomBatch(9, 2), /*is_train=*/false));
  EXPECT_EQ((*module->GetOutputs())[0].shape(), Shape({9, 3}));
  EXPECT_EQ(module->data_shapes()[0].shape, Shape({9, 6}));
  COOPER_ASSERT_OK(module->Forward(RandomBatch(4, 1), /*is_train=*/false));
  EXPECT_EQ(Floats((*module->GetOutputs())[0]), four);
  COOPER_ASSERT_OK(module->Reshape(Shapes(2).data_shapes, Shapes(2).label_shapes));
  EXPECT_EQ(module->output_shapes()[0].second, Shape({2, 3}));
}

TEST(ModuleTest, FixedParametersStay) {
  auto module = MakeTrainable({.compute = {.fixed_param_names = {"fc1_weight"}}});
  COOPER_ASSERT_OK_AND_ASSIGN(const ModuleParams before, module->GetParams());
  Train(*module, 0, 3);
  COOPER_ASSERT_OK_AND_ASSIGN(const ModuleParams after, module->GetParams());
  EXPECT_EQ(Floats(after.args.at("fc1_weight")), Floats(before.args.at("fc1_weight")));
  EXPECT_NE(Floats(after.args.at("fc2_weight")), Floats(before.args.at("fc2_weight")));
  EXPECT_THAT(module->GetGrad("fc1_weight"), StatusIs(absl::StatusCode::kNotFound, HasSubstr("")));
}

TEST(ModuleTest, WithNothingToLearnTrainingChangesNothing) {
  auto module = MakeTrainable(
      {.compute = {.fixed_param_names = {"fc1_weight", "fc1_bias", "fc2_weight", "fc2_bias"}}});
  EXPECT_THAT(module->Backward(), StatusIs(kFailedPrecondition, HasSubstr("Forward")));
  COOPER_ASSERT_OK_AND_ASSIGN(const ModuleParams before, module->GetParams());
  Train(*module, 0, 2);
  COOPER_ASSERT_OK_AND_ASSIGN(const ModuleParams after, module->GetParams());
  EXPECT_EQ(Floats(after.args.at("fc1_weight")), Floats(before.args.at("fc1_weight")));
}

TEST(ModuleTest, GradientsOfInputsAreThoseOfFiniteDifferences) {
  auto module = MakeModule();
  ModuleBindOptions options = Shapes(4);
  options.inputs_need_grad = true;
  COOPER_ASSERT_OK(module->Bind(options));
  COOPER_ASSERT_OK(module->InitParams({.initializer = init::Uniform(0.5)}));
  const DataBatch batch = RandomBatch(4, 3);
  COOPER_ASSERT_OK(module->ForwardBackward(batch));
  COOPER_ASSERT_OK_AND_ASSIGN(const std::vector<NDArray> grads, module->GetInputGrads());
  const std::vector<float> grad = Floats(grads[0]);

  const std::vector<float> labels = Floats(batch.label[0]);
  const auto loss = [&](size_t element, float step) {
    std::vector<float> values = Floats(batch.data[0]);
    values[element] += step;
    DataBatch moved = batch;
    moved.data = {*NDArray::FromVector<float>({4, 6}, values)};
    COOPER_EXPECT_OK(module->Forward(moved, /*is_train=*/true));
    const std::vector<float> probabilities = Floats((*module->GetOutputs())[0]);
    double sum = 0;
    for (size_t row = 0; row < 4; ++row) {
      sum -= std::log(probabilities[row * 3 + static_cast<size_t>(labels[row])]);
    }
    return sum;
  };
  for (size_t i : {0u, 7u, 23u}) {
    constexpr float kStep = 1e-2;
    EXPECT_NEAR(grad[i], (loss(i, kStep) - loss(i, -kStep)) / (2 * kStep), 2e-3) << i;
  }
}

TEST(ModuleTest, ParametersThatAreMissingOrTooManyAreNamed) {
  auto module = MakeTrainable();
  COOPER_ASSERT_OK_AND_ASSIGN(const ModuleParams params, module->GetParams());
  ArrayMap some = params.args;
  some.erase("fc2_bias");
  EXPECT_THAT(module->SetParams(some, {}), StatusIs(kInvalidArgument, HasSubstr("'fc2_bias'")));
  COOPER_EXPECT_OK(module->SetParams(some, {}, {.allow_missing = true}));
  some["fc3_bias"] = RandomArray({3}, 1);
  EXPECT_THAT(module->SetParams(some, {}, {.allow_missing = true}),
              StatusIs(kInvalidArgument, HasSubstr("no parameter 'fc3_bias'")));
  COOPER_EXPECT_OK(module->SetParams(some, {}, {.allow_missing = true, .allow_extra = true}));
  some = params.args;
  some["fc2_bias"] = RandomArray({4}, 1);
  EXPECT_THAT(module->SetParams(some, {}), StatusIs(kInvalidArgument, HasSubstr("fc2_bias")));
  COOPER_ASSERT_OK_AND_ASSIGN(const ModuleParams after, module->GetParams());
  EXPECT_EQ(Floats(after.args.at("fc1_weight")), Floats(params.args.at("fc1_weight")));
}

TEST(ModuleTest, ValuesThatAreRefusedChangeNothing) {
  auto module = MakeTrainable();
  COOPER_ASSERT_OK_AND_ASSIGN(const ModuleParams before, module->GetParams());
  ArrayMap others;
  for (const auto& [name, array] : before.args) others[name] = *NDArray::Zeros(array.shape());
  const auto expect_refused = [&](const ArrayMap& args, bool allow_missing, const char* what) {
    EXPECT_THAT(module->SetParams(args, {}, {.allow_missing = allow_missing}),
                StatusIs(kInvalidArgument, HasSubstr(what)));
    COOPER_ASSERT_OK_AND_ASSIGN(const ModuleParams after, module->GetParams());
    for (const auto& [name, array] : before.args) {
      EXPECT_EQ(Floats(after.args.at(name)), Floats(array)) << name;
    }
  };
  ArrayMap some = others;
  some.erase("fc2_weight");
  expect_refused(some, false, "'fc2_weight' is not among the given ones");
  some = others;
  some["fc3_bias"] = RandomArray({3}, 1);
  expect_refused(some, true, "no parameter 'fc3_bias'");
  some = others;
  some["fc2_weight"] = RandomArray({3, 4}, 1);
  for (bool allow_missing : {false, true}) {
    expect_refused(some, allow_missing, "'fc2_weight' is given with shape (3, 4), expected (3, 5)");
  }
  some["fc2_weight"] = NDArray();
  for (bool allow_missing : {false, true}) {
    expect_refused(some, allow_missing, "'fc2_weight' is given as a null array, expected (3, 5)");
  }
}

// An evaluation of larger batches may precede the training.
TEST(ModuleTest, GradientsAreNotScaledByTheBatchSizeOfAnEvaluation) {
  auto module = MakeModule();
  COOPER_ASSERT_OK(module->Bind(Shapes(4)));
  COOPER_ASSERT_OK(module->InitParams());
  COOPER_ASSERT_OK(module->ForwardToEvaluate(RandomBatch(9, 1)));
  COOPER_ASSERT_OK(module->InitOptimizer());
  EXPECT_EQ(module->group()->updater()->optimizer().rescale_grad(), 1.0 / 4);
}

TEST(ModuleTest, ParametersAreCopies) {
  auto module = MakeTrainable();
  COOPER_ASSERT_OK_AND_ASSIGN(const ModuleParams params, module->GetParams());
  const std::vector<float> before = Floats(params.args.at("fc1_weight"));
  Train(*module, 0, 1);
  EXPECT_EQ(Floats(params.args.at("fc1_weight")), before);
}

TEST(ModuleTest, StatesLastFromBatchToBatch) {
  const Symbol sum =
      Op("elemwise_add",
         {.name = "sum", .inputs = {Symbol::Variable("data"), Symbol::Variable("carried")}});
  COOPER_ASSERT_OK_AND_ASSIGN(
      auto module,
      Module::Create(sum, {.label_names = {}, .compute = {.state_names = {"carried"}}}));
  COOPER_ASSERT_OK(module->Bind(
      {.data_shapes = {{.name = "data", .shape = {2}, .layout = "N"}}, .for_training = false}));
  COOPER_ASSERT_OK(module->InitParams());
  EXPECT_THAT(module->param_names(), IsEmpty());
  COOPER_ASSERT_OK_AND_ASSIGN(const std::vector<NDArray> states, module->GetStates());
  EXPECT_THAT(Floats(states[0]), Each(0.0f));
  const DataBatch batch{.data = {*NDArray::FromVector<float>({2}, {1, 2})}};
  for (int step = 1; step <= 3; ++step) {
    COOPER_ASSERT_OK(module->Forward(batch));
    COOPER_ASSERT_OK_AND_ASSIGN(const auto outputs, module->GetOutputs());
    EXPECT_THAT(Floats(outputs[0]), ElementsAre(1.0f * step, 2.0f * step));
    COOPER_ASSERT_OK(module->SetStates(outputs));
  }
  COOPER_ASSERT_OK(module->SetStates(5.0));
  COOPER_ASSERT_OK(module->Forward(batch));
  EXPECT_THAT(Floats((*module->GetOutputs())[0]), ElementsAre(6, 7));
  EXPECT_THAT(module->SetStates(std::vector<NDArray>{}), Not(IsOk()));
}

TEST(ModuleTest, ACheckpointGoesOnAsIfItHadNotBeen) {
  const std::string prefix = testing::TempDir() + "/module";
  auto whole = MakeTrainable();
  Train(*whole, 0, 6);
  auto first = MakeTrainable();
  Train(*first, 0, 2);
  COOPER_ASSERT_OK(first->SaveCheckpoint(prefix, 2, /*save_optimizer_states=*/true));

  COOPER_ASSERT_OK_AND_ASSIGN(auto second, Module::Load(prefix, 2, /*load_optimizer_states=*/true));
  COOPER_ASSERT_OK(second->Bind(Shapes(4)));
  COOPER_ASSERT_OK(
      second->InitOptimizer({.optimizer_params = {{"learning_rate", "0.1"}, {"momentum", "0.9"}}}));
  Train(*second, 2, 6);
  COOPER_ASSERT_OK_AND_ASSIGN(const ModuleParams expected, whole->GetParams());
  COOPER_ASSERT_OK_AND_ASSIGN(const ModuleParams got, second->GetParams());
  ASSERT_EQ(got.args.size(), 4u);
  for (const auto& [name, array] : expected.args) {
    EXPECT_EQ(Floats(got.args.at(name)), Floats(array)) << name;
  }
}

// MXNet reads a file of NumPy mode in that mode only, others outside of it.
TEST(ModuleTest, ACheckpointOfNumpyModeStaysOne) {
  const std::string prefix = testing::TempDir() + "/numpy";
  COOPER_ASSERT_OK_AND_ASSIGN(const ModuleParams params, MakeTrainable()->GetParams());
  for (const bool np_shape : {false, true}) {
    COOPER_ASSERT_OK(
        SaveCheckpoint(prefix, 1, TwoLayers(), params.args, {}, {.np_shape = np_shape}));
    COOPER_ASSERT_OK_AND_ASSIGN(const auto loaded, Module::Load(prefix, 1));
    COOPER_ASSERT_OK(loaded->Bind(Shapes(4)));
    COOPER_ASSERT_OK(loaded->SaveCheckpoint(prefix, 2));
    EXPECT_EQ(*ReadFile(prefix + "-0002.params"), *ReadFile(prefix + "-0001.params"));
    COOPER_ASSERT_OK_AND_ASSIGN(const ModuleParams got, loaded->GetParams());
    EXPECT_EQ(got.format.np_shape, np_shape);
  }
}

TEST(ModuleTest, ACheckpointThatIsNotThereOrDamagedIsNamed) {
  const std::string prefix = testing::TempDir() + "/damaged";
  EXPECT_THAT(Module::Load(prefix, 1),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("damaged-symbol.json")));
  auto module = MakeTrainable();
  COOPER_ASSERT_OK(module->SaveCheckpoint(prefix, 1, /*save_optimizer_states=*/true));
  EXPECT_THAT(Module::Load(prefix, 2),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("damaged-0002.params")));
  COOPER_ASSERT_OK(WriteFileAtomically(prefix + "-0001.states", "no states"));
  EXPECT_THAT(Module::Load(prefix, 1, /*load_optimizer_states=*/true),
              StatusIs(kInvalidArgument, HasSubstr("the file is text that begins with 'no s")));
  COOPER_ASSERT_OK_AND_ASSIGN(std::string bytes, ReadFile(prefix + "-0001.params"));
  COOPER_ASSERT_OK(WriteFileAtomically(prefix + "-0001.params", bytes.substr(0, 100)));
  EXPECT_THAT(Module::Load(prefix, 1),
              StatusIs(kInvalidArgument, HasSubstr("damaged-0001.params")));
}

TEST(ModuleTest, ABindThatFailedCanBeDoneAgain) {
  const std::string prefix = testing::TempDir() + "/rebound";
  COOPER_ASSERT_OK(MakeTrainable()->SaveCheckpoint(prefix, 1));
  COOPER_ASSERT_OK_AND_ASSIGN(auto loaded, Module::Load(prefix, 1));
  ModuleBindOptions wrong = Shapes(4);
  wrong.data_shapes[0].shape = {4, 7};
  EXPECT_FALSE(loaded->Bind(wrong).ok());
  EXPECT_FALSE(loaded->binded());
  COOPER_ASSERT_OK(loaded->Bind(Shapes(4)));
  EXPECT_TRUE(loaded->params_initialized());

  // Parameters without values may still change their shapes.
  auto module = MakeModule();
  COOPER_ASSERT_OK(module->Bind(wrong));
  ModuleBindOptions right = Shapes(4);
  right.force_rebind = true;
  COOPER_ASSERT_OK(module->Bind(right));
  COOPER_ASSERT_OK(module->InitParams());
  COOPER_ASSERT_OK(module->Forward(RandomBatch(4, 1)));
}

TEST(ModuleTest, AKvstoreThatIsNotLinkedIsRefused) {
  auto module = MakeModule();
  COOPER_ASSERT_OK(module->Bind(Shapes(4)));
  COOPER_ASSERT_OK(module->InitParams());
  EXPECT_THAT(module->InitOptimizer({.kvstore = "dist_sync"}),
              StatusIs(kInvalidArgument, HasSubstr("'dist_sync' is unknown; linked are")));
  EXPECT_FALSE(module->optimizer_initialized());
  COOPER_EXPECT_OK(module->InitOptimizer({.kvstore = "device"}));
}

TEST(ModuleTest, PredictJoinsEveryOutput) {
  const Symbol split = Op("SliceChannel", {.inputs = {Symbol::Variable("data")},
                                           .attrs = {{"num_outputs", "2"}, {"axis", "1"}}});
  COOPER_ASSERT_OK_AND_ASSIGN(auto module, Module::Create(split, {.label_names = {}}));
  COOPER_ASSERT_OK_AND_ASSIGN(
      auto iter, NDArrayIter::Create({{"data", RandomArray({6, 4}, 1)}}, {}, {.batch_size = 4}));
  COOPER_ASSERT_OK(module->Bind({.data_shapes = iter->provide_data(), .for_training = false}));
  COOPER_ASSERT_OK(module->InitParams());
  COOPER_ASSERT_OK_AND_ASSIGN(const std::vector<NDArray> outputs, module->Predict(*iter));
  ASSERT_EQ(outputs.size(), 2u);
  EXPECT_EQ(outputs[1].shape(), Shape({6, 2}));
}

TEST(ModuleTest, PredictTakesAnArrayForABatch) {
  auto module = MakeTrainable();
  const NDArray rows = RandomArray({4, 6}, 1);
  COOPER_ASSERT_OK_AND_ASSIGN(const std::vector<NDArray> outputs, module->Predict(rows));
  COOPER_ASSERT_OK(module->Forward({.data = {rows}}, /*is_train=*/false));
  EXPECT_EQ(Floats(outputs[0]), Floats((*module->GetOutputs())[0]));
  const std::vector<float> before = Floats(outputs[0]);
  COOPER_ASSERT_OK_AND_ASSIGN(const std::vector<NDArray> others,
                              module->Predict(RandomArray({9, 6}, 2)));
  EXPECT_EQ(others[0].shape(), Shape({9, 3}));
  EXPECT_EQ(Floats(outputs[0]), before) << "outputs are copies";
  EXPECT_THAT(MakeModule()->Predict(rows),
              StatusIs(kFailedPrecondition, HasSubstr("Forward: call Bind first")));
}

TEST(ModuleTest, FitLearnsAndPredictLeavesOutThePadding) {
  // Three separable classes: the largest of the first three features.
  const NDArray rows = RandomArray({50, 6}, 11);
  const std::vector<float> values = Floats(rows);
  std::vector<float> labels;
  for (size_t r = 0; r < 50; ++r) {
    const auto begin = values.begin() + static_cast<int64_t>(r * 6);
    labels.push_back(static_cast<float>(std::max_element(begin, begin + 3) - begin));
  }
  COOPER_ASSERT_OK_AND_ASSIGN(
      auto iter, NDArrayIter::Create({{"data", rows}},
                                     {{"softmax_label", *NDArray::FromVector<float>({50}, labels)}},
                                     {.batch_size = 8}));
  auto module = MakeModule();
  EXPECT_THAT(module->Fit(*iter, {}), StatusIs(kInvalidArgument, HasSubstr("num_epoch")));
  int batches = 0;
  COOPER_ASSERT_OK(module->Fit(
      *iter, {.batch_end_callbacks = {[&batches](const BatchEndParam&) {
                ++batches;
                return true;
              }},
              .optimizer = {.optimizer = "adam", .optimizer_params = {{"learning_rate", "0.02"}}},
              .num_epoch = 40}));
  EXPECT_EQ(batches, 40 * 7);
  const auto accuracy = Accuracy({});
  COOPER_ASSERT_OK_AND_ASSIGN(const auto scores, module->Score(*iter, *accuracy));
  EXPECT_GT(scores[0].second, 0.9);
  COOPER_ASSERT_OK_AND_ASSIGN(const std::vector<NDArray> outputs, module->Predict(*iter));
  EXPECT_EQ(outputs[0].shape(), Shape({50, 3}));

  // A callback that returns false ends the training.
  batches = 0;
  COOPER_ASSERT_OK(module->Fit(
      *iter, {.batch_end_callbacks = {[&batches](const BatchEndParam&) { return ++batches < 3; }},
              .num_epoch = 2}));
  EXPECT_EQ(batches, 3);
}

}  // namespace
}  // namespace cooper
