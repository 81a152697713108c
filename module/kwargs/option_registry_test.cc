#include "module/kwargs/option_registry.h"

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "module/kwargs/kwargs.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

enum class Mode { kFast, kSlow };

struct Common {
  double rate = 0.1;
};

struct Options {
  Common common;
  double momentum = 0.5;
  bool centered = false;
  std::vector<int64_t> step;
  std::optional<double> clip = 1;
  Mode mode = Mode::kFast;
};

OptionRegistry<Options, int> MakeRegistry() {
  OptionRegistry<Options, int> registry("optimizer");
  registry.Add<Options>(
      {"sgd", "ccsgd"},
      [](const Options& options, int extra) {
        auto made = std::make_unique<Options>(options);
        made->step.push_back(extra);
        return made;
      },
      [](auto& d) {
        d.Field("rate", &Options::common, &Common::rate).Required();
        d.Field("momentum", &Options::momentum);
        d.Field("centered", &Options::centered);
        d.Field("step", &Options::step);
        d.Field("clip", &Options::clip);
        d.Enum("mode", &Options::mode, {{"fast", Mode::kFast}, {"slow", Mode::kSlow}});
        d.template Ignored<bool>("lazy");
      },
      {.momentum = 0.25});
  return registry;
}

TEST(OptionRegistryTest, ReadsEveryKindAndKeepsDefaults) {
  const auto registry = MakeRegistry();
  COOPER_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Options> options,
                              registry.Create("SGD",
                                              {{"rate", "1e-3"},
                                               {"centered", "True"},
                                               {"step", "(2, 4)"},
                                               {"clip", "None"},
                                               {"mode", "slow"},
                                               {"lazy", "False"}},
                                              6));
  EXPECT_EQ(options->common.rate, 1e-3);
  EXPECT_EQ(options->momentum, 0.25);
  EXPECT_TRUE(options->centered);
  EXPECT_THAT(options->step, ElementsAre(2, 4, 6));
  EXPECT_FALSE(options->clip.has_value());
  EXPECT_EQ(options->mode, Mode::kSlow);
  EXPECT_THAT(registry.names(), ElementsAre("ccsgd", "sgd"));
}

TEST(KwargsTest, NumbersAndBoolsBecomeTextThatReadsBackAsTheSame) {
  const struct {
    AttrValue value;
    std::string text;
  } kCases[] = {{0.02, "0.02"},
                {1.0 / 3, "0.3333333333333333"},
                {1e-45, "1e-45"},
                {0.1f, "0.10000000149011612"},
                {-0.0, "-0"},
                {std::numeric_limits<double>::infinity(), "inf"},
                {1e6, "1e+06"},
                {5, "5"},
                {size_t{16777217}, "16777217"},
                {std::numeric_limits<int64_t>::min(), "-9223372036854775808"},
                {std::numeric_limits<uint64_t>::max(), "18446744073709551615"},
                {true, "True"},
                {false, "False"},
                {"0.9", "0.9"},
                {std::string("(2, 4)"), "(2, 4)"},
                {absl::string_view("None"), "None"}};
  for (const auto& c : kCases) EXPECT_EQ(c.value.text(), c.text);
  static_assert(!std::is_constructible_v<AttrValue, char>);
}

TEST(KwargsTest, NumbersReachTheirOptionsUnchanged) {
  const auto registry = MakeRegistry();
  const double third = 1.0 / 3;
  COOPER_ASSERT_OK_AND_ASSIGN(
      const std::unique_ptr<Options> options,
      registry.Create("sgd", {{"rate", third}, {"momentum", 1}, {"centered", true}, {"clip", 0.1f}},
                      6));
  EXPECT_EQ(options->common.rate, third);
  EXPECT_EQ(options->momentum, 1);
  EXPECT_TRUE(options->centered);
  EXPECT_EQ(options->clip, 0.1f);
  EXPECT_THAT(registry.Create("sgd", {{"rate", 1}, {"centered", 0.5}}, 6),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("optimizer sgd: centered is '0.5': expected True or False")));
}

TEST(KwargsTest, ComeFromAndGoToMapsOfText) {
  const std::map<std::string, std::string> texts = {{"rate", "0.5"}, {"clip", "None"}};
  Kwargs kwargs = texts;
  kwargs["rate"] = 0.25;
  EXPECT_EQ(kwargs.texts(), (AttrMap{{"clip", "None"}, {"rate", "0.25"}}));
}

TEST(OptionRegistryTest, HasNearNames) {
  const auto registry = MakeRegistry();
  EXPECT_THAT(registry.Create("sdg", {}, 0),
              StatusIs(absl::StatusCode::kNotFound,
                       HasSubstr("expected one of ccsgd, sgd; did you mean 'sgd'?")));
  EXPECT_THAT(registry.Create("sgd", {{"rate", "1"}, {"momentun", "0.9"}}, 0),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("did you mean 'momentum'?")));
}

TEST(OptionRegistryTest, NamesWhatIsWrong) {
  const auto registry = MakeRegistry();
  const auto code = absl::StatusCode::kInvalidArgument;
  EXPECT_THAT(registry.Create("sgd", {{"rate", "fast"}}, 0),
              StatusIs(code, HasSubstr("optimizer sgd: rate is 'fast': expected a number")));
  EXPECT_THAT(registry.Create("sgd", {{"rate", "1"}, {"mode", "odd"}}, 0),
              StatusIs(code, HasSubstr("mode is 'odd': expected one of fast, slow")));
  EXPECT_THAT(registry.Create("sgd", {{"rate", "1"}, {"lazy", "odd"}}, 0),
              StatusIs(code, HasSubstr("lazy is 'odd'")));
  EXPECT_THAT(registry.Create("ccsgd", {{"rate", "1"}, {"momentun", "0.9"}}, 0),
              StatusIs(code, HasSubstr("optimizer ccsgd: unknown argument 'momentun', expected one "
                                       "of rate, momentum, centered, step, clip, mode, lazy")));
  // The missing option may be the misspelt one.
  EXPECT_THAT(registry.Create("sgd", {{"rates", "1"}}, 0),
              StatusIs(code, AllOf(HasSubstr("unknown argument 'rates'"),
                                   HasSubstr("did you mean 'rate'?"))));
  EXPECT_THAT(registry.Create("sgd", {}, 0),
              StatusIs(code, HasSubstr("optimizer sgd: rate is missing")));
  EXPECT_THAT(registry.Create("sdg", {}, 0),
              StatusIs(absl::StatusCode::kNotFound,
                       HasSubstr("no optimizer 'sdg', expected one of ccsgd, sgd")));
}

}  // namespace
}  // namespace cooper
