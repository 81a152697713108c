// Runs golden cases and prints their results:
//
//   run_cases --cases=tests/golden --filter=ops/Concat
//
// Ends with a line "N passed, N failed", and with status 1 if any failed.

#include <iomanip>
#include <iostream>
#include <map>
#include <string>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/strings/str_split.h"
#include "ndarray/base/parse_context.h"
#include "tests/conformance/case_context.h"
#include "tests/conformance/case_runner.h"

ABSL_FLAG(std::string, cases, "tests/golden", "folder of the cases");
ABSL_FLAG(std::string, filter, "",
          "run only the cases whose name contains one of these, separated by commas");
ABSL_FLAG(bool, isolate, true, "run each case in a process of its own");
ABSL_FLAG(std::string, context, "cpu(0)", "where graphs are bound: gpu(0), in a run_cases_cuda");
ABSL_FLAG(bool, fallback, false, "run what has no kernel on --context on the CPU");
ABSL_FLAG(bool, list, false, "print the names of the cases that pass, too");

namespace cooper::conformance {
namespace {

struct Counts {
  int passed = 0;
  int failed = 0;
  int quirks = 0;
};

int Main() {
  const auto context = ParseContext(absl::GetFlag(FLAGS_context));
  if (!context.ok()) {
    std::cerr << "--context: " << context.status().message() << "\n";
    return 2;
  }
  CaseContext() = *context;
  CaseFallback() = absl::GetFlag(FLAGS_fallback);
  const std::vector<CaseResult> results =
      RunAllCases({.cases = absl::GetFlag(FLAGS_cases),
                   .filters = absl::StrSplit(absl::GetFlag(FLAGS_filter), ',', absl::SkipEmpty()),
                   .isolate = absl::GetFlag(FLAGS_isolate)});
  std::map<std::string, Counts> table;
  Counts total;
  for (const CaseResult& result : results) {
    Counts& counts = table[result.category];
    if (result.passed) {
      ++counts.passed;
      ++total.passed;
      if (absl::GetFlag(FLAGS_list)) std::cout << "passed " << result.name << "\n";
    } else if (result.quirk) {
      ++counts.quirks;
      std::cout << "QUIRK  " << result.name << ": " << result.reason << "\n";
    } else {
      ++counts.failed;
      ++total.failed;
      std::cout << "FAILED " << result.name << ": " << result.reason << "\n";
    }
  }
  std::cout << std::left << std::setw(16) << "category" << std::right << std::setw(8) << "passed"
            << std::setw(8) << "failed" << std::setw(8) << "quirks"
            << "\n";
  for (const auto& [category, counts] : table) {
    std::cout << std::left << std::setw(16) << category << std::right << std::setw(8)
              << counts.passed << std::setw(8) << counts.failed << std::setw(8) << counts.quirks
              << "\n";
  }
  std::cout << total.passed << " passed, " << total.failed << " failed\n";
  return total.failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace cooper::conformance

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("runs golden cases; see docs/conformance.md");
  absl::ParseCommandLine(argc, argv);
  return cooper::conformance::Main();
}
