// Runs infer_shape/<case>: complete and partial inference of shapes, and inference of types.

#include <string>

#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "symbol/inference/infer_shape.h"
#include "symbol/inference/infer_type.h"
#include "symbol/json/json.h"
#include "tests/conformance/case_data.h"
#include "tests/conformance/case_runner.h"
#include "tests/conformance/graph_case.h"

namespace cooper::conformance {
namespace {

// Compares a status with `expect`. If information is missing, MXNet returns nothing and cooper
// kFailedPrecondition.
absl::Status CheckEnd(const absl::Status& status, const std::string& expect) {
  const bool incomplete = status.code() == absl::StatusCode::kFailedPrecondition;
  const std::string got = status.ok() ? "ok" : incomplete ? "incomplete" : "error";
  if (got == expect) return absl::OkStatus();
  return absl::UnknownError(
      absl::StrCat("ended with ", got, ", expected ", expect, ": ", status.ToString()));
}

absl::Status RunTypeCase(const Symbol& symbol, Json json) {
  json["known"] = json.at("known_types");
  const std::string expect = json.at("expect").get<std::string>();
  if (expect == "ok") return CheckInferType(symbol, json);
  KnownTypes known;
  for (const auto& [name, type] : json.at("known").items()) {
    COOPER_ASSIGN_OR_RETURN(known[name], DTypeFromName(type.get<std::string>()));
  }
  return CheckEnd(InferType(symbol, known).status(), expect);
}

absl::Status RunCase(const std::string& folder) {
  const Json json = ReadJson(folder + "/case.json");
  COOPER_ASSIGN_OR_RETURN(Symbol symbol, LoadSymbol(folder + "/symbol.json"));
  if (json.contains("known_types")) return RunTypeCase(symbol, json);
  const bool partial = json.at("partial").get<bool>();
  const std::string expect = json.at("expect").get<std::string>();
  if (expect == "ok") return CheckInferShape(symbol, json, partial);
  KnownShapes known;
  for (const auto& [name, shape] : json.at("known").items()) known[name] = ShapeFromJson(shape);
  return CheckEnd((partial ? InferShapePartial(symbol, known) : InferShape(symbol, known)).status(),
                  expect);
}

void RunInferShape(CaseRunner& runner) { runner.RunFolders("infer_shape", RunCase); }

const CategoryRegistrar registered("infer_shape", RunInferShape);

}  // namespace
}  // namespace cooper::conformance
