// Runs the golden cases whose kernels are compiled for several CPU levels, at each level that this
// processor has.

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/threads/each_cpu_level.h"
#include "tests/conformance/case_runner.h"
#include "tests/conformance/expected_failures.h"

namespace cooper::conformance {
namespace {

TEST(GoldenAtCpuLevelsTest, CasesEndAsExpected) {
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string text,
                              ReadFile("tests/conformance/expected_failures.txt"));
  ForEachCpuLevel([&] {
    const std::vector<CaseResult> results = RunAllCases(
        {.cases = "tests/golden", .filters = {"module/", "ops/", "optimizers/", "rnn/"}});
    ASSERT_FALSE(results.empty());
    for (const std::string& problem : Judge(results, ParseExpectedFailures(text)).problems) {
      ADD_FAILURE() << problem;
    }
  });
}

}  // namespace
}  // namespace cooper::conformance
