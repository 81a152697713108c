// The C++ of weights.md, run: check_snippets.sh holds them together.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "docs/two_layers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "module/initializer/initializers.h"
#include "module/network/module.h"
#include "module/parameters/checkpoint.h"
#include "ndarray/array/array_map.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/graph/symbol.h"
#include "symbol/rnn/base_rnn_cell.h"
#include "symbol/rnn/lstm_cell.h"
#include "symbol/rnn/unroll.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;

// Copies all parameters and auxiliary states to a module with the same ones.
absl::Status CopyWeights(const BaseModule& from, BaseModule& to) {
  COOPER_ASSIGN_OR_RETURN(const ModuleParams params, from.GetParams());
  return to.SetParams(params.args, params.auxs);
}

// Starts from a trained network with another last layer: `model` takes the other weights, and
// initializes the last layer's.
absl::Status StartFrom(ModuleParams trained, BaseModule& model) {
  trained.args.erase("fc2_weight");  // of another shape, which would be an error
  trained.args.erase("fc2_bias");
  return model.InitParams({.initializer = init::Xavier(),
                           .seed = 1,
                           .arg_params = trained.args,
                           .aux_params = trained.auxs,
                           .allow_missing = true});
}

// Returns the arrays whose names begin with `from`, under names that begin with `to`.
ArrayMap Renamed(const ArrayMap& arrays, const std::string& from, const std::string& to) {
  ArrayMap renamed;
  for (const auto& [name, array] : arrays) {
    if (absl::StartsWith(name, from)) {
      renamed[absl::StrCat(to, name.substr(from.size()))] = array;
    }
  }
  return renamed;
}

// Loads the weights of layer `from` in a file of cooper or MXNet into layer `to` of the model.
absl::Status LoadLayer(const std::string& path, const std::string& from, const std::string& to,
                       BaseModule& model) {
  ArrayMap args, auxs;
  COOPER_RETURN_IF_ERROR(LoadParamsFile(path, &args, &auxs));
  return model.SetParams(Renamed(args, from, to), Renamed(auxs, from, to), {.allow_missing = true});
}

// Loads a file of mx.rnn.save_rnn_checkpoint, which has separate arrays for each gate of a cell.
absl::Status LoadGateWeights(const std::string& path, const std::vector<RNNCellPtr>& cells,
                             BaseModule& model) {
  ArrayMap args, auxs;
  COOPER_RETURN_IF_ERROR(LoadParamsFile(path, &args, &auxs));
  COOPER_ASSIGN_OR_RETURN(const ArrayMap packed, PackWeights(cells, std::move(args)));
  return model.SetParams(packed, auxs);
}

absl::StatusOr<std::unique_ptr<Module>> Bound(const Symbol& net, ModuleOptions options = {}) {
  COOPER_ASSIGN_OR_RETURN(auto model, Module::Create(net, std::move(options)));
  COOPER_RETURN_IF_ERROR(
      model->Bind({.data_shapes = {{.name = "data", .shape = {4, 6}, .layout = "NC"}},
                   .label_shapes = {{.name = "softmax_label", .shape = {4}, .layout = "N"}}}));
  return model;
}

std::vector<float> Weight(const BaseModule& model, const std::string& name) {
  return *model.GetParams()->args.at(name).ToVector<float>();
}

TEST(WeightsPageTest, CopiesAll) {
  const Symbol net = TwoLayers();
  COOPER_ASSERT_OK_AND_ASSIGN(auto from, Bound(net));
  COOPER_ASSERT_OK_AND_ASSIGN(auto to, Bound(net));
  COOPER_ASSERT_OK(from->InitParams({.initializer = init::Uniform(1), .seed = 1}));
  COOPER_ASSERT_OK(to->InitParams());
  COOPER_ASSERT_OK(CopyWeights(*from, *to));
  EXPECT_EQ(Weight(*to, "fc1_weight"), Weight(*from, "fc1_weight"));
}

absl::StatusOr<Symbol> ThreeClasses() {
  const Symbol net = TwoLayers();
  COOPER_ASSIGN_OR_RETURN(const Symbol hidden, net.GetInternals().Get("fc1_output"));
  COOPER_ASSIGN_OR_RETURN(
      const Symbol fc2,
      Symbol::Create("FullyConnected",
                     {.name = "fc2", .inputs = {hidden}, .attrs = {{"num_hidden", "3"}}}));
  return Symbol::Create("SoftmaxOutput", {.name = "softmax", .inputs = {fc2}});
}

TEST(WeightsPageTest, StartsFromATrainedNetwork) {
  const Symbol net = TwoLayers();
  COOPER_ASSERT_OK_AND_ASSIGN(auto trained, Bound(net));
  COOPER_ASSERT_OK(trained->InitParams({.initializer = init::Uniform(1), .seed = 1}));
  COOPER_ASSERT_OK_AND_ASSIGN(const ModuleParams params, trained->GetParams());
  COOPER_ASSERT_OK_AND_ASSIGN(const Symbol other, ThreeClasses());
  COOPER_ASSERT_OK_AND_ASSIGN(auto model,
                              Bound(other, {.compute = {.fixed_param_names = {"fc1_weight"}}}));
  EXPECT_THAT(model->InitParams({.arg_params = params.args, .allow_missing = true}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("fc2")));
  COOPER_ASSERT_OK(StartFrom(params, *model));
  EXPECT_EQ(Weight(*model, "fc1_weight"), Weight(*trained, "fc1_weight"));
  EXPECT_EQ(Weight(*model, "fc2_bias").size(), 3u);
}

TEST(WeightsPageTest, LoadsALayer) {
  const Symbol net = TwoLayers();
  COOPER_ASSERT_OK_AND_ASSIGN(auto model, Bound(net));
  COOPER_ASSERT_OK(model->InitParams({.initializer = init::Uniform(1), .seed = 1}));
  const std::vector<float> second = Weight(*model, "fc2_weight");
  ArrayMap saved;
  saved["old_weight"] = *NDArray::Full({128, 6}, 0.5);
  saved["old_bias"] = *NDArray::Full({128}, 2);
  saved["else_weight"] = *NDArray::Full({1}, 3);
  const std::string path = testing::TempDir() + "old.params";
  COOPER_ASSERT_OK(SaveParamsFile(path, saved, {}));
  COOPER_ASSERT_OK(LoadLayer(path, "old_", "fc1_", *model));
  EXPECT_EQ(Weight(*model, "fc1_bias"), std::vector<float>(128, 2));
  EXPECT_EQ(Weight(*model, "fc2_weight"), second);
}

TEST(WeightsPageTest, LoadsGatesOfCells) {
  const auto cell = std::make_shared<LSTMCell>(3, LSTMCellOptions{.prefix = "l0_"});
  const Symbol steps = Symbol::Variable("data");
  COOPER_ASSERT_OK_AND_ASSIGN(
      const Symbol last,
      Symbol::Create("FullyConnected",
                     {.name = "fc",
                      .inputs = {Unroll(*cell, 2, steps, {.merge_outputs = true}).outputs.merged()},
                      .attrs = {{"num_hidden", "2"}}}));
  COOPER_ASSERT_OK_AND_ASSIGN(
      const Symbol net, Symbol::Create("SoftmaxOutput", {.name = "softmax", .inputs = {last}}));
  const auto bound = [&]() -> absl::StatusOr<std::unique_ptr<Module>> {
    COOPER_ASSIGN_OR_RETURN(auto model, Module::Create(net));
    COOPER_RETURN_IF_ERROR(
        model->Bind({.data_shapes = {{.name = "data", .shape = {4, 2, 5}}},
                     .label_shapes = {{.name = "softmax_label", .shape = {4}}}}));
    return model;
  };
  COOPER_ASSERT_OK_AND_ASSIGN(auto from, bound());
  COOPER_ASSERT_OK(from->InitParams({.initializer = init::Uniform(1), .seed = 1}));
  COOPER_ASSERT_OK_AND_ASSIGN(const ModuleParams params, from->GetParams());
  COOPER_ASSERT_OK_AND_ASSIGN(const ArrayMap gates, UnpackWeights({cell}, params.args));
  ASSERT_TRUE(gates.contains("l0_i2h_i_weight"));
  const std::string path = testing::TempDir() + "gates.params";
  COOPER_ASSERT_OK(SaveParamsFile(path, gates, {}));
  COOPER_ASSERT_OK_AND_ASSIGN(auto to, bound());
  COOPER_ASSERT_OK(to->InitParams());
  COOPER_ASSERT_OK(LoadGateWeights(path, {cell}, *to));
  EXPECT_EQ(Weight(*to, "l0_i2h_weight"), Weight(*from, "l0_i2h_weight"));
}

}  // namespace
}  // namespace cooper
