#ifndef COOPER_MODULE_METRIC_CREATE_METRIC_H_
#define COOPER_MODULE_METRIC_CREATE_METRIC_H_

// Metrics by name.

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "module/kwargs/kwargs.h"
#include "module/metric/eval_metric.h"

namespace cooper {

// `name` is MXNet's, in any case: a class ("Accuracy") or one of its aliases ("acc"); `kwargs` are
// the arguments of MXNet's constructor, ignore_label, which all have but the losses, and
// use_lengths of the kinds in classification.h; a composite hands both to its metrics. kNotFound,
// with the names there are, for another name; kInvalidArgument for unknown arguments and bad
// values.
absl::StatusOr<std::unique_ptr<EvalMetric>> CreateMetric(absl::string_view name,
                                                         const Kwargs& kwargs = {});

// All of them as one.
absl::StatusOr<std::unique_ptr<EvalMetric>> CreateMetrics(const std::vector<std::string>& names);

}  // namespace cooper

#endif  // COOPER_MODULE_METRIC_CREATE_METRIC_H_
