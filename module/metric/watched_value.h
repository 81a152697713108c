#ifndef COOPER_MODULE_METRIC_WATCHED_VALUE_H_
#define COOPER_MODULE_METRIC_WATCHED_VALUE_H_

// Finds the value of a metric that decides which epoch is the best. Early stopping and checkpoints
// share these rules, so that they agree on the epoch.

#include <string>

#include "absl/status/statusor.h"
#include "module/metric/eval_metric.h"

namespace cooper {

// Returns the value called `name` over all batches since the metric's Reset; with an empty `name`
// the metric's first value. kNotFound, naming the values that there are, if there is none.
absl::StatusOr<NamedValue> FindValue(const EvalMetric& metric, const std::string& name);

// Returns whether a good model has large values of the metric that MXNet calls so: accuracy, F1,
// MCC, PCC, correlations, recall, precision and mAP. False for losses and unknown names.
bool LargerIsBetter(const std::string& name);

}  // namespace cooper

#endif  // COOPER_MODULE_METRIC_WATCHED_VALUE_H_
