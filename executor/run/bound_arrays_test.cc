// Tests Bind and SimpleBind with more arrays than the graph has names, and with arrays under wrong
// names.

#include <string>
#include <utility>
#include <vector>

#include "executor/executor.h"
#include "executor/executor_fixtures.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

BindOptions ArraysOf(const std::vector<std::pair<std::string, Shape>>& shapes) {
  BindOptions options;
  for (const auto& [name, shape] : shapes) {
    options.args[name] = *NDArray::Zeros(shape, DType::kFloat32);
  }
  return options;
}

// MXNet's bind accepts such dictionaries too.
TEST(BoundArraysTest, ArraysOfAWholeCheckpointBindAPart) {
  const Symbol part = Op("BatchNorm", {.name = "bn", .inputs = {Symbol::Variable("data")}});
  BindOptions options = ArraysOf({{"data", {2, 4}},
                                  {"bn_gamma", {4}},
                                  {"bn_beta", {4}},
                                  {"fc_weight", {3, 4}},
                                  {"fc_bias", {3}}});
  for (const char* name : {"bn_moving_mean", "bn_moving_var", "last_moving_var"}) {
    options.auxs[name] = *NDArray::Zeros({4}, DType::kFloat32);
  }
  options.args["bn_moving_var"] = options.auxs["bn_moving_var"];  // both kinds in one dictionary
  for (const auto& [name, array] : options.args) options.grads[name] = *array.Copy();
  for (const auto bind : {+[](const Symbol&s, const BindOptions&o) { return Executor::Bind(s, o); },
                          +[](const Symbol&s, const BindOptions&o) {
                            return Executor::SimpleBind(s, o, *Executor::Compile(s, o));
                          }}) {
    COOPER_ASSERT_OK_AND_ASSIGN(const auto executor, bind(part, options));
    EXPECT_THAT(executor->unused_names(),
                ElementsAre("bn_moving_var", "fc_bias", "fc_weight", "last_moving_var"));
    EXPECT_EQ(executor->arg("bn_gamma").raw_data(), options.args["bn_gamma"].raw_data());
    COOPER_EXPECT_OK(executor->Forward(/*is_train=*/true));
    COOPER_ASSERT_OK_AND_ASSIGN(const auto reshaped,
                                executor->Reshape({{"data", {3, 4}}}, false, true));
    EXPECT_EQ(reshaped->unused_names(), executor->unused_names());
  }
}

TEST(BoundArraysTest, AnArrayThatIsNearlyAMissingOneIsNamed) {
  const Symbol net = Op("BatchNorm", {.name = "bn", .inputs = {Symbol::Variable("data")}});
  const BindOptions whole = ArraysOf({{"data", {2, 4}}, {"bn_gamma", {4}}, {"bn_beta", {4}}});
  BindOptions misspelt = whole, state = whole, argument = whole, gradient = whole;
  misspelt.args["bn_gama"] = misspelt.args["bn_gamma"];
  misspelt.args.erase("bn_gamma");
  state.args["bn_moving_mean"] = state.args["bn_beta"];
  argument.args.erase("bn_beta");
  argument.auxs["bn_beta"] = whole.args.at("bn_beta");
  gradient.grads["bn_gama"] = whole.args.at("bn_gamma");
  const struct {
    BindOptions options;
    const char* message;
  } cases[] = {
      {misspelt,
       "args has an array for 'bn_gama', which the graph does not have, and none for 'bn_gamma': "
       "give it that name, or leave it out"},
      {state, "args has an array for 'bn_moving_mean', whose array belongs in auxs"},
      {argument, "auxs has an array for 'bn_beta', whose array belongs in args"},
      {gradient, "grads has an array for 'bn_gama', which the graph does not have, and none for"},
  };
  for (const auto& c : cases) {
    for (const absl::Status& status :
         {Executor::SimpleBind(net, c.options).status(), Executor::Bind(net, c.options).status(),
          Executor::Compile(net, c.options).status()}) {
      EXPECT_THAT(status, StatusIs(absl::StatusCode::kNotFound, HasSubstr(c.message)));
    }
  }
}

}  // namespace
}  // namespace cooper
