// Implements the steps of a module's script that compare results.

#include "absl/strings/str_cat.h"
#include "io/batch/data_desc.h"
#include "ndarray/base/status_macros.h"
#include "tests/conformance/module_data.h"
#include "tests/conformance/module_script.h"

namespace cooper::conformance {
namespace {

Json ShapesOf(const std::vector<DataDesc>& descs) {
  Json shapes = Json::array();
  for (const DataDesc& desc : descs) {
    shapes.push_back(std::vector<int64_t>(desc.shape.begin(), desc.shape.end()));
  }
  return shapes;
}

// Returns shapes as text. MXNet has null where there are no labels.
std::string ShapesText(const Json& json) {
  return json.is_null() ? Json::array().dump() : json.dump();
}

}  // namespace

absl::Status ModuleScript::CompareList(const Json& step, const char* kind,
                                       absl::Span<const NDArray> got) const {
  const Arrays expected =
      WithPrefix(trace_, absl::StrCat(step.at("prefix").get<std::string>(), "/", kind, ":"));
  if (got.size() != expected.size()) {
    return absl::UnknownError(
        absl::StrCat("there are ", got.size(), " of ", kind, ", expected ", expected.size()));
  }
  for (size_t i = 0; i < got.size(); ++i) {
    COOPER_ASSIGN_OR_RETURN(NDArray array, FindArray(expected, absl::StrCat(i)));
    COOPER_RETURN_IF_ERROR(CompareArrays(absl::StrCat(kind, " ", i), got[i], array, tolerance_));
  }
  return absl::OkStatus();
}

absl::Status ModuleScript::CompareArrayMap(const std::string& what, const Arrays& got,
                                           const Arrays& expected) const {
  for (const auto& [name, array] : got) {
    if (!expected.contains(name)) return absl::UnknownError(what + name + " is not expected");
  }
  for (const auto& [name, array] : expected) {
    COOPER_ASSIGN_OR_RETURN(NDArray one, FindArray(got, name));
    COOPER_RETURN_IF_ERROR(CompareArrays(what + name, one, array, tolerance_));
  }
  return absl::OkStatus();
}

absl::Status ModuleScript::ExpectOutputs(const Json& step) {
  COOPER_ASSIGN_OR_RETURN(absl::Span<const NDArray> outputs, module_->GetOutputs());
  return CompareList(step, "out", outputs);
}

absl::Status ModuleScript::ExpectInputGrads(const Json& step) {
  COOPER_ASSIGN_OR_RETURN(std::vector<NDArray> grads, module_->GetInputGrads());
  return CompareList(step, "input_grad", grads);
}

absl::Status ModuleScript::ExpectStates(const Json& step) {
  COOPER_ASSIGN_OR_RETURN(std::vector<NDArray> states, module_->GetStates());
  return CompareList(step, "state", states);
}

absl::Status ModuleScript::ExpectGrads(const Json& step) {
  const std::string prefix = step.at("prefix").get<std::string>() + "/grad:";
  for (const auto& [name, expected] : WithPrefix(trace_, prefix)) {
    COOPER_ASSIGN_OR_RETURN(NDArray grad, module_->GetGrad(name));
    COOPER_RETURN_IF_ERROR(CompareArrays("gradient of " + name, grad, expected, tolerance_));
  }
  for (const Json& json : step.value("none", Json::array())) {
    const std::string name = json.get<std::string>();
    if (module_->GetGrad(name).ok()) return absl::UnknownError(name + " has a gradient");
  }
  return absl::OkStatus();
}

absl::Status ModuleScript::ExpectParams(const Json& step) {
  const std::string prefix = step.at("prefix").get<std::string>();
  COOPER_ASSIGN_OR_RETURN(ModuleParams got, module_->GetParams());
  COOPER_RETURN_IF_ERROR(
      CompareArrayMap("parameter ", got.args, WithPrefix(trace_, prefix + "/arg:")));
  return CompareArrayMap("auxiliary state ", got.auxs, WithPrefix(trace_, prefix + "/aux:"));
}

absl::Status ModuleScript::ExpectShapes(const Json& step) {
  COOPER_RETURN_IF_ERROR(CompareTexts("data shapes", ShapesOf(module_->data_shapes()).dump(),
                                      ShapesText(step.at("data_shapes"))));
  COOPER_RETURN_IF_ERROR(CompareTexts("label shapes", ShapesOf(module_->label_shapes()).dump(),
                                      ShapesText(step.at("label_shapes"))));
  // MXNet's output_shapes replaces the first extent by the batch size, even for an output that has
  // no row per sample, such as (batch_size * length, vocabulary) of a language model.
  // expect_outputs checks the real shapes.
  const DataDesc& data = module_->data_shapes().at(0);
  const int64_t batch_size = data.shape[BatchAxis(data.layout)];
  Json outputs = Json::array();
  for (const auto& [name, shape] : module_->output_shapes()) {
    std::vector<int64_t> dims(shape.begin(), shape.end());
    if (!dims.empty()) dims[0] = batch_size;
    outputs.push_back(dims);
  }
  return CompareTexts("output shapes", outputs.dump(), ShapesText(step.at("output_shapes")));
}

absl::Status ModuleScript::ExpectMetric(const Json& step) {
  const auto list = [](const Json& json) { return json.is_array() ? json : Json::array({json}); };
  return CompareNameValues("metric", metric_->GetGlobalNameValue(), list(step.at("name")),
                           list(step.at("value")), {.rtol = 1e-4, .atol = 1e-7});
}

}  // namespace cooper::conformance
