#include "module/evaluate/feed_metric.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "module/evaluate/batch_descs.h"
#include "module/metric/classification.h"
#include "module/rows/sample_rows.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_macros.h"
#include "symbol/schema/batch_layout.h"

namespace cooper {
namespace {

// The axes of rows and steps in a label; -1 if it has no such axis.
struct LabelAxes {
  int rows = 0;
  int steps = -1;

  static LabelAxes Of(absl::string_view layout, const Shape& shape) {
    LabelAxes axes = {.rows = BatchAxis(layout)};
    const size_t steps = layout.find('T');
    if (axes.rows >= 0 && steps != absl::string_view::npos) axes.steps = static_cast<int>(steps);
    if (axes.rows >= shape.rank()) axes.rows = -1;
    if (axes.rows < 0 || axes.steps >= shape.rank()) axes.steps = -1;
    return axes;
  }
};

struct Label {
  std::string name;
  LabelAxes axes;
};

// Returns an array of 1 where counts(row, step) is true and 0 elsewhere. An index is 0 if its axis
// is missing.
absl::StatusOr<NDArray> Mask(const Shape& shape, const LabelAxes& axes,
                             absl::FunctionRef<bool(int64_t row, int64_t step)> counts) {
  COOPER_ASSIGN_OR_RETURN(NDArray mask, NDArray::Full(shape, 1));
  COOPER_ASSIGN_OR_RETURN(const absl::Span<float> values, mask.Data<float>());
  struct Axis {
    int64_t inner = 1, extent = 1;  // the index of element k is k / inner % extent
  };
  const auto axis_of = [&shape](int axis) {
    return axis < 0 ? Axis() : Axis{shape.Product(axis + 1, shape.rank()), shape[axis]};
  };
  const Axis rows = axis_of(axes.rows), steps = axis_of(axes.steps);
  for (int64_t k = 0; k < shape.num_elements(); ++k) {
    if (!counts(k / rows.inner % rows.extent, k / steps.inner % steps.extent)) values[k] = 0;
  }
  return mask;
}

// Wraps the caller's metric for BaseModule::UpdateMetric, and adds masks to each update.
class MaskedMetric : public EvalMetric {
 public:
  // The arguments must outlive this object. `of_steps` is null for a metric without lengths.
  // `num_samples` is the number of samples in the data, padding included.
  MaskedMetric(EvalMetric& metric, StepMetric* of_steps, std::vector<Label> labels,
               int64_t num_samples, std::vector<BatchLayout> outputs, const DataBatch& batch,
               bool count_padding)
      : metric_(metric),
        of_steps_(of_steps),
        labels_(std::move(labels)),
        num_samples_(num_samples),
        outputs_(std::move(outputs)),
        batch_(batch),
        count_padding_(count_padding) {}

  absl::Status Update(absl::Span<const NDArray> labels, absl::Span<const NDArray> preds,
                      absl::Span<const NDArray> masks) override {
    return metric_.Update(labels, preds, masks);
  }

  absl::Status UpdateDict(const NamedArrayList& labels, const NamedArrayList& preds,
                          const NamedArrayList&) override {
    NamedArrayList masks, step_masks;
    for (size_t i = 0; i < labels.size(); ++i) {
      const auto& [name, array] = labels[i];
      // All elements of a label that the batch does not describe count.
      const Label* const found = Find(i, name);
      const LabelAxes axes = found == nullptr ? LabelAxes() : found->axes;
      const bool has_rows = found != nullptr && axes.rows >= 0 && axes.rows < array.shape().rank();
      const int64_t end = has_rows ? array.shape()[axes.rows] - batch_.pad : 0;
      const auto is_real = [&](int64_t row, int64_t) { return !has_rows || row < end; };
      if (!count_padding_) {
        COOPER_ASSIGN_OR_RETURN(NDArray real, Mask(array.shape(), axes, is_real));
        masks.emplace_back(name, std::move(real));
      }
      if (of_steps_ != nullptr) {
        const auto is_step = [&](int64_t row, int64_t step) {
          return is_real(row, step) && (axes.steps < 0 || step < batch_.lengths[row]);
        };
        COOPER_ASSIGN_OR_RETURN(NDArray steps, Mask(array.shape(), axes, is_step));
        step_masks.emplace_back(name, std::move(steps));
      }
    }
    if (labels.empty() && !count_padding_) {
      COOPER_ASSIGN_OR_RETURN(masks, MasksOfOutputs(preds));
    }
    return of_steps_ == nullptr ? metric_.UpdateDict(labels, preds, masks)
                                : of_steps_->UpdateSteps(labels, preds, masks, step_masks);
  }

  bool takes_label_probabilities() const override { return metric_.takes_label_probabilities(); }
  int64_t labels_out_of_range() const override { return metric_.labels_out_of_range(); }
  void Reset() override { metric_.Reset(); }
  void ResetLocal() override { metric_.ResetLocal(); }
  std::vector<NamedValue> GetNameValue() const override { return metric_.GetNameValue(); }
  std::vector<NamedValue> GetGlobalNameValue() const override {
    return metric_.GetGlobalNameValue();
  }
  std::string SaveState() const override { return metric_.SaveState(); }
  absl::Status LoadState(absl::string_view text) override { return metric_.LoadState(text); }

 private:
  // Returns the label at index `i` if its name matches or if the module has no name for it, else
  // the label called `name`; null if there is none.
  const Label* Find(size_t i, const std::string& name) const {
    if (i < labels_.size() && (name.empty() || labels_[i].name == name)) return &labels_[i];
    const auto it = std::find_if(labels_.begin(), labels_.end(),
                                 [&name](const Label& label) { return label.name == name; });
    return it == labels_.end() ? nullptr : &*it;
  }

  absl::StatusOr<NamedArrayList> MasksOfOutputs(const NamedArrayList& preds) const {
    NamedArrayList masks;
    for (size_t k = 0; k < preds.size(); ++k) {
      const auto& [name, array] = preds[k];
      if (k < outputs_.size() && outputs_[k].kind == BatchLayout::Kind::kSomeSamples) {
        return AddContext(UnknownPaddingError(array.shape(), outputs_[k], num_samples_, batch_.pad),
                          "output '", name, "'");
      }
      COOPER_ASSIGN_OR_RETURN(masks.emplace_back(name, NDArray()).second,
                              MaskOfOutput(array.shape(), LayoutOf(k, array.shape())));
    }
    return masks;
  }

  // If the module does not know the layout, a first axis of at most as many indices as there are
  // samples is taken as the batch axis.
  BatchLayout LayoutOf(size_t k, const Shape& shape) const {
    if (num_samples_ == 0) return BatchLayout();
    if (k < outputs_.size() && !outputs_[k].is_unknown() && outputs_[k].Fits(shape, num_samples_)) {
      return outputs_[k];
    }
    const bool by_row = shape.rank() > 0 && shape[0] > 0 && shape[0] <= num_samples_;
    return by_row ? BatchLayout::Samples(0) : BatchLayout();
  }

  // Returns null for an output without samples. If the samples are along axis 0, the mask has that
  // axis only.
  absl::StatusOr<NDArray> MaskOfOutput(const Shape& shape, const BatchLayout& layout) const {
    if (!layout.has_samples()) return NDArray();
    const bool first = layout.axis == 0;
    return Mask(first ? Shape({shape[0]}) : shape, {.rows = layout.axis},
                [&](int64_t index, int64_t) {
                  return index / layout.inner % num_samples_ < num_samples_ - batch_.pad;
                });
  }

  EvalMetric& metric_;
  StepMetric* const of_steps_;
  const std::vector<Label> labels_;
  const int64_t num_samples_;
  const std::vector<BatchLayout> outputs_;
  const DataBatch& batch_;
  const bool count_padding_;
};

// Returns the batch with its labels in the order in which the module was bound, which UpdateMetric
// requires; labels that were not bound come last. Returns nullopt if they are in that order
// already, or if the batch has no names for them.
std::optional<DataBatch> InBoundOrder(const BaseModule& module, const DataBatch& batch) {
  const std::vector<DataDesc>& bound = module.label_shapes();
  const std::vector<DataDesc>& provided = batch.provide_label;
  if (provided.size() != batch.label.size() || provided.size() < bound.size()) return std::nullopt;
  const auto same_name = [](const DataDesc& a, const DataDesc& b) { return a.name == b.name; };
  if (std::equal(bound.begin(), bound.end(), provided.begin(), same_name)) return std::nullopt;
  DataBatch ordered = batch;
  ordered.label.clear();
  ordered.provide_label.clear();
  std::vector<bool> taken(provided.size());
  const auto take = [&](size_t k) {
    ordered.label.push_back(batch.label[k]);
    ordered.provide_label.push_back(provided[k]);
    taken[k] = true;
  };
  for (const DataDesc& desc : bound) {
    const auto it = std::find_if(provided.begin(), provided.end(),
                                 [&](const DataDesc& other) { return same_name(desc, other); });
    if (it == provided.end()) return std::nullopt;
    take(static_cast<size_t>(it - provided.begin()));
  }
  for (size_t k = 0; k < provided.size(); ++k) {
    if (!taken[k]) take(k);
  }
  return ordered;
}

// Does FeedMetric for a batch whose labels are in the bound order.
absl::Status FeedInOrder(BaseModule& module, EvalMetric& metric, const DataBatch& batch,
                         bool count_padding) {
  auto* of_steps = dynamic_cast<StepMetric*>(&metric);
  if (of_steps != nullptr && (!of_steps->uses_lengths() || batch.lengths.empty())) {
    of_steps = nullptr;
  }
  count_padding = count_padding || batch.pad == 0;
  if (of_steps == nullptr && count_padding) return module.UpdateMetric(metric, batch.label);

  const std::vector<DataDesc>& descs = LabelDescs(module, batch);
  std::vector<Label> labels;
  for (size_t i = 0; i < batch.label.size(); ++i) {
    const Shape& shape = batch.label[i].shape();
    const DataDesc desc = i < descs.size() ? descs[i] : DataDesc();
    const LabelAxes axes = LabelAxes::Of(desc.layout, shape);
    const int64_t rows = axes.rows < 0 ? 0 : shape[axes.rows];
    labels.push_back({.name = desc.name, .axes = axes});
    const auto num_lengths = static_cast<int64_t>(batch.lengths.size());
    if (of_steps == nullptr || axes.rows < 0 || rows == num_lengths) continue;
    return absl::InvalidArgumentError(absl::StrCat("use_lengths of a metric: label '", desc.name,
                                                   "' ", shape.ToString(), " has ", rows,
                                                   " rows, the batch ", num_lengths, " lengths"));
  }
  const bool masks_outputs = batch.label.empty() && !count_padding;
  MaskedMetric masked(
      metric, of_steps, std::move(labels), NumSamples(batch, DataDescs(module, batch)),
      masks_outputs ? module.output_layouts() : std::vector<BatchLayout>(), batch, count_padding);
  return module.UpdateMetric(masked, batch.label);
}

}  // namespace

absl::Status FeedMetric(BaseModule& module, EvalMetric& metric, const DataBatch& batch,
                        bool count_padding) {
  const std::optional<DataBatch> ordered = InBoundOrder(module, batch);
  return FeedInOrder(module, metric, ordered.has_value() ? *ordered : batch, count_padding);
}

}  // namespace cooper
