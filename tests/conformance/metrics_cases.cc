// Runs metrics/<Name>/<case>: values of a metric over updates.

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "module/metric/eval_metric.h"
#include "ndarray/base/status_macros.h"
#include "tests/conformance/case_context.h"
#include "tests/conformance/case_data.h"
#include "tests/conformance/case_runner.h"
#include "tests/conformance/module_data.h"

namespace cooper::conformance {
namespace {

absl::StatusOr<std::vector<NDArray>> ArraysOf(const Arrays& data, const char* kind, size_t update,
                                              const Json& count) {
  std::vector<NDArray> arrays;
  for (int i = 0; i < count.get<int>(); ++i) {
    COOPER_ASSIGN_OR_RETURN(NDArray array,
                            FindArray(data, absl::StrCat(kind, ":", update, ":", i)));
    COOPER_ASSIGN_OR_RETURN(arrays.emplace_back(), array.CopyTo(CaseContext()));
  }
  return arrays;
}

NamedArrayList Named(const std::vector<NDArray>& arrays, const Json& names) {
  NamedArrayList named;
  for (size_t i = 0; i < arrays.size(); ++i) {
    named.emplace_back(names.at(i).get<std::string>(), arrays[i]);
  }
  return named;
}

absl::Status RunCase(const std::string& folder) {
  const Json json = ReadJson(folder + "/case.json");
  const Tolerance tolerance = {.rtol = json.at("rtol").get<double>(), .atol = 1e-8};
  COOPER_ASSIGN_OR_RETURN(Arrays data, ReadArrays(folder + "/data.params"));
  COOPER_ASSIGN_OR_RETURN(std::unique_ptr<EvalMetric> metric, MetricFromJson(json));
  const std::string update_method = json.value("update", "update");
  if (update_method != "update" && update_method != "update_dict") {
    return absl::UnimplementedError(absl::StrCat("update: ", update_method));
  }
  const size_t updates = json.at("updates").get<size_t>();
  for (size_t u = 0; u < updates; ++u) {
    COOPER_ASSIGN_OR_RETURN(std::vector<NDArray> labels,
                            ArraysOf(data, "label", u, json.at("labels_per_update").at(u)));
    COOPER_ASSIGN_OR_RETURN(std::vector<NDArray> preds,
                            ArraysOf(data, "pred", u, json.at("preds_per_update").at(u)));
    if (update_method == "update") {
      COOPER_RETURN_IF_ERROR(metric->Update(labels, preds));
    } else {
      COOPER_RETURN_IF_ERROR(metric->UpdateDict(Named(labels, json.at("label_names")),
                                                Named(preds, json.at("pred_names"))));
    }
    COOPER_RETURN_IF_ERROR(CompareNameValues(absl::StrCat("after update ", u),
                                             metric->GetNameValue(), json.at("name"),
                                             json.at("value_after_each_update").at(u), tolerance));
  }
  COOPER_RETURN_IF_ERROR(CompareNameValues("at the end", metric->GetGlobalNameValue(),
                                           json.at("name"), json.at("value"), tolerance));
  if (!json.contains("value_after_reset")) return absl::OkStatus();
  metric->Reset();
  return CompareNameValues("after Reset", metric->GetNameValue(), json.at("name"),
                           json.at("value_after_reset"), tolerance);
}

void RunMetrics(CaseRunner& runner) { runner.RunFolders("metrics", RunCase); }

const CategoryRegistrar registered("metrics", RunMetrics);

}  // namespace
}  // namespace cooper::conformance
