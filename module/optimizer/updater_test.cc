#include "module/optimizer/updater.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "module/lr_scheduler/create_lr_scheduler.h"
#include "module/optimizer/create_optimizer.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Updater Make(const std::string& name, const Kwargs& kwargs = {}) {
  std::shared_ptr<LRScheduler> scheduler =
      *CreateLRScheduler("factor", {{"step", "2"}, {"factor", "0.5"}, {"base_lr", "0.1"}});
  return Updater(std::shared_ptr<Optimizer>(*CreateOptimizer(name, kwargs, scheduler)));
}

NDArray Vector(const std::vector<float>& values) {
  return *NDArray::FromVector<float>({static_cast<int64_t>(values.size())}, values);
}

void Steps(Updater& updater, const NDArray& weight, const NDArray& bias, int begin, int end) {
  for (int i = begin; i < end; ++i) {
    const auto x = static_cast<float>(i);
    COOPER_ASSERT_OK(updater.Update("fc_weight", weight, Vector({x, 1 - x, 0.5f})));
    if (i % 2 == 0) {
      COOPER_ASSERT_OK(updater.Update("fc_bias", bias, Vector({1 + x})));
    }
  }
}

TEST(UpdaterTest, GoesOnFromSavedStatesBitForBit) {
  for (const std::string& name : OptimizerNames()) {
    const Kwargs kwargs = {{"wd", "0.1"}};
    Updater whole = Make(name, kwargs);
    const NDArray weight = Vector({1, -2, 3});
    const NDArray bias = Vector({0.5f});
    Steps(whole, weight, bias, 0, 9);

    Updater first = Make(name, kwargs);
    const NDArray first_weight = Vector({1, -2, 3});
    const NDArray first_bias = Vector({0.5f});
    Steps(first, first_weight, first_bias, 0, 5);
    const std::string path = ::testing::TempDir() + "/updater_test_" + name + ".states";
    COOPER_ASSERT_OK(first.SaveStates(path));
    Updater second = Make(name, kwargs);
    COOPER_ASSERT_OK(second.LoadStates(path));
    Steps(second, first_weight, first_bias, 5, 9);

    EXPECT_EQ(*first_weight.ToVector<float>(), *weight.ToVector<float>()) << name;
    EXPECT_EQ(*first_bias.ToVector<float>(), *bias.ToVector<float>()) << name;
    EXPECT_EQ(second.optimizer().num_update(), 9);
  }
}

TEST(UpdaterTest, NamesItsStates) {
  Updater updater = Make("adam");
  COOPER_ASSERT_OK(updater.Update("fc_weight", Vector({1}), Vector({1})));
  COOPER_ASSERT_OK_AND_ASSIGN(const auto states, updater.GetStates());
  std::vector<std::string> names;
  names.reserve(states.size());
  for (const auto& [name, array] : states) names.push_back(name);
  EXPECT_THAT(
      names, ElementsAre(":optimizer", "fc_weight:num_updates", "fc_weight:mean", "fc_weight:var"));
}

TEST(UpdaterTest, RefusesTheStatesOfAnotherOptimizer) {
  Updater sgd = Make("sgd", {{"momentum", "0.9"}});
  COOPER_ASSERT_OK(sgd.Update("fc_weight", Vector({1}), Vector({1})));
  COOPER_ASSERT_OK_AND_ASSIGN(auto states, sgd.GetStates());
  Updater adam = Make("adam");
  const auto code = absl::StatusCode::kInvalidArgument;
  EXPECT_THAT(adam.SetStates(states),
              StatusIs(code, HasSubstr("adam has no state 'fc_weight:momentum'")));
  states.pop_back();
  EXPECT_THAT(adam.SetStates(states), StatusIs(code, HasSubstr("'fc_weight:mean' is missing")));
  COOPER_ASSERT_OK_AND_ASSIGN(states, sgd.GetStates());
  std::erase_if(states, [](const auto& state) { return state.first == "fc_weight:num_updates"; });
  EXPECT_THAT(sgd.SetStates(states),
              StatusIs(code, HasSubstr("'fc_weight:num_updates' is missing")));
  EXPECT_THAT(adam.SetStates({}), StatusIs(code, HasSubstr("':optimizer' is missing")));
  EXPECT_THAT(Make("signum").SetStates(*sgd.GetStates()),
              StatusIs(code, HasSubstr("'sgd', expected 'signum'")));
}

NDArray Half(const std::vector<float>& values) { return *Vector(values).AsType(DType::kFloat16); }

// A file's master copy becomes the weight: one of another shape would be read beyond its end.
TEST(UpdaterTest, RefusesACopyThatIsNotTheWeights) {
  const auto code = absl::StatusCode::kInvalidArgument;
  const NDArray weight = Half({1, 2, 3}), grad = Half({0, 0, 0});
  const struct {
    const char* name;
    NDArray copy;
    std::string multi_precision;
    const char* error;
  } kCases[] = {
      {"TooSmall", Vector({1}), "True", "its float32 copy (1,)"},
      {"TooLarge", Vector({1, 2, 3, 4}), "True", "its float32 copy (4,)"},
      {"OtherType", weight, "True", "the float32 copy of parameter 'w' is float16"},
      {"OfAWeightThatHasNone", Vector({1, 2, 3}), "False", "has a float32 copy"},
  };
  for (const auto& c : kCases) {
    SCOPED_TRACE(c.name);
    Updater updater = Make("sgd", {{"multi_precision", c.multi_precision}});
    COOPER_ASSERT_OK(updater.Update("w", weight, grad));
    COOPER_ASSERT_OK_AND_ASSIGN(auto states, updater.GetStates());
    if (states.back().first == "w:master") states.pop_back();
    states.emplace_back("w:master", c.copy);
    EXPECT_THAT(updater.SetStates(states, {{"w", weight}}), StatusIs(code, HasSubstr(c.error)));
    COOPER_EXPECT_OK(updater.Update("w", weight, grad));  // the states before are still there
    // Without the weight the error is found at the update.
    COOPER_EXPECT_OK(updater.SetStates(states));
    EXPECT_THAT(updater.Update("w", weight, grad), StatusIs(code, HasSubstr(c.error)));
  }
}

TEST(UpdaterTest, RefusesStatesWithoutTheCopyThatTheOptimizerNeeds) {
  const NDArray weight = Half({1, 2, 3}), grad = Half({0, 0, 0});
  Updater plain = Make("sgd");
  COOPER_ASSERT_OK(plain.Update("w", weight, grad));
  EXPECT_THAT(
      Make("sgd", {{"multi_precision", "True"}}).SetStates(*plain.GetStates(), {{"w", weight}}),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("its float32 copy null")));
}

// Returns the optimizer's state with `line` in place of the line with the same key.
std::string StateWith(const Optimizer& optimizer, const std::string& line) {
  const std::string key = line.substr(0, line.find(' ') + 1);
  std::string text;
  for (absl::string_view its_line : absl::StrSplit(optimizer.SaveState(), '\n')) {
    absl::StrAppend(&text, absl::StartsWith(its_line, key) ? line : its_line, "\n");
  }
  return text;
}

TEST(UpdaterTest, RefusesCountsThatNoRunReaches) {
  Updater updater = Make("adam");
  COOPER_ASSERT_OK(updater.Update("w", Vector({1}), Vector({1})));
  COOPER_ASSERT_OK_AND_ASSIGN(const auto states, updater.GetStates());
  for (const int64_t count : {std::numeric_limits<int64_t>::max(), kMaxNumUpdates + 1, int64_t{-1},
                              std::numeric_limits<int64_t>::min()}) {
    auto changed = states;
    ASSERT_EQ(changed[1].first, "w:num_updates");
    changed[1].second = *NDArray::FromVector<int64_t>({1}, {count});
    EXPECT_THAT(updater.SetStates(changed),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr(absl::StrCat("'w:num_updates' is ", count))));
  }
  for (const char* change : {"num_update 9223372036854775807", "num_update -1", "learning_rate nan",
                             "learning_rate inf"}) {
    EXPECT_THAT(updater.optimizer().LoadState(StateWith(updater.optimizer(), change)),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("state of ")))
        << change;
  }
  Updater nadam = Make("nadam");
  for (const char* change : {"schedule nan", "schedule -0.1", "schedule 1.1"}) {
    EXPECT_THAT(nadam.optimizer().LoadState(StateWith(nadam.optimizer(), change)),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("state 'schedule' is ")))
        << change;
  }
}

// Neither states nor what the parameters share change, although the schedule is checked last.
TEST(UpdaterTest, StatesWithABrokenScheduleChangeNothing) {
  for (const std::string& name : OptimizerNames()) {
    SCOPED_TRACE(name);
    Updater updater = Make(name), further = Make(name);
    const NDArray weight = Vector({1}), grad = Vector({1});
    COOPER_ASSERT_OK(updater.Update("w", weight, grad));
    for (int i = 0; i < 5; ++i) COOPER_ASSERT_OK(further.Update("w", weight, grad));
    COOPER_ASSERT_OK_AND_ASSIGN(auto states, further.GetStates());
    const std::string text = StateWith(further.optimizer(), "lr_scheduler broken");
    const std::vector<uint8_t> bytes(text.begin(), text.end());
    ASSERT_EQ(states[0].first, ":optimizer");
    states[0].second = *NDArray::FromVector({static_cast<int64_t>(bytes.size())}, bytes);
    const std::string before = updater.optimizer().SaveState();
    EXPECT_THAT(updater.SetStates(states),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'broken'")));
    EXPECT_EQ(updater.optimizer().SaveState(), before);
  }
}

}  // namespace
}  // namespace cooper
