#ifndef COOPER_TESTS_CONFORMANCE_MODULE_DATA_H_
#define COOPER_TESTS_CONFORMANCE_MODULE_DATA_H_

// Creates schedulers and metrics of the module layer by name from the JSON of the cases.

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "module/kwargs/kwargs.h"
#include "module/lr_scheduler/lr_scheduler.h"
#include "module/metric/eval_metric.h"
#include "tests/conformance/case_data.h"

namespace cooper::conformance {

// Reads a scheduler: {"kind": "factor", "step": 10, ...}.
absl::StatusOr<std::unique_ptr<LRScheduler>> SchedulerFromJson(Json params);

// Reads a metric: {"metric": "acc", "kwargs": {...}, "children": [...]}, where children are for a
// composite.
absl::StatusOr<std::unique_ptr<EvalMetric>> MetricFromJson(const Json& json);

// Compares names and values in order.
absl::Status CompareNameValues(const std::string& what, const std::vector<NamedValue>& got,
                               const Json& names, const Json& values, Tolerance tolerance);

}  // namespace cooper::conformance

#endif  // COOPER_TESTS_CONFORMANCE_MODULE_DATA_H_
