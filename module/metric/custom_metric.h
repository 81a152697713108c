#ifndef COOPER_MODULE_METRIC_CUSTOM_METRIC_H_
#define COOPER_MODULE_METRIC_CUSTOM_METRIC_H_

// A metric that is a function of the caller.

#include <functional>
#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "module/metric/eval_metric.h"

namespace cooper {

// What a label and its prediction add to the two sums whose quotient is the value.
struct SumAndCount {
  double sum = 0;
  double count = 1;
};
using MetricFunction =
    std::function<absl::StatusOr<SumAndCount>(const NDArray& label, const NDArray& pred)>;

struct CustomMetricOptions {
  MetricOptions common;  // "custom"
  // Predictions beyond the number of labels are allowed, and not looked at.
  bool allow_extra_outputs = false;
  // With it, or a mask, the function gets what counts: a label (count,) and its prediction
  // (count, ...), if that has the label's shape or a row for each label; else, of (rows, ...) both,
  // the rows that count as a whole. It is not called where nothing counts. Where no part can be
  // told, it gets all in spite of a mask, and with ignore_label that is kInvalidArgument.
  std::optional<double> ignore_label;
};
std::unique_ptr<EvalMetric> CustomMetric(MetricFunction function,
                                         const CustomMetricOptions& options = {});

}  // namespace cooper

#endif  // COOPER_MODULE_METRIC_CUSTOM_METRIC_H_
