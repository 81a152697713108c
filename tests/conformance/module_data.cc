#include "tests/conformance/module_data.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "module/kwargs/json_kwargs.h"
#include "module/lr_scheduler/create_lr_scheduler.h"
#include "module/metric/composite_metric.h"
#include "module/metric/create_metric.h"
#include "ndarray/base/status_macros.h"

namespace cooper::conformance {

absl::StatusOr<std::unique_ptr<LRScheduler>> SchedulerFromJson(Json params) {
  const std::string kind = params.at("kind").get<std::string>();
  params.erase("kind");
  COOPER_ASSIGN_OR_RETURN(Kwargs kwargs, KwargsFromJson(params.dump()));
  return CreateLRScheduler(kind, kwargs);
}

absl::StatusOr<std::unique_ptr<EvalMetric>> MetricFromJson(const Json& json) {
  if (json.contains("children")) {
    auto composite = std::make_unique<CompositeEvalMetric>();
    for (const Json& child : json.at("children")) {
      COOPER_ASSIGN_OR_RETURN(std::unique_ptr<EvalMetric> metric, MetricFromJson(child));
      composite->AddMetric(std::move(metric));
    }
    return composite;
  }
  COOPER_ASSIGN_OR_RETURN(Kwargs kwargs,
                          KwargsFromJson(json.value("kwargs", Json::object()).dump()));
  return CreateMetric(json.at("metric").get<std::string>(), kwargs);
}

absl::Status CompareNameValues(const std::string& what, const std::vector<NamedValue>& got,
                               const Json& names, const Json& values, Tolerance tolerance) {
  std::vector<std::string> got_names;
  for (const NamedValue& value : got) got_names.push_back(value.first);
  COOPER_RETURN_IF_ERROR(CompareNames(what, got_names, names));
  for (size_t i = 0; i < got.size(); ++i) {
    COOPER_RETURN_IF_ERROR(CompareNumbers(absl::StrCat(what, ": ", got[i].first), got[i].second,
                                          NumberFromJson(values.at(i)), tolerance));
  }
  return absl::OkStatus();
}

}  // namespace cooper::conformance
