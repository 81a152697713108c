// Tests how Fit averages the contexts' values at the end of an epoch.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/iterators/ndarray_iter.h"
#include "module/initializer/initializers.h"
#include "module/metric/classification.h"
#include "module/network/module.h"
#include "ndarray/base/status_matchers.h"
#include "tests/module/module_fixtures.h"

namespace cooper {
namespace {

Symbol NormalizedLayer() {
  const Symbol norm = Op("BatchNorm", {.name = "bn",
                                       .inputs = {Symbol::Variable("data")},
                                       .attrs = {{"momentum", "0.5"}, {"fix_gamma", "false"}}});
  const Symbol fc =
      Op("FullyConnected", {.name = "fc", .inputs = {norm}, .attrs = {{"num_hidden", "3"}}});
  return Op("SoftmaxOutput", {.name = "softmax", .inputs = {fc}});
}

std::unique_ptr<Module> MakeModule(int contexts) {
  ModuleOptions options = {.compute = {.contexts = {}}};
  for (int i = 0; i < contexts; ++i) options.compute.contexts.push_back(Context::Cpu(i));
  auto module = Module::Create(NormalizedLayer(), std::move(options));
  EXPECT_TRUE(module.ok()) << module.status();
  return *std::move(module);
}

std::unique_ptr<NDArrayIter> MakeIter(int64_t rows, uint64_t seed) {
  auto iter = NDArrayIter::Create({{"data", RandomArray({rows, 6}, seed)}},
                                  {{"softmax_label", Classes(rows, 3, seed)}}, {.batch_size = 8});
  EXPECT_TRUE(iter.ok()) << iter.status();
  return *std::move(iter);
}

void ExpectEqualOnContexts(const Module& module, ParameterKind kind) {
  const Parameters& parameters = module.group()->parameters();
  for (const std::string& name : parameters.Names(kind)) {
    for (int i = 1; i < parameters.num_contexts(); ++i) {
      EXPECT_EQ(Floats(parameters.Value(kind, name, i)), Floats(parameters.Value(kind, name, 0)))
          << name << " on context " << i;
    }
  }
}

// Else validation would be of another model than callbacks save.
TEST(AverageContextsTest, ValidationIsOfTheParametersThatAreSaved) {
  for (const char* kvstore : {"local", ""}) {
    auto module = MakeModule(3);
    const auto train = MakeIter(32, 1), validation = MakeIter(64, 2);
    const auto loss = CrossEntropy({});
    ModuleParams saved;
    double seen = 0;
    FitOptions options = {.num_epoch = 3};
    options.params.initializer = init::Uniform(0.5);
    options.optimizer.kvstore = kvstore;
    options.optimizer.optimizer_params = {{"learning_rate", "0.5"}, {"momentum", "0.9"}};
    options.eval_data = validation.get();
    options.validation_metric = loss.get();
    options.epoch_end_callbacks.push_back([&](int, BaseModule& trained) -> absl::StatusOr<bool> {
      auto params = trained.GetParams();
      if (!params.ok()) return params.status();
      saved = *std::move(params);
      return true;
    });
    options.eval_end_callbacks.push_back([&](const BatchEndParam& param) {
      seen = param.eval_metric->GetNameValue()[0].second;
      return true;
    });
    COOPER_ASSERT_OK(module->Fit(*train, options));
    ExpectEqualOnContexts(*module, ParameterKind::kArg);
    ExpectEqualOnContexts(*module, ParameterKind::kAux);

    auto one = MakeModule(1);
    COOPER_ASSERT_OK(one->Bind({.data_shapes = validation->provide_data(),
                                .label_shapes = validation->provide_label(),
                                .for_training = false}));
    COOPER_ASSERT_OK(one->SetParams(saved.args, saved.auxs));
    COOPER_ASSERT_OK_AND_ASSIGN(const auto scores, one->Score(*validation, *loss));
    EXPECT_NEAR(scores[0].second, seen, 1e-5) << "kvstore '" << kvstore << "'";
  }
}

// An optimizer that keeps weights of its own takes the means.
TEST(AverageContextsTest, MasterWeightsFollow) {
  const Symbol weight =
      Symbol::Variable("weight", VariableOptions{.shape = Shape({4}), .dtype = DType::kFloat16});
  const Symbol product =
      Op("broadcast_mul", {.name = "product", .inputs = {Symbol::Variable("data"), weight}});
  auto module = Module::Create(
      Op("MakeLoss", {.name = "loss", .inputs = {product}}),
      {.label_names = {}, .compute = {.contexts = {Context::Cpu(0), Context::Cpu(1)}}});
  COOPER_ASSERT_OK(module.status());
  COOPER_ASSERT_OK((*module)->Bind(
      {.data_shapes = {{.name = "data", .shape = {2, 4}, .dtype = DType::kFloat16}}}));
  COOPER_ASSERT_OK((*module)->InitParams({.initializer = init::One()}));
  COOPER_ASSERT_OK((*module)->InitOptimizer(
      {.kvstore = "",
       .optimizer_params = {{"learning_rate", "1"}, {"multi_precision", "true"}, {"wd", "0"}}}));
  const auto step = [&](const std::vector<float>& data) {
    const NDArray array = *(*NDArray::FromVector({2, 4}, data)).AsType(DType::kFloat16);
    COOPER_ASSERT_OK((*module)->ForwardBackward({.data = {array}}));
    COOPER_ASSERT_OK((*module)->Update());
  };
  step({1, 1, 1, 1, 3, 3, 3, 3});  // steps of a half and of one and a half
  COOPER_ASSERT_OK((*module)->AverageContexts());
  ExpectEqualOnContexts(**module, ParameterKind::kArg);
  const std::vector<float> mean = Floats((*module)->GetParams()->args.at("weight"));
  step(std::vector<float>(8, 0));
  EXPECT_EQ(Floats((*module)->GetParams()->args.at("weight")), mean);
  ExpectEqualOnContexts(**module, ParameterKind::kArg);
}

}  // namespace
}  // namespace cooper
