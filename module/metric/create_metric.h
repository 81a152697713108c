#ifndef COOPER_MODULE_METRIC_CREATE_METRIC_H_
#define COOPER_MODULE_METRIC_CREATE_METRIC_H_

// Creates metrics by name.

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "module/kwargs/kwargs.h"
#include "module/metric/eval_metric.h"

namespace cooper {

// Creates a metric. `name` is MXNet's, in any case: a class ("Accuracy") or one of its aliases
// ("acc"). `kwargs` are the arguments of MXNet's constructor; ignore_label, which all kinds but the
// losses have; and use_lengths of the kinds in classification.h. A composite passes both on to its
// metrics. Errors: kNotFound, with the known names, for another name; kInvalidArgument for unknown
// arguments and bad values.
absl::StatusOr<std::unique_ptr<EvalMetric>> CreateMetric(absl::string_view name,
                                                         const Kwargs& kwargs = {});

// Returns a CompositeEvalMetric of these metrics.
absl::StatusOr<std::unique_ptr<EvalMetric>> CreateMetrics(const std::vector<std::string>& names);

}  // namespace cooper

#endif  // COOPER_MODULE_METRIC_CREATE_METRIC_H_
