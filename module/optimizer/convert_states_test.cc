#include "module/optimizer/convert_states.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "module/optimizer/adagrad.h"
#include "module/optimizer/adam.h"
#include "module/optimizer/layerwise.h"
#include "module/optimizer/sgd.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr auto kInvalidArgument = absl::StatusCode::kInvalidArgument;

NDArray Floats(const std::vector<float>& values) {
  return *NDArray::FromVector<float>({static_cast<int64_t>(values.size())}, values);
}

// Adds the state of a parameter. An empty list stands for None.
void AddState(MxnetKey key, const std::vector<std::vector<float>>& arrays, MxnetStates* states) {
  MxnetParameterState& state = states->parameters.emplace_back();
  state.key = std::move(key);
  for (const std::vector<float>& values : arrays) {
    ParamsEntry& entry = state.arrays.emplace_back();
    if (!values.empty()) entry.array = Floats(values);
  }
}

// Returns the names of the converted states, with the values of those of floats and of counts.
absl::StatusOr<std::vector<std::string>> Convert(const MxnetStates& states,
                                                 const Optimizer& optimizer,
                                                 const MxnetPositions& positions,
                                                 const ArrayMap& weights = {}) {
  COOPER_ASSIGN_OR_RETURN(const NamedArrays converted,
                          ConvertMxnetStates(states, optimizer, positions, weights,
                                             [](const std::string&) { return 7; }));
  std::vector<std::string> lines;
  for (const auto& [name, array] : converted) {
    if (name == ":optimizer") continue;
    COOPER_ASSIGN_OR_RETURN(const NDArray floats, array.AsType(DType::kFloat32));
    COOPER_ASSIGN_OR_RETURN(const std::vector<float> values, floats.ToVector<float>());
    lines.push_back(absl::StrCat(name, "=", values[0]));
  }
  return lines;
}

std::unique_ptr<Optimizer> Momentum() { return Sgd({.momentum = 0.9}); }

const MxnetPositions kTwo = {.module = {"b", "a"}, .trained = {"a", "b"}, .trainer = {"a", "b"}};

TEST(ConvertStatesTest, PositionsOfAModuleFollowItsArguments) {
  MxnetStates states;
  AddState(0, {{1}}, &states);
  AddState(1, {{2}}, &states);
  EXPECT_THAT(Convert(states, *Momentum(), kTwo),
              IsOkAndHolds(ElementsAre("b:momentum=1", "b:num_updates=7", "a:momentum=2",
                                       "a:num_updates=7")));
  // A fixed parameter has a position, but no state.
  MxnetPositions fixed = kTwo;
  fixed.module = {"b", "fixed", "a"};
  states.parameters[1].key = 2;
  EXPECT_THAT(Convert(states, *Momentum(), fixed),
              IsOkAndHolds(ElementsAre("b:momentum=1", "b:num_updates=7", "a:momentum=2",
                                       "a:num_updates=7")));
}

TEST(ConvertStatesTest, PositionsOfSeveralContextsInterleave) {
  MxnetStates states;
  for (int position = 0; position < 4; ++position) {
    AddState(position, {{static_cast<float>(position)}}, &states);
  }
  const struct {
    int context, num_contexts;
    const char *b, *a;
  } kCases[] = {{0, 2, "b:momentum=0", "a:momentum=2"},
                {1, 2, "b:momentum=1", "a:momentum=3"},
                {0, 1, "b:momentum=0", "a:momentum=2"},
                {2, 3, "b:momentum=0", "a:momentum=2"}};
  for (const auto& c : kCases) {
    MxnetPositions positions = kTwo;
    positions.context = c.context;
    positions.num_contexts = c.num_contexts;
    EXPECT_THAT(Convert(states, *Momentum(), positions),
                IsOkAndHolds(ElementsAre(c.b, "b:num_updates=7", c.a, "a:num_updates=7")));
  }
}

TEST(ConvertStatesTest, KeysWithoutPositionsAreNames) {
  MxnetStates states;
  AddState("x", {{1}}, &states);
  AddState(5, {{2}}, &states);
  EXPECT_THAT(Convert(states, *Momentum(), {}),
              IsOkAndHolds(ElementsAre("x:momentum=1", "x:num_updates=7", "5:momentum=2",
                                       "5:num_updates=7")));
}

TEST(ConvertStatesTest, AnOptimizerBringsNamesCountsAndRate) {
  MxnetStates states;
  AddState(0, {{1}, {2}}, &states);
  AddState(1, {{3}, {4}}, &states);
  states.optimizer = MxnetOptimizer{.class_name = "Nadam",
                                    .num_update = 5,
                                    .counts = {{0, 4}, {1, 5}},
                                    .learning_rate = 0.5,
                                    .m_schedule = 0.25};
  const auto optimizer = Nadam();
  EXPECT_THAT(Convert(states, *optimizer, kTwo),
              IsOkAndHolds(ElementsAre("a:mean=1", "a:var=2", "a:num_updates=4", "b:mean=3",
                                       "b:var=4", "b:num_updates=5")));
  COOPER_ASSERT_OK_AND_ASSIGN(const NamedArrays converted,
                              ConvertMxnetStates(states, *optimizer, kTwo, {}, nullptr));
  COOPER_ASSERT_OK_AND_ASSIGN(const auto bytes, converted[0].second.ToVector<uint8_t>());
  EXPECT_EQ(std::string(bytes.begin(), bytes.end()),
            "kind nadam\nlearning_rate 0.5\nnum_update 5\nschedule 0.25\n");
  // The names of Module, which the optimizer has: two positions of each, on two contexts.
  states.optimizer->names = {{0, "z"}, {1, "z"}};
  MxnetPositions second = kTwo;
  second.context = 1;
  second.num_contexts = 2;
  EXPECT_THAT(Convert(states, *optimizer, second),
              IsOkAndHolds(ElementsAre("z:mean=3", "z:var=4", "z:num_updates=5")));
}

TEST(ConvertStatesTest, TheMasterCopyIsWhereEachKindPutsIt) {
  MxnetStates states;
  AddState(0, {{1}, {2}}, &states);
  const MxnetPositions one = {.module = {"a"}, .trained = {"a"}};
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray half, Floats({0}).AsType(DType::kFloat16));
  const OptimizerOptions common{.multi_precision = true};
  const auto sgd = Sgd({.common = common, .momentum = 0.9});
  EXPECT_THAT(Convert(states, *sgd, one, {{"a", half}}),
              IsOkAndHolds(ElementsAre("a:master=2", "a:momentum=1", "a:num_updates=7")));
  COOPER_ASSERT_OK_AND_ASSIGN(const auto signum, Signum({.common = common}));
  EXPECT_THAT(Convert(states, *signum, one, {{"a", half}}),
              IsOkAndHolds(ElementsAre("a:master=1", "a:momentum=2", "a:num_updates=7")));
  // Without the weight, the number of arrays shows that there is a master copy.
  EXPECT_THAT(Convert(states, *signum, one),
              IsOkAndHolds(ElementsAre("a:master=1", "a:momentum=2", "a:num_updates=7")));
}

TEST(ConvertStatesTest, NoneIsAMomentumOfZeros) {
  MxnetStates states;
  AddState(0, {{}, {2}}, &states);
  const MxnetPositions one = {.module = {"a"}, .trained = {"a"}};
  EXPECT_THAT(Convert(states, *Dcasgd(), one, {{"a", Floats({0})}}),
              IsOkAndHolds(ElementsAre("a:momentum=0", "a:previous_weight=2", "a:num_updates=7")));
}

TEST(ConvertStatesTest, SparseStatesBecomeDense) {
  MxnetStates states;
  AddState(0, {{5}}, &states);
  auto sparse = std::make_unique<SparseLayout>();
  sparse->shape = {2};
  sparse->indices = *NDArray::FromVector<int64_t>({1}, {1});
  states.parameters[0].arrays[0].sparse = std::move(sparse);
  const MxnetPositions one = {.module = {"a"}, .trained = {"a"}};
  const auto adagrad = AdaGrad();
  COOPER_ASSERT_OK_AND_ASSIGN(const NamedArrays converted,
                              ConvertMxnetStates(states, *adagrad, one, {{"a", Floats({0, 0})}},
                                                 [](const std::string&) { return 0; }));
  EXPECT_THAT(converted[1].second.ToVector<float>(), IsOkAndHolds(ElementsAre(0, 5)));
  EXPECT_THAT(Convert(states, *adagrad, one),
              StatusIs(absl::StatusCode::kUnimplemented,
                       "parameter 'a': its state is sparse, which is read for parameters that are "
                       "bound only"));
  EXPECT_THAT(Convert(states, *adagrad, one, {{"a", Floats({0, 0, 0})}}),
              StatusIs(kInvalidArgument,
                       "parameter 'a': its state has the shape (2,), the parameter (3,)"));
}

TEST(ConvertStatesTest, FilesOfAnotherTrainingAreRefused) {
  MxnetStates beyond, too_many, of_adam, unnamed;
  AddState(2, {{1}}, &beyond);
  AddState(0, {{1}, {2}, {3}}, &too_many);
  of_adam.optimizer = MxnetOptimizer{.class_name = "Adam"};
  AddState(3, {{1}}, &unnamed);
  unnamed.optimizer = MxnetOptimizer{.class_name = "ccSGD", .names = {{0, "a"}}};
  const struct {
    const MxnetStates& states;
    const char* message;
  } kCases[] = {
      {beyond,
       "a state has position 2, but there are 2 parameters (b, a): the file is of another network"},
      {too_many,
       "parameter 'b': its state has 3 arrays, that of this optimizer, sgd, has 1 (momentum): are "
       "momentum and multi_precision those of the file?"},
      {of_adam, "the file is of optimizer Adam, this one is sgd"},
      {unnamed, "a state has position 3, which the optimizer does not name"},
  };
  for (const auto& c : kCases) {
    EXPECT_THAT(Convert(c.states, *Momentum(), kTwo), StatusIs(kInvalidArgument, c.message));
  }
}

}  // namespace
}  // namespace cooper
