// Runs the golden cases of graphs and modules without each pass in turn, and without any pass.

#include <set>
#include <string>
#include <vector>

#include "executor/executor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/status_matchers.h"
#include "tests/conformance/case_runner.h"
#include "tests/conformance/disabled_passes.h"
#include "tests/conformance/expected_failures.h"

namespace cooper::conformance {
namespace {

void ExpectAsListed(const std::set<std::string>& disabled) {
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string text,
                              ReadFile("tests/conformance/expected_failures.txt"));
  DisabledPasses() = disabled;
  const std::vector<CaseResult> results =
      RunAllCases({.cases = "tests/golden", .filters = {"module/", "rnn/"}});
  ASSERT_FALSE(results.empty());
  for (const std::string& problem : Judge(results, ParseExpectedFailures(text)).problems) {
    ADD_FAILURE() << problem;
  }
}

TEST(GoldenWithoutPassesTest, EachAlone) {
  for (const std::string& pass : PassNames()) {
    SCOPED_TRACE("without " + pass);
    ExpectAsListed({pass});
  }
}

TEST(GoldenWithoutPassesTest, All) {
  const std::vector<std::string> passes = PassNames();
  ExpectAsListed({passes.begin(), passes.end()});
}

}  // namespace
}  // namespace cooper::conformance
