#ifndef COOPER_TESTS_CONFORMANCE_EXPECTED_FAILURES_H_
#define COOPER_TESTS_CONFORMANCE_EXPECTED_FAILURES_H_

// Reads the list of cases that are known to fail, with reasons, and compares a run with it.

#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "tests/conformance/case_runner.h"

namespace cooper::conformance {

// Parses a list with one name per line; a '#' begins a comment.
std::set<std::string> ParseExpectedFailures(absl::string_view text);

struct Judgement {
  int passed = 0;
  int quirks = 0;  // differ for a reason that the case states
  int known = 0;   // fail as listed
  // A line for each case that fails without being listed, for each listed case that passes, and for
  // each listed name without a case in a category that was run. Empty: the run is as expected.
  std::vector<std::string> problems;
};

// Returns the operator that has no GPU kernel, if that is the reason of a failure; else an empty
// string.
std::string OperatorWithoutKernel(absl::string_view reason);

Judgement Judge(const std::vector<CaseResult>& results, const std::set<std::string>& expected);

}  // namespace cooper::conformance

#endif  // COOPER_TESTS_CONFORMANCE_EXPECTED_FAILURES_H_
