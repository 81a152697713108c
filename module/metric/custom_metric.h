#ifndef COOPER_MODULE_METRIC_CUSTOM_METRIC_H_
#define COOPER_MODULE_METRIC_CUSTOM_METRIC_H_

// A metric computed by a function of the caller.

#include <functional>
#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "module/metric/eval_metric.h"

namespace cooper {

// The terms that a label and its prediction add to the two sums; the metric is sum / count.
struct SumAndCount {
  double sum = 0;
  double count = 1;
};
using MetricFunction =
    std::function<absl::StatusOr<SumAndCount>(const NDArray& label, const NDArray& pred)>;

// Options of CustomMetric. The name is "custom" unless the common options give another one.
struct CustomMetricOptions {
  MetricOptions common;  // "custom"
  // Predictions beyond the number of labels are allowed and ignored.
  bool allow_extra_outputs = false;
  // With ignore_label or a mask, the function gets only what counts: a label (count,) and its
  // prediction (count, ...), if the prediction has the label's shape or a row for each label; else,
  // if both are (rows, ...), the rows all of whose positions count. It is not called if nothing
  // counts. If neither is possible, it gets everything in spite of a mask, and ignore_label is
  // kInvalidArgument.
  std::optional<double> ignore_label;
};
std::unique_ptr<EvalMetric> CustomMetric(MetricFunction function,
                                         const CustomMetricOptions& options = {});

}  // namespace cooper

#endif  // COOPER_MODULE_METRIC_CUSTOM_METRIC_H_
