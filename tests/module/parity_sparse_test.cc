// Tests dense arrays where MXNet has sparse storage. The tests correspond to functions of MXNet
// 1.9.1's test_module.py, which their comments name (docs/mxnet_tests.md).

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/iterators/ndarray_iter.h"
#include "module/initializer/initializers.h"
#include "module/metric/regression.h"
#include "module/network/module.h"
#include "module/parameters/checkpoint.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/random/random.h"
#include "tests/module/module_fixtures.h"

namespace cooper {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::Le;

// Returns a factorization machine over `num_features` features, with a table of factors `v`.
Symbol FactorizationMachine(int64_t num_features) {
  constexpr char kNormal[] = R"(["normal", {"sigma": 0.01}])";
  const auto sum = [](const Symbol& x) {
    return Op("sum", {.inputs = {x}, .attrs = {{"axis", "1"}, {"keepdims", "True"}}});
  };
  const auto scaled = [](const Symbol& x, const char* factor) {
    return Op("_mul_scalar", {.inputs = {x}, .attrs = {{"scalar", factor}}});
  };
  const auto square = [](const Symbol& x) { return Op("square", {.inputs = {x}}); };
  const auto dot = [](const Symbol& x, const Symbol& y) { return Op("dot", {.inputs = {x, y}}); };
  // These are the attributes that MXNet writes for sparse variables, which are dense in cooper.
  const Symbol data = Symbol::Variable("data", {.attrs = {{"__storage_type__", "2"}}});
  const AttrMap row_sparse = {{"__storage_type__", "1"}};
  const Symbol v = Symbol::Variable(
      "v", {.shape = PartialShape({num_features, 4}), .init = kNormal, .attrs = row_sparse});
  const Symbol weight = Symbol::Variable(
      "w_weight", {.shape = PartialShape({num_features, 1}), .init = kNormal, .attrs = row_sparse});
  const Symbol bias = Symbol::Variable("w_bias", {.shape = PartialShape({1})});
  const Symbol linear = Op("broadcast_add", {.inputs = {dot(data, weight), bias}});
  const Symbol all = Op(
      "Concat", {.inputs = {linear, scaled(square(dot(data, v)), "0.5")}, .attrs = {{"dim", "1"}}});
  const Symbol own = scaled(dot(square(data), sum(square(v))), "-0.5");
  const Symbol output = Op("elemwise_add", {.inputs = {sum(all), own}});
  return Op("LinearRegressionOutput",
            {.name = "out", .inputs = {output, Symbol::Variable("label")}});
}

// test_factorization_machine_module: the model learns its labels from sparse features, which are
// dense arrays here.
TEST(ParitySparseTest, AFactorizationMachineLearns) {
  constexpr int64_t kFeatures = 500, kRows = 160, kBatch = 32;
  RandomGenerator random(3);
  std::vector<float> values(kRows * kFeatures);
  for (float& value : values) {
    if (random.NextUniform() < 0.1) value = static_cast<float>(random.NextUniform());
  }
  COOPER_ASSERT_OK_AND_ASSIGN(
      auto data,
      NDArrayIter::Create({{"data", *NDArray::FromVector({kRows, kFeatures}, values)}},
                          {{"label", *NDArray::Full({kRows, 1}, 1)}},
                          {.batch_size = kBatch, .last_batch_handle = LastBatchHandle::kDiscard}));
  COOPER_ASSERT_OK_AND_ASSIGN(
      auto module, Module::Create(FactorizationMachine(kFeatures), {.label_names = {"label"}}));
  COOPER_ASSERT_OK(
      module->Bind({.data_shapes = data->provide_data(), .label_shapes = data->provide_label()}));
  COOPER_ASSERT_OK(module->InitParams({.initializer = init::Normal(0.01)}));
  COOPER_ASSERT_OK(module->InitOptimizer({.optimizer_params = {{"learning_rate", "0.01"},
                                                               {"momentum", "0.1"},
                                                               {"clip_gradient", "5"},
                                                               {"rescale_grad", "0.03125"}}}));
  const auto mse = Mse({});
  double first = 0;
  for (int epoch = 0; epoch < 50; ++epoch) {
    COOPER_ASSERT_OK(data->Reset());
    mse->Reset();
    COOPER_ASSERT_OK_AND_ASSIGN(std::optional<DataBatch> batch, data->Next());
    while (batch.has_value()) {
      COOPER_ASSERT_OK(module->Forward(*batch, /*is_train=*/true));
      COOPER_ASSERT_OK(module->UpdateMetric(*mse, batch->label));
      COOPER_ASSERT_OK(module->Backward());
      COOPER_ASSERT_OK(module->Update());
      COOPER_ASSERT_OK_AND_ASSIGN(batch, data->Next());
    }
    if (epoch == 0) first = mse->GetNameValue()[0].second;
  }
  EXPECT_GT(first, 0.5);
  EXPECT_LT(mse->GetNameValue()[0].second, 0.02);
}

// A parameter that MXNet saved in sparse storage is dense in a module, and is saved as it came.
TEST(ParitySparseTest, ACheckpointKeepsASparseParameter) {
  const std::string prefix = testing::TempDir() + "/parity_sparse";
  const Symbol net = Op("FullyConnected", {.name = "fc",
                                           .inputs = {Symbol::Variable("data")},
                                           .attrs = {{"num_hidden", "5"}, {"no_bias", "1"}}});
  COOPER_ASSERT_OK(SaveCheckpoint(prefix, 1, net, {}, {}));
  std::string bytes;
  const auto add = [&bytes](auto... numbers) {
    (bytes.append(reinterpret_cast<const char*>(&numbers), sizeof(numbers)), ...);
  };
  using I32 = int32_t;
  using I64 = int64_t;
  add(I64{0x112}, I64{0}, I64{1});                      // a list of one array
  add(uint32_t{0xF993FAC9}, I32{1});                    // in MXNet 1.x's form, row_sparse:
  add(I32{2}, I64{1}, I64{4}, I32{2}, I64{5}, I64{4});  // one row of (5, 4) is stored,
  add(I32{1}, I32{0}, I32{0});                          // from cpu(0), of float32,
  add(I32{6}, I32{1}, I64{1});                          // with an int64 index
  add(1.0f, 2.0f, 3.0f, 4.0f, I64{2});                  // of 2
  const std::string name = "arg:fc_weight";
  add(I64{1}, static_cast<I64>(name.size()));
  COOPER_ASSERT_OK(WriteFileAtomically(ParamsPath(prefix, 1), bytes + name));
  COOPER_ASSERT_OK_AND_ASSIGN(
      const auto module,
      Module::Load(prefix, 1, /*load_optimizer_states=*/false, {.label_names = {}}));
  COOPER_ASSERT_OK(module->Bind({.data_shapes = {{.name = "data", .shape = {1, 4}}}}));
  COOPER_ASSERT_OK(module->Forward({.data = {*NDArray::Full({1, 4}, 1)}}));
  COOPER_ASSERT_OK_AND_ASSIGN(const auto outputs, module->GetOutputs());
  EXPECT_THAT(outputs[0].ToVector<float>(), IsOkAndHolds(ElementsAre(0, 0, 10, 0, 0)));
  COOPER_ASSERT_OK(module->SaveCheckpoint(prefix, 2));
  EXPECT_THAT(ReadFile(ParamsPath(prefix, 2)), IsOkAndHolds(bytes + name));
}

// test_module_initializer: a variable's own initializer overrides that of InitParams.
TEST(ParitySparseTest, AVariableIsInitializedAsItSays) {
  const Symbol v = Symbol::Variable("v", {.shape = PartialShape({40, 1}),
                                          .init = R"(["uniform", {"scale": 0.1}])",
                                          .attrs = {{"__storage_type__", "1"}}});
  const Symbol product = Op("dot", {.inputs = {Symbol::Variable("data"), v}});
  const Symbol net = Op("LinearRegressionOutput", {.inputs = {product, Symbol::Variable("label")}});
  COOPER_ASSERT_OK_AND_ASSIGN(auto module, Module::Create(net, {.label_names = {"label"}}));
  COOPER_ASSERT_OK(module->Bind({.data_shapes = {{.name = "data", .shape = {16, 40}}},
                                 .label_shapes = {{.name = "label", .shape = {16, 1}}}}));
  COOPER_ASSERT_OK(module->InitParams());  // uniform in [-0.01, 0.01)
  const std::vector<float> values = Floats(module->GetParams()->args.at("v"));
  EXPECT_THAT(values, Each(AllOf(Ge(-0.1f), Le(0.1f))));
  EXPECT_GT(*std::max_element(values.begin(), values.end()), 0.02f);
}

}  // namespace
}  // namespace cooper
