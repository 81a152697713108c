#ifndef COOPER_MODULE_METRIC_CLASSIFICATION_H_
#define COOPER_MODULE_METRIC_CLASSIFICATION_H_

// Metrics of class predictions. Labels are class ids. Positions whose label is `ignore_label` do
// not count, here and in the kinds of the neighbouring headers; MXNet has it for Perplexity only.

#include <cstdint>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "module/metric/eval_metric.h"

namespace cooper {

// The interface by which Fit and Score pass the lengths of a batch's rows (DataBatch::lengths) to a
// metric. All kinds below and composites of them implement it.
//
// With use_lengths, neither steps of a label beyond its row's length nor rows of padding count. The
// steps follow from the label's layout, the axes N and T of "NT" or "TNC"; of a label without both
// axes only rows of padding do not count, and batches without lengths count as without use_lengths.
// Lengths are those of the data: a label shifted by one (the next word) needs an ignore_label for
// its last step, a label with lengths of its own (a translation) for all its padding.
class StepMetric {
 public:
  virtual ~StepMetric() = default;
  virtual bool uses_lengths() const = 0;
  // Does UpdateDict for one batch. A metric with use_lengths counts the positions in `step_masks`,
  // one without it those in `masks`. An empty list means all positions.
  virtual absl::Status UpdateSteps(const NamedArrayList& labels, const NamedArrayList& preds,
                                   const NamedArrayList& masks,
                                   const NamedArrayList& step_masks) = 0;
};

// The share of labels equal to the class with the largest prediction along `axis`; of equal
// predictions the first wins. Predictions with the label's shape are class ids.
struct AccuracyOptions {
  MetricOptions common;  // "accuracy"
  int64_t axis = 1;
  std::optional<double> ignore_label;
  bool use_lengths = false;  // StepMetric
};
std::unique_ptr<EvalMetric> Accuracy(const AccuracyOptions& options = {});

// The share of labels that are among the top_k classes. Of equal predictions that of the smaller id
// comes first, and NaN is never among them. Predictions are (batch_size, classes). kInvalidArgument
// unless top_k > 1.
struct TopKAccuracyOptions {
  MetricOptions common;  // "top_k_accuracy"; "_2" for top_k 2 is appended to any name
  int64_t top_k = 1;
  std::optional<double> ignore_label;
  bool use_lengths = false;  // StepMetric
};
absl::StatusOr<std::unique_ptr<EvalMetric>> TopKAccuracy(const TopKAccuracyOptions& options);

// exp of the mean of -log(max(p, 1e-10)), where p is the label's prediction along `axis`. Reads one
// prediction per position. A label out of range counts as the nearest class.
struct PerplexityOptions {
  MetricOptions common;  // "perplexity"
  std::optional<double> ignore_label;
  int64_t axis = -1;
  bool use_lengths = false;  // StepMetric
};
std::unique_ptr<EvalMetric> Perplexity(const PerplexityOptions& options = {});

// The mean of -log(p + eps). Predictions are (batch_size, classes). A label out of range counts as
// the nearest class, both with the predictions of all classes and with the label's alone
// (ComputeOptions::label_probabilities), which do not have the number of classes. In MXNet a
// negative label counts from the last class back, and others are errors.
struct CrossEntropyOptions {
  MetricOptions common;  // "cross-entropy"
  double eps = 1e-12;
  std::optional<double> ignore_label;
  bool use_lengths = false;  // StepMetric
};
std::unique_ptr<EvalMetric> CrossEntropy(const CrossEntropyOptions& options = {});
// Like CrossEntropy, under the name "nll-loss".
std::unique_ptr<EvalMetric> NegativeLogLikelihood(const CrossEntropyOptions& options = {});

}  // namespace cooper

#endif  // COOPER_MODULE_METRIC_CLASSIFICATION_H_
