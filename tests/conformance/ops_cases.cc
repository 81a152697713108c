// Runs ops/<Operator>/<case>: one operator, or a small graph, with all its arrays.

#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/status_macros.h"
#include "tests/conformance/case_data.h"
#include "tests/conformance/case_runner.h"
#include "tests/conformance/graph_case.h"

namespace cooper::conformance {
namespace {

absl::Status RunOpCase(const std::string& folder) {
  const Json json = ReadJson(folder + "/case.json");
  COOPER_ASSIGN_OR_RETURN(SymbolFile file, ReadSymbolFile(folder + "/symbol.json"));
  const Symbol& symbol = file.symbol;
  // MXNet cannot infer how many rows a mask keeps.
  if (json.at("infer_shape").contains("out")) {
    COOPER_RETURN_IF_ERROR(CheckInferShape(symbol, json.at("infer_shape")));
  }
  if (json.contains("infer_type")) {
    COOPER_RETURN_IF_ERROR(CheckInferType(symbol, json.at("infer_type")));
  }
  COOPER_ASSIGN_OR_RETURN(Arrays io, ReadArrays(folder + "/io.params"));
  COOPER_RETURN_IF_ERROR(CheckExecution(symbol, io, json));
  // Only one of several variables with one name is saved.
  const std::string saved = folder + "/saved.json";
  if (!std::filesystem::exists(saved)) return CheckSaved(file);
  COOPER_ASSIGN_OR_RETURN(file.text, ReadFile(saved));
  return CheckSaved(file);
}

void RunOps(CaseRunner& runner) { runner.RunFolders("ops", RunOpCase); }

const CategoryRegistrar registered("ops", RunOps);

}  // namespace
}  // namespace cooper::conformance
