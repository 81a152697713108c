#include "module/initializer/initializer.h"

#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "module/initializer/by_name.h"
#include "module/initializer/create_initializer.h"
#include "module/initializer/fused_rnn.h"
#include "module/initializer/initializers.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using Attrs = std::map<std::string, std::string>;

NDArray Filled(Shape shape, DType dtype = DType::kFloat32) {
  return *NDArray::Full(std::move(shape), -7, dtype);
}

// Returns a new array's values after `init`.
std::vector<float> Fill(const Initializer& init, const InitDesc& desc, Shape shape,
                        uint64_t seed = 1) {
  const NDArray array = Filled(std::move(shape));
  const absl::Status status = init.Init(desc, array, seed);
  EXPECT_TRUE(status.ok()) << status;
  return *array.ToVector<float>();
}

absl::Status Fails(const Initializer& init, const InitDesc& desc, Shape shape) {
  return init.Init(desc, Filled(std::move(shape)), 1);
}

TEST(InitializerTest, ChoosesByTheEndOfTheName) {
  const auto init = init::Constant(0.25);
  const std::pair<const char*, float> cases[] = {{"fc_weight", 0.25f}, {"fc_bias", 0},
                                                 {"bn_gamma", 1},      {"bn_beta", 0},
                                                 {"x_min", 0},         {"x_max", 1}};
  for (const auto& [name, value] : cases) {
    EXPECT_THAT(Fill(*init, {.name = name}, {2, 3}), Each(value)) << name;
    EXPECT_THAT(Fill(*init, {.name = name, .plain_name = true}, {2, 3}), Each(value)) << name;
  }
  for (const char* name : {"strange", "bn_moving_mean", "upsampling_w"}) {
    EXPECT_THAT(Fails(*init, {.name = name}, {3}),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(name)));
  }
}

TEST(InitializerTest, PlainNamesHaveMoreRules) {
  const auto init = init::Constant(0.25);
  const std::pair<const char*, float> cases[] = {{"bn_moving_mean", 0},
                                                 {"bn_moving_var", 1},
                                                 {"bn_moving_inv_var", 0},
                                                 {"bn_moving_avg", 0},
                                                 {"stn_loc_weight", 0}};
  for (const auto& [name, value] : cases) {
    EXPECT_THAT(Fill(*init, {.name = name, .plain_name = true}, {3}), Each(value)) << name;
  }
  EXPECT_THAT(Fill(*init, {.name = "stn_loc_bias", .plain_name = true}, {6}),
              ElementsAre(1, 0, 0, 0, 1, 0));
  EXPECT_THAT(Fill(*init, {.name = "upsampling_w", .plain_name = true}, {1, 1, 2, 2}),
              ElementsAre(1, 0, 0, 0));
  EXPECT_THAT(Fails(*init, {.name = "strange", .plain_name = true}, {3}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'strange'")));
}

TEST(InitializerTest, TheVariablesAttributeWins) {
  const auto zero = init::Zero();
  const auto run = [&](const char* name, const char* attr) {
    return Fill(*zero, {.name = name, .attrs = Attrs{{"__init__", attr}}}, {4});
  };
  EXPECT_THAT(run("a_weight", R"(["one", {}])"), Each(1));
  EXPECT_THAT(run("a_bias", R"(["Constant", {"value": 0.25}])"), Each(0.25f));
  EXPECT_THAT(run("strange", "ones"), Each(1));
  EXPECT_THAT(run("strange", R"(["constant", {"value": [1, 2, 3, 4]}])"), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(run("table", R"(["constant", {"value": [[1.0, 2.5], [3, -4e2]]}])"),
              ElementsAre(1, 2.5, 3, -400));
  EXPECT_THAT(run("column", R"(["constant", {"value": [[1], [2], [3], [4]]}])"),
              ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(run("i2h_bias", R"(["lstmbias", {"forget_bias": 2.0}])"), ElementsAre(0, 2, 0, 0));
  EXPECT_THAT(
      Fails(*zero, {.name = "a_weight", .attrs = Attrs{{"__init__", "[\"two\", {}]"}}}, {4}),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'a_weight': no initializer")));
}

TEST(InitializerTest, FillsEveryFloatingType) {
  for (DType dtype : {DType::kFloat16, DType::kFloat64, DType::kBfloat16}) {
    const NDArray array = Filled({3}, dtype);
    COOPER_ASSERT_OK(init::Constant(0.25)->Init({.name = "a_weight"}, array, 1));
    EXPECT_THAT(*array.ToVector<float>(), Each(0.25f));
  }
}

TEST(InitializerTest, RandomValuesFollowSeedAndName) {
  const auto init = init::Uniform(1);
  const std::vector<float> values = Fill(*init, {.name = "a_weight"}, {50});
  EXPECT_EQ(values, Fill(*init, {.name = "a_weight"}, {50}));
  EXPECT_NE(values, Fill(*init, {.name = "b_weight"}, {50}));
  EXPECT_NE(values, Fill(*init, {.name = "a_weight"}, {50}, 2));
}

struct Moments {
  double mean = 0;
  double deviation = 0;
  double largest = 0;
};

Moments MomentsOf(const std::vector<float>& values) {
  Moments m;
  for (float x : values) m.mean += x / static_cast<double>(values.size());
  for (float x : values) {
    m.deviation += (x - m.mean) * (x - m.mean) / static_cast<double>(values.size());
    m.largest = std::max(m.largest, std::abs(static_cast<double>(x)));
  }
  m.deviation = std::sqrt(m.deviation);
  return m;
}

TEST(InitializerTest, RandomValuesHaveTheirDistribution) {
  const double in = std::sqrt(3 / 50.0), out = std::sqrt(3 / 60.0), avg = std::sqrt(3 / 55.0);
  struct Case {
    const char* text;
    bool uniform;
    double scale;
  };
  const Case cases[] = {
      {R"(["uniform", {}])", true, 0.07},
      {R"(["uniform", {"scale": 0.5}])", true, 0.5},
      {R"(["normal", {"sigma": 0.5}])", false, 0.5},
      {R"(["xavier", {}])", true, avg},
      {R"(["xavier", {"factor_type": "in"}])", true, in},
      {R"(["xavier", {"factor_type": "out", "rnd_type": "gaussian"}])", false, out},
      {R"(["xavier", {"magnitude": 12}])", true, 2 * avg},
      {R"(["msraprelu", {"factor_type": "in", "slope": 0}])", false, std::sqrt(2 / 50.0)},
  };
  for (const Case& c : cases) {
    COOPER_ASSERT_OK_AND_ASSIGN(const auto init, CreateInitializerFromText(c.text));
    const Moments m = MomentsOf(Fill(*init, {.name = "a_weight"}, {60, 50}));
    const double deviation = c.uniform ? c.scale / std::sqrt(3) : c.scale;
    EXPECT_NEAR(m.mean, 0, 5 * deviation / std::sqrt(3000)) << c.text;
    EXPECT_NEAR(m.deviation, deviation, 0.05 * deviation) << c.text;
    if (c.uniform) {
      EXPECT_LE(m.largest, c.scale) << c.text;
    } else {
      EXPECT_GT(m.largest, 2.5 * c.scale) << c.text;
    }
  }
}

TEST(InitializerTest, XavierCountsTheKernelsArea) {
  const std::vector<float> values = Fill(*init::Xavier(), {.name = "a_weight"}, {24, 12, 3, 3});
  EXPECT_NEAR(MomentsOf(values).largest, std::sqrt(3 / (9 * 18.0)), 1e-3);
  EXPECT_THAT(Fails(*init::Xavier(), {.name = "a_weight"}, {5}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'a_weight' is (5,)")));
}

TEST(InitializerTest, OrthogonalMatricesMayBeEmpty) {
  EXPECT_TRUE(Fill(*init::Orthogonal(), {.name = "a_weight"}, {0, 3}).empty());
  EXPECT_TRUE(Fill(*init::Orthogonal(), {.name = "a_weight"}, {3, 0}).empty());
}

TEST(InitializerTest, OrthogonalRowsHaveTheScalesLength) {
  const std::vector<float> values = Fill(*init::Orthogonal(2), {.name = "a_weight"}, {2, 3, 2});
  double dot = 0, square = 0;
  for (int i = 0; i < 6; ++i) {
    dot += values[i] * values[6 + i];
    square += values[i] * values[i];
  }
  EXPECT_NEAR(dot, 0, 1e-5);
  EXPECT_NEAR(square, 4, 1e-5);
}

TEST(InitializerTest, BilinearInterpolates) {
  EXPECT_THAT(Fill(*init::Bilinear(), {.name = "a_weight"}, {1, 1, 2, 4}),
              ElementsAre(.0625f, .1875f, .1875f, .0625f, .1875f, .5625f, .5625f, .1875f));
  EXPECT_THAT(Fails(*init::Bilinear(), {.name = "a_weight"}, {3, 3}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'a_weight' is (3, 3)")));
}

TEST(FusedRnnTest, FillsThePartsByTheirNames) {
  // Input size 2, one layer: i2h weights, h2h weights, i2h biases, h2h biases.
  COOPER_ASSERT_OK_AND_ASSIGN(const auto init, init::FusedRnn({.init = init::Constant(5),
                                                               .num_hidden = 1,
                                                               .num_layers = 1,
                                                               .mode = "lstm",
                                                               .forget_bias = 3}));
  const std::vector<float> expected = {5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 0, 3, 0, 0, 0, 3, 0, 0};
  EXPECT_THAT(Fill(*init::Zero(),
                   {.name = "f_parameters", .attrs = Attrs{{"__init__", init->Dumps()}}}, {20}),
              ElementsAreArray(expected));
}

TEST(FusedRnnTest, FallsBackToTheGlobalInitializer) {
  const char* const attr =
      R"(["fusedrnn", {"init": null, "num_hidden": 2, "num_layers": 2, "mode": "gru",
          "bidirectional": true, "forget_bias": 1.0}])";
  // Input size 3: layer 0 has 2 * 6 * (3 + 2 + 2) numbers, layer 1 2 * 6 * (4 + 2 + 2).
  const InitDesc desc = {.name = "f_parameters", .attrs = Attrs{{"__init__", attr}}};
  const std::vector<float> values = Fill(*init::Constant(0.5), desc, {84 + 96});
  for (size_t i = 0; i < values.size(); ++i) EXPECT_EQ(values[i], i < 180 - 48 ? 0.5f : 0) << i;
  EXPECT_THAT(Fails(*init::Constant(0.5), desc, {181}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'f_parameters' is (181,)")));
  const std::vector<float> a = Fill(*init::Uniform(), desc, {180});
  InitDesc other = desc;
  other.name = "g_parameters";
  EXPECT_NE(a, Fill(*init::Uniform(), other, {180}));
}

TEST(FusedRnnTest, NamesWhatIsWrong) {
  EXPECT_THAT(init::FusedRnn({.num_hidden = 1, .num_layers = 1, .mode = "rnn"}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("mode is 'rnn'")));
  EXPECT_THAT(init::FusedRnn({.num_hidden = 0, .num_layers = 1, .mode = "gru"}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("num_hidden is 0")));
}

TEST(FusedRnnTest, CannotBeWrittenAroundWhatCannot) {
  COOPER_ASSERT_OK_AND_ASSIGN(auto mixed, init::Mixed({{".*", init::One()}}));
  const std::shared_ptr<const Initializer> inits[] = {init::Load({}), std::move(mixed)};
  for (const std::shared_ptr<const Initializer>& inner : inits) {
    ASSERT_EQ(inner->Dumps(), "");
    COOPER_ASSERT_OK_AND_ASSIGN(
        const auto fused,
        init::FusedRnn({.init = inner, .num_hidden = 1, .num_layers = 1, .mode = "gru"}));
    EXPECT_EQ(fused->Dumps(), "");
  }
}

TEST(InitializerTest, DumpsReadBackAsTheSame) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::pair<std::string, std::string> cases[] = {
      {init::Zero()->Dumps(), R"(["zero", {}])"},
      {init::One()->Dumps(), R"(["one", {}])"},
      {init::Constant(0.25)->Dumps(), R"(["constant", {"value": 0.25}])"},
      {init::Constant({1, 2.5})->Dumps(), R"(["constant", {"value": [1.0, 2.5]}])"},
      {init::Uniform()->Dumps(), R"(["uniform", {"scale": 0.07}])"},
      {init::Normal(2)->Dumps(), R"(["normal", {"sigma": 2.0}])"},
      {init::Xavier({.factor_type = init::FactorType::kIn, .magnitude = 2.34})->Dumps(),
       R"(["xavier", {"rnd_type": "uniform", "factor_type": "in", "magnitude": 2.34}])"},
      {init::MsraPrelu()->Dumps(), R"(["msraprelu", {"factor_type": "avg", "slope": 0.25}])"},
      {init::Orthogonal()->Dumps(), R"(["orthogonal", {"scale": 1.414, "rand_type": "uniform"}])"},
      {init::Bilinear()->Dumps(), R"(["bilinear", {}])"},
      {init::LstmBias()->Dumps(), R"(["lstmbias", {"forget_bias": 1.0}])"},
      {init::Constant(-kInfinity)->Dumps(), R"(["constant", {"value": "-inf"}])"},
      {init::Constant({1, std::nan("")})->Dumps(), R"(["constant", {"value": [1.0, "nan"]}])"},
  };
  for (const auto& [dumps, expected] : cases) {
    EXPECT_EQ(dumps, expected);
    COOPER_ASSERT_OK_AND_ASSIGN(const auto back, CreateInitializerFromText(dumps));
    EXPECT_EQ(back->Dumps(), expected);
  }
}

TEST(LoadTest, CopiesByNameAndFallsBack) {
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray given, NDArray::FromVector<float>({2}, {3, 4}));
  const std::map<std::string, NDArray> arrays = {
      {"arg:fc_weight", given}, {"aux:mean", given}, {"plain", given}};
  const auto load = init::Load(arrays, init::One());
  for (const char* name : {"fc_weight", "mean", "plain"}) {
    EXPECT_THAT(Fill(*load, {.name = name}, {2}), ElementsAre(3, 4));
  }
  EXPECT_THAT(Fill(*load, {.name = "other_weight"}, {2}), Each(1));
  const auto strict = init::Load(arrays);
  EXPECT_THAT(Fails(*strict, {.name = "other_weight"}, {2}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'other_weight'")));
  EXPECT_THAT(Fails(*strict, {.name = "mean"}, {3}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'mean' is (3,)")));
}

TEST(MixedTest, TakesTheFirstPatternThatMatchesAtTheStart) {
  COOPER_ASSERT_OK_AND_ASSIGN(const auto mixed, init::Mixed({{"bias", init::Zero()},
                                                             {"fc.*weight", init::Constant(0.5)},
                                                             {".*t$", init::One()}}));
  EXPECT_THAT(Fill(*mixed, {.name = "fc1_weight"}, {2}), Each(0.5f));
  EXPECT_THAT(Fill(*mixed, {.name = "conv_weight"}, {2}), Each(1));
  EXPECT_THAT(Fails(*mixed, {.name = "fc1_bias"}, {2}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'fc1_bias'")));
  EXPECT_THAT(init::Mixed({{"(", init::Zero()}}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("pattern '('")));
}

TEST(CreateInitializerTest, NamesWhatIsWrong) {
  const auto code = absl::StatusCode::kInvalidArgument;
  EXPECT_THAT(CreateInitializer("xaver"), StatusIs(absl::StatusCode::kNotFound,
                                                   HasSubstr("'xaver', expected one of bilinear")));
  EXPECT_THAT(CreateInitializer("xavier", {{"scale", "1"}}), StatusIs(code, HasSubstr("'scale'")));
  EXPECT_THAT(CreateInitializer("xavier", {{"rnd_type", "normal"}}),
              StatusIs(code, HasSubstr("rnd_type is 'normal'")));
  EXPECT_THAT(CreateInitializer("xavier", {{"factor_type", "sum"}}),
              StatusIs(code, HasSubstr("factor_type is 'sum'")));
  EXPECT_THAT(CreateInitializer("constant"), StatusIs(code, HasSubstr("value is missing")));
  EXPECT_THAT(CreateInitializer("constant", {{"value", "((1, x), (2, 3))"}}),
              StatusIs(code, HasSubstr("x")));
  EXPECT_THAT(CreateInitializer("orthogonal", {{"rand_type", "x"}}),
              StatusIs(code, HasSubstr("rand_type is 'x'")));
  EXPECT_THAT(CreateInitializerFromText("[\"zero\"]"), StatusIs(code, HasSubstr("JSON list")));
}

}  // namespace
}  // namespace cooper
