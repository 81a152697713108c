#ifndef COOPER_MODULE_METRIC_CONFUSION_H_
#define COOPER_MODULE_METRIC_CONFUSION_H_

// Metrics of the table of labels against predicted classes. Predictions are (batch_size, classes).

#include <memory>
#include <optional>

#include "module/metric/eval_metric.h"

namespace cooper {

struct BinaryMetricOptions {
  MetricOptions common;
  MetricAverage average = MetricAverage::kMacro;
  std::optional<double> ignore_label;
};

// Harmonic mean of precision and recall of class 1 against all others. A batch with more than two
// different labels is refused.
std::unique_ptr<EvalMetric> F1(const BinaryMetricOptions& options = {});  // "f1"

// Matthews' correlation coefficient of two classes.
std::unique_ptr<EvalMetric> Mcc(const BinaryMetricOptions& options = {});  // "mcc"

// Its equivalent for up to 8,192 classes, of all samples together. Predictions may be class ids.
struct PccOptions {
  MetricOptions common;  // "pcc"
  std::optional<double> ignore_label;
};
std::unique_ptr<EvalMetric> Pcc(const PccOptions& options = {});

}  // namespace cooper

#endif  // COOPER_MODULE_METRIC_CONFUSION_H_
