#ifndef COOPER_MODULE_METRIC_CLASSIFICATION_H_
#define COOPER_MODULE_METRIC_CLASSIFICATION_H_

// Metrics of predictions over classes. Labels are class ids. Positions whose label is
// `ignore_label` do not count at all, here and in the kinds of the neighbouring headers; MXNet
// knows this for Perplexity only.

#include <cstdint>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "module/metric/eval_metric.h"

namespace cooper {

// What Fit and Score look for in a metric when a batch says how long its rows are
// (DataBatch::lengths). All kinds below are such metrics, and composites of them.
//
// With use_lengths, steps of a label beyond the length of its row do not count, nor do rows of
// padding. What is a step follows from the label's layout, the axes N and T of "NT" or "TNC"; a
// label without both loses rows of padding alone, and batches without lengths count as ever.
// Lengths are those of the data: a label that is moved by one (the next word) needs an ignore_label
// for its last step, one with lengths of its own (a translation) for all its padding.
class StepMetric {
 public:
  virtual ~StepMetric() = default;
  virtual bool uses_lengths() const = 0;
  // EvalMetric::UpdateDict of a batch: `masks` say which positions count without use_lengths, none
  // being all, and `step_masks` with it.
  virtual absl::Status UpdateSteps(const NamedArrayList& labels, const NamedArrayList& preds,
                                   const NamedArrayList& masks,
                                   const NamedArrayList& step_masks) = 0;
};

// The share of labels that are the class with the largest prediction along `axis`, the first one of
// equals. Predictions of the label's shape are class ids themselves.
struct AccuracyOptions {
  MetricOptions common;  // "accuracy"
  int64_t axis = 1;
  std::optional<double> ignore_label;
  bool use_lengths = false;  // StepMetric
};
std::unique_ptr<EvalMetric> Accuracy(const AccuracyOptions& options = {});

// The share of labels that are among the top_k classes, where of equal predictions that of the
// smaller id comes first, and NaN is none of them. Predictions are (batch_size, classes).
// kInvalidArgument unless top_k > 1.
struct TopKAccuracyOptions {
  MetricOptions common;  // "top_k_accuracy"; "_2" for top_k 2 is appended to any name
  int64_t top_k = 1;
  std::optional<double> ignore_label;
  bool use_lengths = false;  // StepMetric
};
absl::StatusOr<std::unique_ptr<EvalMetric>> TopKAccuracy(const TopKAccuracyOptions& options);

// exp of the mean of -log(max(p, 1e-10)), p being the label's prediction along `axis`. Reads that
// one prediction of each position. A label outside of the classes counts as the nearest class.
struct PerplexityOptions {
  MetricOptions common;  // "perplexity"
  std::optional<double> ignore_label;
  int64_t axis = -1;
  bool use_lengths = false;  // StepMetric
};
std::unique_ptr<EvalMetric> Perplexity(const PerplexityOptions& options = {});

// The mean of -log(p + eps). Predictions are (batch_size, classes). A label outside of the classes
// counts as the nearest class, with the predictions of all classes as with the label's alone
// (ModuleOptions::label_probabilities), which do not tell how many classes there are. MXNet's
// counts a negative label from the last class back, and fails for others.
struct CrossEntropyOptions {
  MetricOptions common;  // "cross-entropy"
  double eps = 1e-12;
  std::optional<double> ignore_label;
  bool use_lengths = false;  // StepMetric
};
std::unique_ptr<EvalMetric> CrossEntropy(const CrossEntropyOptions& options = {});
// The same under the name "nll-loss".
std::unique_ptr<EvalMetric> NegativeLogLikelihood(const CrossEntropyOptions& options = {});

}  // namespace cooper

#endif  // COOPER_MODULE_METRIC_CLASSIFICATION_H_
