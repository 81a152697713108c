#ifndef COOPER_MODULE_METRIC_COMPOSITE_METRIC_H_
#define COOPER_MODULE_METRIC_COMPOSITE_METRIC_H_

// Several metrics as one.

#include <memory>
#include <string>
#include <vector>

#include "module/metric/classification.h"
#include "module/metric/eval_metric.h"

namespace cooper {

class CompositeEvalMetric : public EvalMetric, public StepMetric {
 public:
  // Of `options`, the names keep arrays from the children; the children's own select from the rest.
  explicit CompositeEvalMetric(std::vector<std::unique_ptr<EvalMetric>> metrics = {},
                               MetricOptions options = {});

  void AddMetric(std::unique_ptr<EvalMetric> metric);
  // kNotFound, with the number there are, if there is none at `index`.
  absl::StatusOr<EvalMetric*> GetMetric(int index) const;

  // This, UpdateDict and UpdateSteps give each child the batch in turn, and end at the first error:
  // the children before that one have added the batch then.
  using EvalMetric::Update;
  absl::Status Update(absl::Span<const NDArray> labels, absl::Span<const NDArray> preds,
                      absl::Span<const NDArray> masks) override;
  using EvalMetric::UpdateDict;
  absl::Status UpdateDict(const NamedArrayList& labels, const NamedArrayList& preds,
                          const NamedArrayList& masks) override;
  // Whether a child does; each is given the masks that it takes.
  bool uses_lengths() const override;
  absl::Status UpdateSteps(const NamedArrayList& labels, const NamedArrayList& preds,
                           const NamedArrayList& masks, const NamedArrayList& step_masks) override;
  // Whether all children do.
  bool takes_label_probabilities() const override;
  // The most that a child has counted: they see the same labels.
  int64_t labels_out_of_range() const override;
  void Reset() override;
  void ResetLocal() override;
  // Those of all children, in the order in which they were added.
  std::vector<NamedValue> GetNameValue() const override;
  std::vector<NamedValue> GetGlobalNameValue() const override;
  std::string SaveState() const override;
  // All children's, or, if one refuses its own, none.
  absl::Status LoadState(absl::string_view text) override;

 private:
  std::vector<std::unique_ptr<EvalMetric>> metrics_;
  const MetricOptions options_;
};

}  // namespace cooper

#endif  // COOPER_MODULE_METRIC_COMPOSITE_METRIC_H_
