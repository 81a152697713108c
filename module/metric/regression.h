#ifndef COOPER_MODULE_METRIC_REGRESSION_H_
#define COOPER_MODULE_METRIC_REGRESSION_H_

// Metrics of predicted numbers. The first three are means over batches of each batch's value, as in
// MXNet: batches of unequal size have the same weight, and a batch in which nothing counts has no
// value. Labels and predictions are (batch_size,) or (batch_size, n); a single column is compared
// with every column of the other.

#include <memory>
#include <optional>

#include "module/metric/eval_metric.h"

namespace cooper {

// Options of Mae, Mse and Rmse.
struct RegressionOptions {
  MetricOptions common;  // "mae", "mse", "rmse"
  std::optional<double> ignore_label;
};
std::unique_ptr<EvalMetric> Mae(const RegressionOptions& options = {});   // mean |label - pred|
std::unique_ptr<EvalMetric> Mse(const RegressionOptions& options = {});   // mean (label - pred)^2
std::unique_ptr<EvalMetric> Rmse(const RegressionOptions& options = {});  // its root, per batch

// Pearson's correlation of label and prediction, which have one shape: the mean over batches, or
// that of all samples together.
struct PearsonCorrelationOptions {
  MetricOptions common;  // "pearsonr"
  MetricAverage average = MetricAverage::kMacro;
  std::optional<double> ignore_label;
};
std::unique_ptr<EvalMetric> PearsonCorrelation(const PearsonCorrelationOptions& options = {});

// The mean of all elements of the predictions, for networks whose outputs are losses. Labels are
// ignored. A mask, one per prediction, has the prediction's shape, or that of a label with the same
// first extent: a row then counts if any position of the label in it does. If there are fewer masks
// than predictions, the first applies to all. A label's mask may also have one position per row of
// the prediction, such as (batch_size, length) for a loss (batch_size * length,). For a loss that
// fits none of these, such as a mean, everything counts.
std::unique_ptr<EvalMetric> Loss(const MetricOptions& options = {});  // "loss"

}  // namespace cooper

#endif  // COOPER_MODULE_METRIC_REGRESSION_H_
