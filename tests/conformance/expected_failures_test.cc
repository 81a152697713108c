#include "tests/conformance/expected_failures.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "executor/program/kernel.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/status_matchers.h"

namespace cooper::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

CaseResult Result(const char* name, bool passed, bool quirk = false) {
  const std::string text = name;
  return {.name = text,
          .category = text.substr(0, text.find('/')),
          .passed = passed,
          .quirk = quirk,
          .reason = passed ? "" : "it is wrong"};
}

TEST(ExpectedFailuresTest, ReadsNamesAndSkipsComments) {
  EXPECT_THAT(ParseExpectedFailures("# why\n\nops/a/b  # because\n  io/c\n#ops/d\n"),
              ElementsAre("io/c", "ops/a/b"));
  EXPECT_THAT(ParseExpectedFailures(""), IsEmpty());
}

TEST(ExpectedFailuresTest, TheListSaysHowManyItHas) {
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string text,
                              ReadFile("tests/conformance/expected_failures.txt"));
  EXPECT_THAT(text, StartsWith(absl::StrCat("# Golden cases known to fail: ",
                                            ParseExpectedFailures(text).size(), ".")));
}

TEST(ExpectedFailuresTest, FindsTheOperatorThatHasNoKernel) {
  const absl::Status none = FindKernel("Sometimes", DeviceType::kGpu).status();
  EXPECT_EQ(OperatorWithoutKernel(absl::StrCat("bucket 3: ", none.ToString())), "Sometimes");
  EXPECT_EQ(OperatorWithoutKernel(FindKernel("a", DeviceType::kCpu).status().ToString()), "");
  EXPECT_EQ(OperatorWithoutKernel("output 0 differs"), "");
}

TEST(ExpectedFailuresTest, AllAsExpected) {
  const Judgement judgement = Judge({Result("ops/a", true), Result("ops/b", false),
                                     Result("ops/q", false, true), Result("ops/r", true, true)},
                                    {"ops/b", "io/elsewhere"});
  EXPECT_THAT(judgement.problems, IsEmpty());
  EXPECT_EQ(judgement.passed, 2);
  EXPECT_EQ(judgement.known, 1);
  EXPECT_EQ(judgement.quirks, 1);
}

TEST(ExpectedFailuresTest, NamesWhatIsNotAsExpected) {
  const Judgement judgement =
      Judge({Result("ops/a", true), Result("ops/b", false)}, {"ops/a", "ops/gone"});
  EXPECT_THAT(judgement.problems,
              ElementsAre(HasSubstr("ops/a passes"), HasSubstr("ops/b fails: it is wrong"),
                          HasSubstr("ops/gone is listed as a failure, but is no case")));
}

}  // namespace
}  // namespace cooper::conformance
