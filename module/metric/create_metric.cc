#include "module/metric/create_metric.h"

#include <utility>

#include "module/metric/composite_metric.h"
#include "module/metric/metric_registry.h"
#include "ndarray/base/status_macros.h"

namespace cooper {

absl::StatusOr<std::unique_ptr<EvalMetric>> CreateMetric(absl::string_view name,
                                                         const Kwargs& kwargs) {
  return Metrics().Create(name, kwargs);
}

absl::StatusOr<std::unique_ptr<EvalMetric>> CreateMetrics(const std::vector<std::string>& names) {
  auto composite = std::make_unique<CompositeEvalMetric>();
  for (const std::string& name : names) {
    COOPER_ASSIGN_OR_RETURN(std::unique_ptr<EvalMetric> metric, CreateMetric(name));
    composite->AddMetric(std::move(metric));
  }
  return composite;
}

}  // namespace cooper
