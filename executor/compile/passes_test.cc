#include "executor/compile/passes.h"

#include <set>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;

TEST(PassesTest, EachIsOfOneKindAndThoseOverGraphsComeFirst) {
  std::set<std::string> names;
  bool over_programs = false;
  for (const Pass& pass : AllPasses()) {
    EXPECT_TRUE(names.insert(pass.name).second) << pass.name;
    EXPECT_NE(pass.over_graph == nullptr, pass.over_program == nullptr) << pass.name;
    over_programs = over_programs || pass.over_program != nullptr;
    EXPECT_EQ(pass.over_program != nullptr, over_programs) << pass.name;
    // A monitor disables the passes that merge nodes, so none of these may be required.
    EXPECT_FALSE(pass.required && pass.merges_nodes) << pass.name;
  }
}

TEST(PassesTest, WhatIsRequiredCannotBeLeftOut) {
  const std::vector<std::string> names = PassNames();
  COOPER_EXPECT_OK(CheckPassNames({names.begin(), names.end()}));
  for (const Pass& pass : AllPasses()) {
    EXPECT_EQ(absl::c_linear_search(names, pass.name), !pass.required) << pass.name;
  }
  EXPECT_THAT(
      CheckPassNames({"copies"}),
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr("no pass called 'copies' can be disabled; the passes are rnn_layers, ")));
  EXPECT_THAT(CheckPassNames({"in_plase"}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("did you mean 'in_place'?")));
}

TEST(PassesTest, AMonitorLeavesOutWhatMergesNodes) {
  std::set<std::string> expected = {"views"};
  for (const Pass& pass : AllPasses()) {
    if (pass.merges_nodes) expected.insert(pass.name);
  }
  EXPECT_TRUE(expected.contains("tiles") && !expected.contains("in_place"));
  EXPECT_EQ(WithoutMergingPasses({"views"}), expected);
  COOPER_EXPECT_OK(CheckPassNames(expected));
}

}  // namespace
}  // namespace cooper
