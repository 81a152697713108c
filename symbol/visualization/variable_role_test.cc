#include "symbol/visualization/variable_role.h"

#include <map>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "symbol/graph/symbol.h"
#include "symbol/visualization/test_networks.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::IsSupersetOf;
using ::testing::Pair;
using enum VariableRole;

std::map<std::string, VariableRole> Roles(const Symbol& symbol, const KnownShapes& shapes) {
  const IndexedGraph graph(symbol.outputs());
  const std::vector<VariableRole> roles = VariableRoles(graph, shapes);
  std::map<std::string, VariableRole> named;
  for (int i = 0; i < graph.num_nodes(); ++i) {
    if (graph.nodes()[i]->is_variable()) named[graph.nodes()[i]->name()] = roles[i];
  }
  return named;
}

// Returns x * scale + y. No operator of this graph tells which variables are parameters.
Symbol Scaled(const std::string& x, const std::string& y) {
  const Symbol product = *Symbol::Create(
      "broadcast_mul", {.inputs = {Symbol::Variable(x), Symbol::Variable("scale")}});
  return *Symbol::Create("broadcast_add", {.inputs = {product, Symbol::Variable(y)}});
}

TEST(VariableRoleTest, WhatShapesNameIsData) {
  EXPECT_THAT(Roles(Scaled("x", "y"), {{"x", {4, 3}}}),
              ElementsAre(Pair("scale", kParameter), Pair("x", kData), Pair("y", kParameter)));
  EXPECT_THAT(Roles(Scaled("x", "y_weight"), {{"x", {4, 3}}, {"y_weight", {4, 3}}}),
              ElementsAre(Pair("scale", kParameter), Pair("x", kData), Pair("y_weight", kData)));
}

TEST(VariableRoleTest, WhatIsCalledDataIsData) {
  EXPECT_THAT(Roles(Scaled("data", "y"), {{"y", {4, 3}}}),
              ElementsAre(Pair("data", kData), Pair("scale", kParameter), Pair("y", kData)));
}

TEST(VariableRoleTest, ShapesOfWeightsDoNotMakeThemData) {
  EXPECT_THAT(Roles(Mlp(), {{"fc1_weight", {128, 784}}}),
              IsSupersetOf({Pair("data", kData), Pair("fc1_weight", kParameter),
                            Pair("fc2_bias", kParameter)}));
}

TEST(VariableRoleTest, WithoutShapesLooksDecide) {
  EXPECT_THAT(Roles(Scaled("x", "y_bias"), {}),
              ElementsAre(Pair("scale", kData), Pair("x", kData), Pair("y_bias", kParameter)));
  EXPECT_THAT(Roles(FusedLstm(3), {}),
              IsSupersetOf({Pair("data", kData), Pair("lstm_parameters", kParameter)}));
}

TEST(VariableRoleTest, LabelsComeWithTheBatch) {
  // A label is found through a Reshape by its name, and by the input that it is used for.
  EXPECT_THAT(Roles(UnrolledLstm(2), {{"data", {4, 2}}}),
              IsSupersetOf({Pair("softmax_label", kLabel)}));
  const Symbol loss = *Symbol::Create(
      "SoftmaxOutput", {.inputs = {Symbol::Variable("x"), Symbol::Variable("target")}});
  EXPECT_THAT(Roles(loss, {{"x", {4, 3}}}), ElementsAre(Pair("target", kLabel), Pair("x", kData)));
  const Symbol masked =
      *Symbol::Create("SequenceMask", {.inputs = {Symbol::Variable("x"), Symbol::Variable("steps")},
                                       .attrs = {{"use_sequence_length", "True"}}});
  EXPECT_THAT(Roles(masked, {{"x", {2, 4, 3}}}),
              ElementsAre(Pair("steps", kLabel), Pair("x", kData)));
}

TEST(VariableRoleTest, AuxiliaryStatesAreWhatOperatorsUseAsSuch) {
  const Symbol norm =
      *Symbol::Create("BatchNorm", {.name = "bn",
                                    .inputs = {Symbol::Variable("x")},
                                    .named = {{"moving_mean", Symbol::Variable("m")}}});
  EXPECT_THAT(
      Roles(norm, {{"x", {4, 3}}, {"m", {3}}}),
      ElementsAre(Pair("bn_beta", kParameter), Pair("bn_gamma", kParameter),
                  Pair("bn_moving_var", kAuxiliary), Pair("m", kAuxiliary), Pair("x", kData)));
}

}  // namespace
}  // namespace cooper
