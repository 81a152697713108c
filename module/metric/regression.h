#ifndef COOPER_MODULE_METRIC_REGRESSION_H_
#define COOPER_MODULE_METRIC_REGRESSION_H_

// Metrics of predicted numbers. The first three are means over the batches of each batch's value,
// as in MXNet: batches of unequal size weigh alike. Labels and predictions are (batch_size,) or
// (batch_size, n); a single column is compared with every column of the other.

#include <memory>

#include "module/metric/eval_metric.h"

namespace cooper {

std::unique_ptr<EvalMetric> Mae(const MetricOptions& options);   // "mae": mean |label - pred|
std::unique_ptr<EvalMetric> Mse(const MetricOptions& options);   // "mse": mean (label - pred)^2
std::unique_ptr<EvalMetric> Rmse(const MetricOptions& options);  // "rmse": its root, per batch

// Pearson's correlation of label and prediction, which have one shape: the mean over batches, or
// that of all samples together.
struct PearsonCorrelationOptions {
  MetricOptions common;  // "pearsonr"
  MetricAverage average = MetricAverage::kMacro;
};
std::unique_ptr<EvalMetric> PearsonCorrelation(const PearsonCorrelationOptions& options);

// The mean of all elements of the predictions, for networks whose outputs are losses. Labels are
// not looked at.
std::unique_ptr<EvalMetric> Loss(const MetricOptions& options);  // "loss"

}  // namespace cooper

#endif  // COOPER_MODULE_METRIC_REGRESSION_H_
