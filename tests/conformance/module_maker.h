#ifndef COOPER_TESTS_CONFORMANCE_MODULE_MAKER_H_
#define COOPER_TESTS_CONFORMANCE_MODULE_MAKER_H_

// Modules, batches and options from the JSON of the module cases.

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

// What `module` of a case in `folder` describes. kUnimplemented for a type or a key that this does
// not know.
absl::StatusOr<std::unique_ptr<BaseModule>> MakeModule(const std::string& folder, const Json& json);

// {"type": "2bit", "threshold": 0.5} as texts.
std::map<std::string, std::string> TextsFromJson(const Json& json);

// [{"name": "data", "shape": [3, 7], "layout": "NT"}]; null is an empty list.
std::vector<DataDesc> DescsFromJson(const Json& json);

// A batch whose arrays are named in `trace`.
absl::StatusOr<DataBatch> BatchFromJson(const Json& json, const Arrays& trace);

absl::StatusOr<ModuleBindOptions> BindOptionsFromJson(const Json& step);
absl::StatusOr<InitOptimizerOptions> OptimizerOptionsFromJson(const Json& step);

// The arrays of `trace` called PREFIX/arg:NAME and PREFIX/aux:NAME.
ModuleParams ParamsOf(const Arrays& trace, const std::string& prefix);

}  // namespace cooper::conformance

#endif  // COOPER_TESTS_CONFORMANCE_MODULE_MAKER_H_
