#include "module/lr_scheduler/lr_scheduler.h"

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "module/lr_scheduler/create_lr_scheduler.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;

struct Case {
  const char* name;
  const char* kind;
  Kwargs kwargs;
  std::vector<std::pair<int64_t, double>> rates;  // requested in this order
};

// Returns schedules with the rates that MXNet 1.9.1 computes.
const std::vector<Case>& Cases() {
  static const auto* const cases = new std::vector<Case>{
      {"Factor",
       "factor",
       {{"step", "10"}, {"factor", "0.5"}, {"base_lr", "0.4"}},
       {{0, 0.4}, {10, 0.4}, {11, 0.2}, {20, 0.2}, {21, 0.1}, {100, 0.00078125}}},
      {"FactorStops",
       "FactorScheduler",
       {{"step", "3"}, {"factor", "0.1"}, {"stop_factor_lr", "0.001"}, {"base_lr", "1"}},
       {{3, 1}, {4, 0.1}, {7, 0.01}, {10, 0.001}, {60, 0.001}}},
      {"MultiFactor",
       "multifactor",
       {{"step", "(6, 15, 30)"}, {"factor", "0.1"}, {"base_lr", "0.5"}},
       {{6, 0.5}, {7, 0.05}, {16, 0.005}, {31, 0.0005}, {99, 0.0005}}},
      {"Poly",
       "poly",
       {{"max_update", "50"}, {"base_lr", "0.3"}},
       {{0, 0.3}, {1, 0.28812}, {40, 0.012}, {50, 0}, {51, 0}}},
      {"PolyJump",
       "poly",
       {{"max_update", "50"}, {"base_lr", "0.3"}},
       {{41, 0.00972}, {100, 0.00972}}},
      {"Cosine",
       "cosine",
       {{"max_update", "50"}, {"base_lr", "0.3"}},
       {{0, 0.3}, {25, 0.15}, {40, 0.0286474508437579}, {50, 0}}},
      {"WarmupLinear",
       "factor",
       {{"step", "10"},
        {"factor", "0.5"},
        {"base_lr", "0.4"},
        {"warmup_steps", "5"},
        {"warmup_begin_lr", "0.01"}},
       {{0, 0.01}, {1, 0.088}, {4, 0.322}, {5, 0.4}, {11, 0.2}}},
      {"WarmupConstant",
       "cosine",
       {{"max_update", "50"},
        {"base_lr", "0.3"},
        {"warmup_steps", "5"},
        {"warmup_begin_lr", "0.01"},
        {"warmup_mode", "constant"}},
       {{0, 0.01}, {4, 0.01}, {5, 0.3}, {30, 0.123953}}},
  };
  return *cases;
}

std::unique_ptr<LRScheduler> Make(const Case& c) {
  auto scheduler = CreateLRScheduler(c.kind, c.kwargs);
  EXPECT_TRUE(scheduler.ok()) << scheduler.status();
  return *std::move(scheduler);
}

TEST(LRSchedulerTest, GivesTheRatesOfMXNet) {
  for (const Case& c : Cases()) {
    const auto scheduler = Make(c);
    for (const auto& [num_update, rate] : c.rates) {
      EXPECT_NEAR(scheduler->LearningRate(num_update), rate, 1e-6) << c.name << " " << num_update;
    }
  }
}

TEST(LRSchedulerTest, GoesOnFromASavedState) {
  for (const Case& c : Cases()) {
    for (int64_t saved_at : {0, 3, 7, 17, 45, 60}) {
      const auto first = Make(c);
      for (int64_t i = 0; i < saved_at; ++i) first->LearningRate(i);
      const auto second = Make(c);
      COOPER_ASSERT_OK(second->LoadState(first->SaveState()));
      for (int64_t i = saved_at; i < 80; ++i) {
        EXPECT_EQ(first->LearningRate(i), second->LearningRate(i)) << c.name << " " << i;
      }
    }
  }
}

TEST(LRSchedulerTest, RefusesTheStateOfAnotherKind) {
  const auto factor = Make(Cases()[0]);
  const auto poly = Make(Cases()[3]);
  EXPECT_THAT(poly->LoadState(factor->SaveState()),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'factor', expected 'poly'")));
}

// A count from a file may be arbitrarily large.
TEST(LRSchedulerTest, AFarUpdateIsReachedAtOnce) {
  const Case& c = Cases()[0];
  for (const double factor : {0.5, 1.0}) {
    Kwargs kwargs = c.kwargs;
    kwargs["factor"] = absl::StrCat(factor);
    const auto jumped = *CreateLRScheduler(c.kind, kwargs);
    const auto walked = *CreateLRScheduler(c.kind, kwargs);
    double rate = 0;
    for (int64_t i = 0; i <= 12'345; ++i) rate = walked->LearningRate(i);
    EXPECT_EQ(jumped->LearningRate(12'345), rate);
    EXPECT_EQ(jumped->SaveState(), walked->SaveState());
    EXPECT_EQ(jumped->LearningRate(int64_t{1} << 53), rate);
    EXPECT_EQ(jumped->LearningRate(std::numeric_limits<int64_t>::max()), rate);
  }
  Kwargs slow = c.kwargs;
  slow["factor"] = "0.999999999999";
  EXPECT_EQ((*CreateLRScheduler(c.kind, slow))->LearningRate(int64_t{1} << 53), 1e-8);
}

TEST(LRSchedulerTest, RefusesAStateThatNoRunReaches) {
  const auto factor = Make(Cases()[0]);
  EXPECT_THAT(factor->LoadState("base_lr nan\ncount 0\nkind factor\n"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'base_lr' is nan")));
  EXPECT_THAT(factor->LoadState("base_lr 1\ncount -9223372036854775808\nkind factor\n"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'count' is -9")));
}

TEST(LRSchedulerTest, SetBaseLrChangesStepsButNotDecays) {
  const auto factor = Make(Cases()[0]);
  factor->set_base_lr(8);
  EXPECT_EQ(factor->LearningRate(11), 4);
  const auto poly = Make(Cases()[3]);
  poly->set_base_lr(8);
  EXPECT_NEAR(poly->LearningRate(1), 0.28812, 1e-9);
}

TEST(LRSchedulerTest, NamesWhatIsWrong) {
  const std::vector<std::pair<Case, std::string>> cases = {
      {{"", "factor", {}}, "step is missing"},
      {{"", "factor", {{"step", "0"}}}, "step is 0"},
      {{"", "factor", {{"step", "1"}, {"factor", "2"}}}, "factor is 2"},
      {{"", "factor", {{"step", "1"}, {"factor", "-0.5"}}}, "factor is -0.5"},
      {{"", "factor", {{"step", "1"}, {"base_lr", "nan"}}}, "base_lr is nan"},
      {{"", "factor", {{"step", "1"}, {"stop_factor_lr", "inf"}}}, "stop_factor_lr is inf"},
      {{"", "poly", {{"max_update", "5"}, {"pwr", "-1"}}}, "pwr is -1"},
      {{"", "poly", {{"max_update", "5"}, {"final_lr", "1e308"}}}, "final_lr is 1e+308"},
      {{"", "cosine", {{"max_update", "5"}, {"warmup_begin_lr", "-1e300"}}}, "warmup_begin_lr is"},
      {{"", "factor", {{"step", "1"}, {"max_update", "2"}}}, "unknown argument 'max_update'"},
      {{"", "multifactor", {{"step", "(2, 2)"}}}, "step is (2, 2)"},
      {{"", "multifactor", {{"step", "()"}}}, "step is ()"},
      {{"", "poly", {{"max_update", "0"}}}, "max_update is 0"},
      {{"", "cosine", {{"max_update", "5"}, {"warmup_steps", "5"}}}, "max_update is 5"},
      {{"", "factor", {{"step", "1"}, {"warmup_steps", "-1"}}}, "warmup_steps is -1"},
      {{"", "factor", {{"step", "1"}, {"warmup_begin_lr", "1"}}}, "warmup_begin_lr is 1"},
      {{"", "factor", {{"step", "1"}, {"warmup_mode", "fast"}}}, "warmup_mode is 'fast'"},
  };
  for (const auto& [c, error] : cases) {
    EXPECT_THAT(CreateLRScheduler(c.kind, c.kwargs),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(error)));
  }
  EXPECT_THAT(CreateLRScheduler("exp", {}),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("'exp'")));
}

}  // namespace
}  // namespace cooper
