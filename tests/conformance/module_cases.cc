// Runs module/<case>: training runs and rules of modules, step by step.

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "tests/conformance/case_data.h"
#include "tests/conformance/case_runner.h"
#include "tests/conformance/module_script.h"
#include "tests/conformance/scratch_folder.h"

namespace cooper::conformance {
namespace {

absl::Status RunCase(const std::string& folder) {
  const ScratchFolder scratch;
  if (scratch.path().empty()) return absl::InternalError("cannot make a scratch folder");
  COOPER_ASSIGN_OR_RETURN(Arrays trace, ReadArrays(folder + "/trace.params"));
  return ModuleScript(folder, scratch.path(), ReadJson(folder + "/case.json"), std::move(trace))
      .Run();
}

void RunModules(CaseRunner& runner) { runner.RunFolders("module", RunCase); }

const CategoryRegistrar registered("module", RunModules);

}  // namespace
}  // namespace cooper::conformance
