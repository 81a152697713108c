#ifndef COOPER_TESTS_CONFORMANCE_CASE_RUNNER_H_
#define COOPER_TESTS_CONFORMANCE_CASE_RUNNER_H_

// Runs golden cases and keeps what came of each. A category of cases (ops, files, ...) is a file of
// its own that lists its cases to a CaseRunner; a program links the categories it wants.

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
  bool quirk = false;  // the case may differ, for a reason that it states
  std::string reason;  // of the failure
};

struct RunOptions {
  std::string cases;  // the folder of all cases
  // Runs the cases whose name contains one of these; empty: all.
  std::vector<std::string> filters;
  // Runs each case in a process of its own, so that one that crashes or hangs is one failure.
  bool isolate = false;
};

class CaseRunner {
 public:
  explicit CaseRunner(RunOptions options) : options_(std::move(options)) {}

  const std::string& root() const { return options_.cases; }

  // Runs a case unless it is filtered out. The category is what stands before the first slash.
  void Run(const std::string& name, const std::function<absl::Status()>& run, bool quirk = false);

  // Runs the case of each folder below `folder`, however deep, that has a case.json, in the order
  // of names: `run` gets the folder's path. It is called as the folder is from the root.
  void RunFolders(const std::string& folder,
                  const std::function<absl::Status(const std::string& path)>& run);

  // Runs each case of the list `cases`, called FOLDER/NAME.
  void RunList(const std::string& folder, const Json& cases,
               const std::function<absl::Status(const Json& json)>& run);

  const std::vector<CaseResult>& results() const { return results_; }

 private:
  RunOptions options_;
  std::vector<CaseResult> results_;
};

// Adds to a category; called from a static initializer of its file.
struct CategoryRegistrar {
  CategoryRegistrar(const char* name, void (*run)(CaseRunner& runner));
};

// Runs every linked category. A folder in `options.cases` whose category is not linked is a failure
// of its own, so that no case is left out without notice; unless the filter excludes it.
std::vector<CaseResult> RunAllCases(const RunOptions& options);

}  // namespace cooper::conformance

#endif  // COOPER_TESTS_CONFORMANCE_CASE_RUNNER_H_
