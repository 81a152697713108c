#ifndef COOPER_TESTS_CONFORMANCE_EXPECTED_FAILURES_H_
#define COOPER_TESTS_CONFORMANCE_EXPECTED_FAILURES_H_

// The list of cases that are known to fail, with reasons, and the comparison of a run with it.

#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "tests/conformance/case_runner.h"

namespace cooper::conformance {

// One name a line; what follows a '#' is a comment.
std::set<std::string> ParseExpectedFailures(absl::string_view text);

struct Judgement {
  int passed = 0;
  int quirks = 0;  // differ, as they state that they may
  int known = 0;   // fail, as listed
  // A line for each case that fails without being listed, that is listed but passes, and for each
  // listed name of a category that was run which is no case. Empty: all is as expected.
  std::vector<std::string> problems;
};

// The operator for which a program has no kernel on a GPU, where a case has failed for that reason;
// else empty.
std::string OperatorWithoutKernel(absl::string_view reason);

Judgement Judge(const std::vector<CaseResult>& results, const std::set<std::string>& expected);

}  // namespace cooper::conformance

#endif  // COOPER_TESTS_CONFORMANCE_EXPECTED_FAILURES_H_
