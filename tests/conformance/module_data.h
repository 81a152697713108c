#ifndef COOPER_TESTS_CONFORMANCE_MODULE_DATA_H_
#define COOPER_TESTS_CONFORMANCE_MODULE_DATA_H_

// What the module layer makes by name, from the JSON of the cases.

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "module/kwargs/kwargs.h"
#include "module/lr_scheduler/lr_scheduler.h"
#include "module/metric/eval_metric.h"
#include "tests/conformance/case_data.h"

namespace cooper::conformance {

// {"kind": "factor", "step": 10, ...}
absl::StatusOr<std::unique_ptr<LRScheduler>> SchedulerFromJson(Json params);

// {"metric": "acc", "kwargs": {...}, "children": [...]}: the latter for a composite.
absl::StatusOr<std::unique_ptr<EvalMetric>> MetricFromJson(const Json& json);

// Names and values, in order.
absl::Status CompareNameValues(const std::string& what, const std::vector<NamedValue>& got,
                               const Json& names, const Json& values, Tolerance tolerance);

}  // namespace cooper::conformance

#endif  // COOPER_TESTS_CONFORMANCE_MODULE_DATA_H_
