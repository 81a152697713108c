#include "module/predict/bound_predictor.h"

#include <cstdint>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/files/params_file.h"
#include "symbol/json/json.h"
#include "tests/module/module_fixtures.h"

namespace cooper {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::string Bytes(const NamedArrays& arrays) { return *SerializeNamedArrays(arrays); }

struct Given {
  Symbol symbol;
  NamedArrays params;
  KnownShapes shapes;
  KnownTypes types;
};

absl::StatusOr<std::unique_ptr<BoundPredictor>> Create(const Given& given) {
  const std::string json = SymbolToJson(given.symbol);
  const std::string params = Bytes(given.params);
  auto predictors = BoundPredictor::Create(
      {.symbol_json = json, .params = params, .shapes = given.shapes, .types = given.types});
  if (!predictors.ok()) return predictors.status();
  return std::move((*predictors)[0]);
}

// Returns the outputs of one forward pass for `data`, floats as C programs pass them.
absl::StatusOr<std::vector<float>> Outputs(BoundPredictor& predictor,
                                           const std::vector<float>& data, int64_t size) {
  absl::Status status = predictor.SetInput("data", data.data(), static_cast<int64_t>(data.size()));
  if (status.ok()) status = predictor.Forward();
  std::vector<float> outputs(static_cast<size_t>(size));
  if (status.ok()) status = predictor.GetOutput(0, outputs.data(), size);
  if (!status.ok()) return status;
  return outputs;
}

// Returns data (2, 3) + weight.
Symbol Sum() {
  return Op("elemwise_add",
            {.name = "sum", .inputs = {Symbol::Variable("data"), Symbol::Variable("weight")}});
}

NDArray Weight() { return *NDArray::FromVector<float>({2, 3}, {1, 2, 3, 4, 5, 6}); }

TEST(BoundPredictorTest, InputsAreFloatsWhateverTheSymbolSays) {
  const Symbol bytes = Symbol::Variable("data", {.dtype = DType::kUint8});
  const Symbol cast = Op("Cast", {.inputs = {bytes}, .attrs = {{"dtype", "float32"}}});
  COOPER_ASSERT_OK_AND_ASSIGN(
      const auto predictor,
      Create({.symbol = Op("_mul_scalar", {.inputs = {cast}, .attrs = {{"scalar", "2"}}}),
              .shapes = {{"data", {3}}}}));
  COOPER_ASSERT_OK_AND_ASSIGN(const auto outputs, Outputs(*predictor, {1, 2, 300}, 3));
  EXPECT_EQ(outputs, (std::vector<float>{2, 4, 600}));
}

TEST(BoundPredictorTest, WeightsAreConvertedToTheDTypeOfTheInputs) {
  for (const DType weight : {DType::kFloat16, DType::kFloat32, DType::kFloat64}) {
    Given given{.symbol = Sum(),
                .params = {{"arg:weight", *Weight().AsType(weight)}},
                .shapes = {{"data", {2, 3}}}};
    COOPER_ASSERT_OK_AND_ASSIGN(auto predictor, Create(given));
    const std::vector<float> ten(6, 10);
    EXPECT_THAT(Outputs(*predictor, ten, 6), IsOkAndHolds(ElementsAre(11, 12, 13, 14, 15, 16)));
    COOPER_ASSERT_OK_AND_ASSIGN(const auto reshaped, predictor->Reshape(given.shapes));
    EXPECT_THAT(Outputs(*reshaped, ten, 6), IsOkAndHolds(ElementsAre(11, 12, 13, 14, 15, 16)));
    for (const DType named : {DType::kFloat16, DType::kFloat64}) {
      given.types = {{"data", named}};
      COOPER_ASSERT_OK_AND_ASSIGN(predictor, Create(given));
      EXPECT_THAT(predictor->OutputType(0), IsOkAndHolds(named));
    }
  }
}

absl::Status CreateOf(const Symbol& symbol, const std::string& params) {
  const std::string json = SymbolToJson(symbol);
  return BoundPredictor::Create(
             {.symbol_json = json, .params = params, .shapes = {{"data", {2, 3}}}})
      .status();
}

TEST(BoundPredictorTest, RefusesFilesThatGiveNoParameters) {
  const std::string path = testing::TempDir() + "/nameless.params";
  COOPER_ASSERT_OK(SaveArrays(path, {Weight()}));
  std::ifstream file(path, std::ios::binary);
  const std::string nameless(std::istreambuf_iterator<char>(file), {});
  const std::string gluon = Bytes({{"dense0_weight", Weight()}, {"dense0_bias", Weight()}});
  const auto expect_error = [](const absl::Status& status, const auto& message) {
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument, message));
  };
  expect_error(CreateOf(Sum(), ""), HasSubstr("empty"));
  expect_error(CreateOf(Sum(), nameless), HasSubstr("without names"));
  expect_error(CreateOf(Sum(), gluon), AllOf(HasSubstr("'dense0_weight' first"),
                                             HasSubstr("arg:NAME"), HasSubstr("aux:NAME")));
}

TEST(BoundPredictorTest, WhatHasNoParametersTakesFilesThatGiveNone) {
  const Symbol square = Op("square", {.inputs = {Symbol::Variable("data")}});
  COOPER_EXPECT_OK(CreateOf(square, Bytes({})));
  COOPER_EXPECT_OK(CreateOf(square, Bytes({{"mean_img", Weight()}})));
  COOPER_EXPECT_OK(CreateOf(Sum(), Bytes({})));  // zeros: the file declares no parameters
}

TEST(BoundPredictorTest, AnInputHasTheFilesValueUntilItIsSet) {
  Given given{.symbol = Sum(),
              .params = {{"arg:weight", Weight()}},
              .shapes = {{"data", {2, 3}}, {"weight", {2, 3}}}};
  COOPER_ASSERT_OK_AND_ASSIGN(const auto predictor, Create(given));
  const std::vector<float> ten(6, 10), one(6, 1);
  EXPECT_THAT(Outputs(*predictor, ten, 6), IsOkAndHolds(ElementsAre(11, 12, 13, 14, 15, 16)));
  COOPER_ASSERT_OK_AND_ASSIGN(const auto reshaped, predictor->Reshape(given.shapes));
  EXPECT_THAT(Outputs(*reshaped, ten, 6), IsOkAndHolds(ElementsAre(11, 12, 13, 14, 15, 16)));
  COOPER_EXPECT_OK(predictor->SetInput("weight", one.data(), 6));
  EXPECT_THAT(Outputs(*predictor, ten, 6), IsOkAndHolds(Each(11)));

  given.shapes = {{"data", {4, 3}}, {"weight", {4, 3}}};
  EXPECT_THAT(Create(given), StatusIs(absl::StatusCode::kInvalidArgument,
                                      AllOf(HasSubstr("input 'weight' is (4, 3)"),
                                            HasSubstr("the file of parameters has (2, 3)"))));
  given.shapes = {{"data", {2, 3}}, {"weight", {2, 3}}};
  given.params = {{"arg:weight", *Weight().AsType(DType::kFloat16)}};
  EXPECT_THAT(Create(given), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("float16")))
      << "the file's dtype";
}

// The shape of `scale` comes from the file, also after Reshape.
TEST(BoundPredictorTest, ReshapesBesideParametersThatInputsDoNotDetermine) {
  const Symbol scaled =
      Op("broadcast_mul", {.inputs = {Symbol::Variable("data"), Symbol::Variable("scale")}});
  const Given given{.symbol = scaled,
                    .params = {{"arg:scale", *NDArray::FromVector<float>({1, 3}, {1, 2, 3})}},
                    .shapes = {{"data", {2, 3}}}};
  COOPER_ASSERT_OK_AND_ASSIGN(const auto predictor, Create(given));
  COOPER_ASSERT_OK_AND_ASSIGN(const auto reshaped, predictor->Reshape({{"data", {1, 3}}}));
  EXPECT_THAT(Outputs(*reshaped, {1, 1, 1}, 3), IsOkAndHolds(ElementsAre(1, 2, 3)));
}

TEST(BoundPredictorTest, HandlesHaveTheFilesValueEach) {
  const std::string json = SymbolToJson(Sum()), params = Bytes({{"arg:weight", Weight()}});
  COOPER_ASSERT_OK_AND_ASSIGN(
      const auto predictors,
      BoundPredictor::Create({.symbol_json = json,
                              .params = params,
                              .shapes = {{"data", {2, 3}}, {"weight", {2, 3}}},
                              .count = 2}));
  const std::vector<float> one(6, 1);
  COOPER_EXPECT_OK(predictors[0]->SetInput("weight", one.data(), 6));
  EXPECT_THAT(Outputs(*predictors[1], one, 6), IsOkAndHolds(ElementsAre(2, 3, 4, 5, 6, 7)));
}

TEST(BoundPredictorTest, InputsThatTheSymbolDoesNotHaveArePassedOver) {
  Given given{.symbol = Sum(),
              .params = {{"arg:weight", Weight()}},
              .shapes = {{"data", {2, 3}}, {"softmax_label", {2}}}};
  COOPER_ASSERT_OK_AND_ASSIGN(const auto predictor, Create(given));
  const std::vector<float> ten(6, 10);
  EXPECT_THAT(Outputs(*predictor, ten, 6), IsOkAndHolds(ElementsAre(11, 12, 13, 14, 15, 16)));
  COOPER_EXPECT_OK(predictor->Reshape(given.shapes).status());
  // An error in a shape does not mention them.
  Given wrong = given;
  wrong.shapes["data"] = {3, 2};
  EXPECT_THAT(Create(wrong), StatusIs(absl::StatusCode::kInvalidArgument,
                                      AllOf(HasSubstr("(3, 2)"), Not(HasSubstr("no input")))));
  const auto expect_hint = [](const absl::Status& status) {
    EXPECT_FALSE(status.ok());
    EXPECT_THAT(status.message(), HasSubstr("no input 'date'; did you mean 'data'?"));
  };
  expect_hint(predictor->Reshape({{"date", {2, 3}}}).status());

  // The unknown name may be a misspelt name of the input without a shape.
  const Symbol product =
      Op("FullyConnected", {.name = "fc",
                            .inputs = {Symbol::Variable("data")},
                            .attrs = {{"num_hidden", "2"}, {"no_bias", "True"}}});
  expect_hint(Create({.symbol = product, .shapes = {{"date", {2, 3}}}}).status());
}

TEST(BoundPredictorTest, AuxiliaryStatesThatNobodyGivesAreZero) {
  const Symbol norm =
      Op("BatchNorm", {.name = "norm",
                       .inputs = {Symbol::Variable("data")},
                       .attrs = {{"use_global_stats", "True"}, {"eps", "1"}, {"axis", "1"}}});
  const NDArray ones = *NDArray::Full({3}, 1);
  COOPER_ASSERT_OK_AND_ASSIGN(const auto predictor,
                              Create({.symbol = norm,
                                      .params = {{"arg:norm_gamma", ones}, {"arg:norm_beta", ones}},
                                      .shapes = {{"data", {2, 3}}}}));
  EXPECT_THAT(Outputs(*predictor, {1, 2, 3, 4, 5, 6}, 6),
              IsOkAndHolds(ElementsAre(2, 3, 4, 5, 6, 7)));
}

// Predictors that draw equal random numbers would return equal samples, which are useless.
TEST(BoundPredictorTest, EachDrawsOtherRandomNumbers) {
  const std::string json = SymbolToJson(
      Op("Dropout", {.inputs = {Symbol::Variable("data")}, .attrs = {{"mode", "always"}}}));
  const std::string params = Bytes({});
  const std::vector<float> ones(64, 1);
  std::set<std::vector<float>> samples;
  for (int i = 0; i < 2; ++i) {
    COOPER_ASSERT_OK_AND_ASSIGN(
        const auto predictors,
        BoundPredictor::Create(
            {.symbol_json = json, .params = params, .shapes = {{"data", {64}}}, .count = 2}));
    for (const auto& predictor : predictors) {
      COOPER_ASSERT_OK_AND_ASSIGN(const auto outputs, Outputs(*predictor, ones, 64));
      samples.insert(outputs);
    }
  }
  EXPECT_EQ(samples.size(), 4);
}

}  // namespace
}  // namespace cooper
