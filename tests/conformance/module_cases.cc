// Runs module/<case>: training runs and rules of modules, step by step.

#include <cstdlib>
#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "tests/conformance/case_data.h"
#include "tests/conformance/case_runner.h"
#include "tests/conformance/module_script.h"

namespace cooper::conformance {
namespace {

// A folder that the destructor removes.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "cooper_case_XXXXXX").string();
    if (mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~ScratchFolder() {
    std::error_code error;
    if (!path_.empty()) std::filesystem::remove_all(path_, error);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  // Returns the path; empty if the folder could not be created.
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

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
