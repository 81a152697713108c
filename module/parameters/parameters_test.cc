#include "module/parameters/parameters.h"

#include <cstdint>
#include <string>
#include <vector>

#include "executor/executor_fixtures.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "module/initializer/initializers.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr auto kArg = ParameterKind::kArg;
constexpr auto kAux = ParameterKind::kAux;
constexpr auto kInvalidArgument = absl::StatusCode::kInvalidArgument;
constexpr auto kFailedPrecondition = absl::StatusCode::kFailedPrecondition;

const std::vector<Context> kTwo = {Context::Cpu(0), Context::Cpu(1)};

void AllocateAll(Parameters& parameters, ParameterKind kind, const std::string& name,
                 const Shape& shape) {
  for (int i = 0; i < parameters.num_contexts(); ++i) {
    COOPER_ASSERT_OK(parameters.Allocate(kind, name, i, {.shape = shape}));
    if (kind != kArg) continue;
    COOPER_ASSERT_OK(parameters.AllocateGrad(name, i));
  }
}

NDArray Filled(const Shape& shape, double value) { return *NDArray::Full(shape, value); }

std::vector<float> Values(const Parameters& parameters, const std::string& name, int i = 0) {
  return Floats(parameters.Value(kArg, name, i));
}

TEST(ParametersTest, ArraysAreMadeOnceAndFoundByName) {
  Parameters parameters(kTwo);
  EXPECT_TRUE(parameters.Value(kArg, "w").is_null());
  EXPECT_TRUE(parameters.Grad("w").is_null());
  COOPER_ASSERT_OK(parameters.Allocate(kArg, "w", 0, {.shape = {2, 3}}));
  COOPER_ASSERT_OK(
      parameters.Allocate(kArg, "w", 1, {.shape = {2, 3}, .context = Context::Cpu(1)}));
  const NDArray first = parameters.Value(kArg, "w", 0);
  EXPECT_THAT(Floats(first), Each(0.0f));
  EXPECT_EQ(parameters.Value(kArg, "w", 1).context(), Context::Cpu(1));
  EXPECT_NE(parameters.Value(kArg, "w", 1).raw_data(), first.raw_data());
  EXPECT_TRUE(parameters.Grad("w").is_null()) << "a fixed parameter has none";
  COOPER_ASSERT_OK(parameters.AllocateGrad("w", 0));
  EXPECT_EQ(parameters.Grad("w").shape(), Shape({2, 3}));
  // A second call changes nothing, whatever the shape.
  COOPER_ASSERT_OK(parameters.Allocate(kArg, "w", 0, {.shape = {7}}));
  EXPECT_EQ(parameters.Value(kArg, "w").raw_data(), first.raw_data());
  AllocateAll(parameters, kArg, "b", {3});
  AllocateAll(parameters, kAux, "w", {5});
  EXPECT_THAT(parameters.Names(kArg), ElementsAre("b", "w"));
  EXPECT_THAT(parameters.Names(kAux), ElementsAre("w"));
  EXPECT_EQ(parameters.num_elements(), 9);
}

TEST(ParametersTest, InitFillsAndChecksBeforeItWrites) {
  Parameters parameters(kTwo);
  AllocateAll(parameters, kArg, "a_weight", {2});
  AllocateAll(parameters, kArg, "b_weight", {3});
  const InitParamsOptions missing{.arg_params = ArrayMap{{"a_weight", Filled({2}, 7)}}};
  EXPECT_THAT(parameters.Init(missing), StatusIs(kInvalidArgument, HasSubstr("'b_weight'")));
  const InitParamsOptions wrong{
      .arg_params = ArrayMap{{"a_weight", Filled({2}, 7)}, {"b_weight", Filled({4}, 7)}}};
  EXPECT_THAT(parameters.Init(wrong),
              StatusIs(kInvalidArgument, HasSubstr("'b_weight' is given with")));
  EXPECT_FALSE(parameters.initialized());
  EXPECT_THAT(Values(parameters, "a_weight"), Each(0.0f)) << "nothing is changed";

  InitParamsOptions some = missing;
  some.allow_missing = true;
  some.initializer = init::Constant(3);
  COOPER_ASSERT_OK(parameters.Init(some));
  EXPECT_TRUE(parameters.initialized());
  for (int i : {0, 1}) {
    EXPECT_THAT(Values(parameters, "a_weight", i), Each(7.0f));
    EXPECT_THAT(Values(parameters, "b_weight", i), Each(3.0f));
  }
  COOPER_ASSERT_OK(parameters.Init({.initializer = init::Constant(4)}));
  EXPECT_THAT(Values(parameters, "b_weight"), Each(3.0f)) << "without force_init it stays";
}

TEST(ParametersTest, GivenValuesWaitForTheirNetwork) {
  Parameters parameters(kTwo);
  AllocateAll(parameters, kArg, "a_weight", {2});
  NDArray later = Filled({3}, 5);
  COOPER_ASSERT_OK(
      parameters.Init({.initializer = nullptr,
                       .arg_params = ArrayMap{{"a_weight", Filled({2}, 7)}, {"b_weight", later}}}));
  COOPER_ASSERT_OK(later.Fill(0));  // the caller's own array
  EXPECT_TRUE(parameters.waiting(kArg).contains("b_weight"));

  AllocateAll(parameters, kArg, "b_weight", {3});
  COOPER_ASSERT_OK(parameters.Complete({"a_weight", "b_weight"}, {}, {}));
  EXPECT_THAT(Values(parameters, "b_weight", 1), Each(5.0f));
  EXPECT_THAT(parameters.waiting(kArg), IsEmpty());
  COOPER_ASSERT_OK(parameters.Value(kArg, "b_weight").Fill(1));
  COOPER_ASSERT_OK(parameters.Complete({"b_weight"}, {}, {}));
  EXPECT_THAT(Values(parameters, "b_weight"), Each(1.0f)) << "it is not new any more";

  AllocateAll(parameters, kArg, "c_weight", {1});
  EXPECT_THAT(parameters.Complete({"c_weight"}, {}, {}),
              StatusIs(kFailedPrecondition, HasSubstr("parameter 'c_weight' has no value")));
}

TEST(ParametersTest, WhatFailsIsUndone) {
  Parameters parameters(kTwo);
  AllocateAll(parameters, kArg, "a_weight", {2});
  COOPER_ASSERT_OK(parameters.Init(
      {.initializer = nullptr,
       .arg_params = ArrayMap{{"a_weight", Filled({2}, 7)}, {"b_weight", Filled({3}, 5)}}}));
  {
    Parameters::Rollback rollback(parameters);
    AllocateAll(parameters, kArg, "b_weight", {3});
    AllocateAll(parameters, kArg, "c_weight", {3});
    EXPECT_FALSE(parameters.Complete({"b_weight"}, {}, {}).ok() &&
                 parameters.Complete({"c_weight"}, {}, {}).ok());
  }
  EXPECT_THAT(parameters.Names(kArg), ElementsAre("a_weight"));
  EXPECT_TRUE(parameters.waiting(kArg).contains("b_weight")) << "it waits again";
  {
    Parameters::Rollback rollback(parameters);
    AllocateAll(parameters, kArg, "b_weight", {3});
    COOPER_ASSERT_OK(parameters.Complete({"b_weight"}, {}, {}));
    rollback.Commit();
  }
  EXPECT_THAT(Values(parameters, "b_weight"), Each(5.0f));
}

TEST(ParametersTest, ArraysWithoutValuesMayGetOtherShapes) {
  Parameters parameters({Context::Cpu()});
  AllocateAll(parameters, kArg, "a_weight", {2});
  parameters.DropUninitialized({"a_weight", "unknown"}, {});
  EXPECT_THAT(parameters.Names(kArg), IsEmpty());
  AllocateAll(parameters, kArg, "a_weight", {3});
  COOPER_ASSERT_OK(parameters.Init({}));
  parameters.DropUninitialized({"a_weight"}, {});
  EXPECT_EQ(parameters.Value(kArg, "a_weight").shape(), Shape({3}));
}

TEST(ParametersTest, LoadedValuesAreTakenOnce) {
  Parameters parameters({Context::Cpu()});
  COOPER_ASSERT_OK(parameters.ApplyLoaded());
  parameters.Load({.args = {{"a_weight", Filled({2}, 7)}}, .auxs = {}});
  AllocateAll(parameters, kArg, "a_weight", {3});
  EXPECT_THAT(parameters.ApplyLoaded(), StatusIs(kInvalidArgument, HasSubstr("'a_weight'")));
  parameters.DropArrays();
  AllocateAll(parameters, kArg, "a_weight", {2});
  COOPER_ASSERT_OK(parameters.ApplyLoaded());
  EXPECT_THAT(Values(parameters, "a_weight"), Each(7.0f));
  COOPER_ASSERT_OK(parameters.Value(kArg, "a_weight").Fill(1));
  COOPER_ASSERT_OK(parameters.ApplyLoaded());
  EXPECT_THAT(Values(parameters, "a_weight"), Each(1.0f));
}

TEST(ParametersTest, ContextsShareLargeArraysThatNoKernelWrites) {
  Parameters parameters(kTwo);
  const Shape large({16384});
  AllocateAll(parameters, kArg, "read_weight", large);
  AllocateAll(parameters, kArg, "late_weight", large);
  for (int i : {0, 1}) {
    COOPER_ASSERT_OK(
        parameters.Allocate(kArg, "written_weight", i, {.shape = large, .is_written = true}));
  }
  COOPER_ASSERT_OK(parameters.Init({.initializer = init::Constant(2)}));
  COOPER_ASSERT_OK(parameters.ShareValues(true));
  const auto is_shared = [&](const std::string& name) {
    return parameters.Value(kArg, name, 0).raw_data() == parameters.Value(kArg, name, 1).raw_data();
  };
  EXPECT_TRUE(is_shared("read_weight"));
  EXPECT_FALSE(is_shared("written_weight"));
  ASSERT_TRUE(is_shared("late_weight"));
  const int64_t generation = parameters.generation();
  COOPER_ASSERT_OK(
      parameters.Allocate(kArg, "late_weight", 1, {.shape = large, .is_written = true}));
  EXPECT_FALSE(is_shared("late_weight")) << "another bucket's network writes it";
  EXPECT_GT(parameters.generation(), generation);
  EXPECT_EQ(Values(parameters, "late_weight", 1), Values(parameters, "late_weight", 0));
  COOPER_ASSERT_OK(parameters.ShareValues(false));
  EXPECT_FALSE(is_shared("read_weight"));
}

TEST(ParametersTest, HooksHearOfValuesAndMayGiveTheFirst) {
  Parameters parameters(kTwo);
  std::vector<std::string> set;
  parameters.SetHooks({.value_set =
                           [&](const std::string& name) {
                             set.push_back(name);
                             return absl::OkStatus();
                           },
                       .find_values = [&](const std::vector<std::string>& names)
                           -> absl::StatusOr<std::vector<std::string>> {
                         EXPECT_THAT(names, ElementsAre("b_weight", "c_weight"));
                         return std::vector<std::string>{"c_weight"};
                       },
                       .fill =
                           [&](const std::vector<std::string>& names) {
                             EXPECT_THAT(names, ElementsAre("c_weight"));
                             for (int i : {0, 1}) {
                               COOPER_EXPECT_OK(parameters.Value(kArg, names[0], i).Fill(9));
                             }
                             return absl::OkStatus();
                           }});
  AllocateAll(parameters, kArg, "a_weight", {2});
  AllocateAll(parameters, kAux, "a_gamma", {2});
  COOPER_ASSERT_OK(parameters.Init({.initializer = init::Constant(3)}));
  EXPECT_THAT(set, ElementsAre("a_weight"));
  AllocateAll(parameters, kArg, "b_weight", {1});
  AllocateAll(parameters, kArg, "c_weight", {1});
  COOPER_ASSERT_OK(parameters.Complete({"a_weight", "b_weight", "c_weight"}, {"a_gamma"}, {}));
  EXPECT_THAT(Values(parameters, "b_weight"), Each(3.0f));
  EXPECT_THAT(Values(parameters, "c_weight", 1), Each(9.0f));
  EXPECT_THAT(set, ElementsAre("a_weight")) << "first values change no state of an optimizer";
  COOPER_ASSERT_OK(parameters.Set({{"b_weight", Filled({1}, 4)}}, {}, {.allow_missing = true}));
  EXPECT_THAT(set, ElementsAre("a_weight", "b_weight"));
}

}  // namespace
}  // namespace cooper
