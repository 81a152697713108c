// Runs the golden cases among the test's data. Those in expected_failures.txt must fail, all others
// must pass.

#include <iostream>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/status_matchers.h"
#include "tests/conformance/case_runner.h"
#include "tests/conformance/expected_failures.h"

ABSL_FLAG(std::string, cases, "tests/golden", "folder of the cases");
ABSL_FLAG(std::string, expected_failures, "tests/conformance/expected_failures.txt",
          "names of the cases that are known to fail");

namespace cooper::conformance {
namespace {

TEST(GoldenTest, CasesEndAsExpected) {
  COOPER_ASSERT_OK_AND_ASSIGN(std::string text, ReadFile(absl::GetFlag(FLAGS_expected_failures)));
  const std::vector<CaseResult> results = RunAllCases({.cases = absl::GetFlag(FLAGS_cases)});
  ASSERT_FALSE(results.empty());
  const Judgement judgement = Judge(results, ParseExpectedFailures(text));
  std::cout << judgement.passed << " passed, " << judgement.known << " fail as listed, "
            << judgement.quirks << " differ as they state\n";
  for (const std::string& problem : judgement.problems) ADD_FAILURE() << problem;
}

}  // namespace
}  // namespace cooper::conformance

int main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  absl::ParseCommandLine(argc, argv);
  return RUN_ALL_TESTS();
}
