#ifndef COOPER_MODULE_METRIC_COMPOSITE_METRIC_H_
#define COOPER_MODULE_METRIC_COMPOSITE_METRIC_H_

// Combines several metrics into one.

#include <memory>
#include <string>
#include <vector>

#include "module/metric/classification.h"
#include "module/metric/eval_metric.h"

namespace cooper {

// See the top of the file. Owns its children.
class CompositeEvalMetric : public EvalMetric, public StepMetric {
 public:
  // The names in `options` select arrays, and each child's own names select from the selected ones.
  explicit CompositeEvalMetric(std::vector<std::unique_ptr<EvalMetric>> metrics = {},
                               MetricOptions options = {});

  // Appends a child.
  void AddMetric(std::unique_ptr<EvalMetric> metric);
  // Returns a child, which this metric owns. kNotFound, with the number of children, if there is
  // none at `index`.
  absl::StatusOr<EvalMetric*> GetMetric(int index) const;

  // Update, UpdateDict and UpdateSteps pass the batch to each child in turn, and stop at the first
  // error; the children before that one have then added the batch.
  using EvalMetric::Update;
  absl::Status Update(absl::Span<const NDArray> labels, absl::Span<const NDArray> preds,
                      absl::Span<const NDArray> masks) override;
  using EvalMetric::UpdateDict;
  absl::Status UpdateDict(const NamedArrayList& labels, const NamedArrayList& preds,
                          const NamedArrayList& masks) override;
  // Whether a child uses lengths; each child gets the masks that it uses.
  bool uses_lengths() const override;
  absl::Status UpdateSteps(const NamedArrayList& labels, const NamedArrayList& preds,
                           const NamedArrayList& masks, const NamedArrayList& step_masks) override;
  // Whether all children accept them.
  bool takes_label_probabilities() const override;
  // The largest count of a child, since all see the same labels.
  int64_t labels_out_of_range() const override;
  void Reset() override;
  void ResetLocal() override;
  // The values of all children, in the order in which they were added.
  std::vector<NamedValue> GetNameValue() const override;
  std::vector<NamedValue> GetGlobalNameValue() const override;
  std::string SaveState() const override;
  // Loads the states of all children, or of none if one refuses its state.
  absl::Status LoadState(absl::string_view text) override;

 private:
  // Calls UpdateDict of each child; UpdateSteps if the child uses lengths and step_masks is not
  // null.
  absl::Status UpdateEach(const NamedArrayList& labels, const NamedArrayList& preds,
                          const NamedArrayList& masks, const NamedArrayList* step_masks);

  std::vector<std::unique_ptr<EvalMetric>> metrics_;
  const MetricOptions options_;
};

}  // namespace cooper

#endif  // COOPER_MODULE_METRIC_COMPOSITE_METRIC_H_
