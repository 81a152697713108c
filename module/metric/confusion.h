#ifndef COOPER_MODULE_METRIC_CONFUSION_H_
#define COOPER_MODULE_METRIC_CONFUSION_H_

// Metrics of the confusion matrix of labels and predicted classes. Predictions are (batch_size,
// classes).

#include <memory>
#include <optional>

#include "module/metric/eval_metric.h"

namespace cooper {

// Options of F1 and Mcc.
struct BinaryMetricOptions {
  MetricOptions common;
  MetricAverage average = MetricAverage::kMacro;
  std::optional<double> ignore_label;
};

// The harmonic mean of precision and recall of class 1 against all others. kInvalidArgument for a
// batch with more than two different labels. The class of a row is that of its greatest prediction.
// With kMacro the value is the mean of the batches' values, with kMicro that of all samples
// together.
std::unique_ptr<EvalMetric> F1(const BinaryMetricOptions& options = {});  // "f1"

// Matthews' correlation coefficient of two classes. It is (tp tn - fp fn) / sqrt((tp + fp) (tp +
// fn) (tn + fp) (tn + fn)), in [-1, 1].
std::unique_ptr<EvalMetric> Mcc(const BinaryMetricOptions& options = {});  // "mcc"

// The generalization of Mcc to up to 8,192 classes, over all samples. Predictions may be class ids.
struct PccOptions {
  MetricOptions common;  // "pcc"
  std::optional<double> ignore_label;
};
std::unique_ptr<EvalMetric> Pcc(const PccOptions& options = {});

}  // namespace cooper

#endif  // COOPER_MODULE_METRIC_CONFUSION_H_
