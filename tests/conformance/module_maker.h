#ifndef COOPER_TESTS_CONFORMANCE_MODULE_MAKER_H_
#define COOPER_TESTS_CONFORMANCE_MODULE_MAKER_H_

// Creates modules, batches and options from the JSON of the module cases.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "io/batch/data_batch.h"
#include "io/batch/data_desc.h"
#include "module/interface/base_module.h"
#include "tests/conformance/case_data.h"

namespace cooper::conformance {

// Creates the module that the entry `module` of a case in `folder` describes. kUnimplemented for an
// unknown type or key.
absl::StatusOr<std::unique_ptr<BaseModule>> MakeModule(const std::string& folder, const Json& json);

// Converts {"type": "2bit", "threshold": 0.5} to a map of texts.
std::map<std::string, std::string> TextsFromJson(const Json& json);

// Reads [{"name": "data", "shape": [3, 7], "layout": "NT"}]; null is an empty list.
std::vector<DataDesc> DescsFromJson(const Json& json);

// Reads a batch whose arrays `json` names; `trace` holds them.
absl::StatusOr<DataBatch> BatchFromJson(const Json& json, const Arrays& trace);

absl::StatusOr<ModuleBindOptions> BindOptionsFromJson(const Json& step);
absl::StatusOr<InitOptimizerOptions> OptimizerOptionsFromJson(const Json& step);

// Returns the arrays of `trace` called PREFIX/arg:NAME and PREFIX/aux:NAME.
ModuleParams ParamsOf(const Arrays& trace, const std::string& prefix);

}  // namespace cooper::conformance

#endif  // COOPER_TESTS_CONFORMANCE_MODULE_MAKER_H_
