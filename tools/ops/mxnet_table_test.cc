#include "tools/ops/mxnet_table.h"

#include <map>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/schema/op.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::vector<MxnetName> Names() {
  const auto text = ReadFile("tools/ops/mxnet_names.txt");
  EXPECT_TRUE(text.ok()) << text.status();
  auto names = ReadMxnetNames(*text);
  EXPECT_TRUE(names.ok()) << names.status();
  return *std::move(names);
}

TEST(MxnetTableTest, EveryNameIsThereOrHasAReason) {
  const std::vector<MxnetName> names = Names();
  EXPECT_EQ(names.size(), 1167);
  EXPECT_EQ(absl::c_count_if(names, [](const MxnetName& name) { return name.is_alias(); }), 281);
  for (const MxnetName& name : names) {
    if (name.is_there) continue;
    EXPECT_THAT(name.reason, Not(IsEmpty())) << name.name;
  }
}

TEST(MxnetTableTest, AnAliasIsThatOfItsOperator) {
  std::map<std::string, bool> canonical;
  const std::vector<MxnetName> names = Names();
  for (const MxnetName& name : names) {
    if (!name.is_alias()) canonical[name.name] = name.is_there;
  }
  for (const MxnetName& name : names) {
    ASSERT_EQ(canonical.count(name.canonical), 1) << name.name;
    const auto op = FindOp(name.name);
    if (!name.is_there || !op.ok()) continue;
    EXPECT_EQ(*op, *FindOp(name.canonical)) << name.name << " is an alias of " << name.canonical;
  }
}

TEST(MxnetTableTest, TellsOfEachKind) {
  COOPER_ASSERT_OK_AND_ASSIGN(const auto names,
                              ReadMxnetNames("Convolution\nFlatten\nflatten Flatten\n_NoGradient\n"
                                             "_backward_Pad\n_no_rule\n_alias _NDArray\n"));
  std::vector<std::string> reasons;
  for (const MxnetName& name : names) reasons.push_back(name.is_there ? "there" : name.reason);
  EXPECT_THAT(reasons,
              ElementsAre("there", "there", "there", HasSubstr("in no file"),
                          HasSubstr("a step of a backward pass"), "", HasSubstr("in no file")));
  const std::string page = MxnetNamesPage(names);
  EXPECT_THAT(page, HasSubstr("has 7 names: 5 operators, and 2 aliases"));
  EXPECT_THAT(page, HasSubstr("| there | 2 |"));
  EXPECT_THAT(page, HasSubstr("| `flatten` | alias of `Flatten`, there |\n"));
  EXPECT_THAT(page, HasSubstr("| `_alias` | alias of `_NDArray`; not there: made by"));
}

TEST(MxnetTableTest, LinesOfOtherFormsAreRefused) {
  for (const char* line : {"a b c", "a ", " a"}) {
    EXPECT_THAT(ReadMxnetNames(line), StatusIs(absl::StatusCode::kInvalidArgument,
                                               HasSubstr("is not a name, or an alias")));
  }
}

TEST(MxnetTableTest, ThePageIsUpToDate) {
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string page, ReadFile("docs/mxnet_operators.md"));
  EXPECT_TRUE(page == MxnetNamesPage(Names()))
      << "remake it: ./bazelw run //tools/ops -- --mxnet > docs/mxnet_operators.md";
}

}  // namespace
}  // namespace cooper
