#ifndef COOPER_TESTS_CONFORMANCE_CASE_RUNNER_H_
#define COOPER_TESTS_CONFORMANCE_CASE_RUNNER_H_

// Runs golden cases and collects their results. A category of cases (ops, files, ...) is a file
// that passes its cases to a CaseRunner; a program links the categories that it runs.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tests/conformance/case_data.h"

namespace cooper::conformance {

struct CaseResult {
  std::string name;      // "ops/Concat/d0"
  std::string category;  // "ops"
  bool passed = false;
  bool quirk = false;  // whether the case may differ, for a reason that it states
  std::string reason;  // of a failure
};

struct RunOptions {
  std::string cases;  // root folder of all cases
  // Runs the cases whose name contains one of these texts; empty: all.
  std::vector<std::string> filters;
  // Runs each case in a process of its own, so that a crash or a hang is one failure.
  bool isolate = false;
};

class CaseRunner {
 public:
  explicit CaseRunner(RunOptions options) : options_(std::move(options)) {}

  const std::string& root() const { return options_.cases; }

  // Runs a case unless it is filtered out. Its category is the part of the name before the first
  // slash.
  void Run(const std::string& name, const std::function<absl::Status()>& run, bool quirk = false);

  // Runs a case for each folder below `folder`, at any depth, that has a case.json, sorted by name;
  // its name is the path relative to the root. `run` gets the folder's path.
  void RunFolders(const std::string& folder,
                  const std::function<absl::Status(const std::string& path)>& run);

  // Runs each case of the list `cases` under the name FOLDER/NAME.
  void RunList(const std::string& folder, const Json& cases,
               const std::function<absl::Status(const Json& json)>& run);

  const std::vector<CaseResult>& results() const { return results_; }

 private:
  RunOptions options_;
  std::vector<CaseResult> results_;
};

// Registers cases of a category; used by a static initializer of its file.
struct CategoryRegistrar {
  CategoryRegistrar(const char* name, void (*run)(CaseRunner& runner));
};

// Runs every linked category. A folder in `options.cases` whose category is not linked counts as a
// failure, so that no case is skipped silently, unless the filter excludes it.
std::vector<CaseResult> RunAllCases(const RunOptions& options);

}  // namespace cooper::conformance

#endif  // COOPER_TESTS_CONFORMANCE_CASE_RUNNER_H_
