// Feeds metrics that use lengths (batch_descs.h).

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "module/batch_descs.h"
#include "module/metric/classification.h"
#include "ndarray/ndarray.h"
#include "ndarray/shape.h"
#include "ndarray/status_macros.h"

namespace cooper {
namespace {

// Where rows and steps of a label are; an axis that it lacks is -1.
struct LabelAxes {
  int rows = 0;
  int steps = -1;

  static LabelAxes Of(const DataDesc& desc, const Shape& shape) {
    LabelAxes axes = {.rows = BatchAxis(desc.layout)};
    const size_t steps = desc.layout.find('T');
    if (axes.rows >= 0 && steps != std::string::npos) axes.steps = static_cast<int>(steps);
    if (axes.rows >= shape.rank()) axes.rows = -1;
    if (axes.rows < 0 || axes.steps >= shape.rank()) axes.steps = -1;
    return axes;
  }
};

const DataDesc* Find(const std::vector<DataDesc>& descs, const std::string& name) {
  const auto it = std::find_if(descs.begin(), descs.end(),
                               [&name](const DataDesc& desc) { return desc.name == name; });
  return it == descs.end() ? nullptr : &*it;
}

// 1 where counts(row, step) says so, else 0. Without an axis it is asked for 0.
absl::StatusOr<NDArray> Mask(const Shape& shape, const LabelAxes& axes,
                             absl::FunctionRef<bool(int64_t row, int64_t step)> counts) {
  COOPER_ASSIGN_OR_RETURN(NDArray mask, NDArray::Full(shape, 1));
  COOPER_ASSIGN_OR_RETURN(const absl::Span<float> values, mask.Data<float>());
  struct Axis {
    int64_t inner = 1, extent = 1;  // an element is at element / inner % extent
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

// The metric, as a module updates it: adds masks to the labels that it is given. Of several
// contexts each has its rows of the batch, one after the other.
class MetricByStep : public EvalMetric {
 public:
  // The arguments outlive this.
  MetricByStep(EvalMetric& metric, StepMetric& of_steps, const std::vector<DataDesc>& descs,
               const DataBatch& batch, bool count_padding)
      : metric_(metric),
        of_steps_(of_steps),
        descs_(descs),
        batch_(batch),
        count_padding_(count_padding) {}

  absl::Status Update(absl::Span<const NDArray> labels, absl::Span<const NDArray> preds,
                      absl::Span<const NDArray> masks) override {
    return metric_.Update(labels, preds, masks);
  }

  absl::Status UpdateDict(const NamedArrayList& labels, const NamedArrayList& preds,
                          const NamedArrayList&) override {
    const auto num_rows = static_cast<int64_t>(batch_.lengths.size());
    const int64_t real_rows = num_rows - batch_.pad;
    NamedArrayList masks, step_masks;
    int64_t rows = 0;
    for (const auto& [name, label] : labels) {
      const DataDesc* const desc = Find(descs_, name);
      const LabelAxes axes = LabelAxes::Of(desc == nullptr ? DataDesc() : *desc, label.shape());
      if (axes.rows >= 0) rows = std::max(rows, label.shape()[axes.rows]);
      const auto is_real = [&](int64_t row, int64_t) {
        return axes.rows < 0 || first_row_ + row < real_rows;
      };
      const auto is_step = [&](int64_t row, int64_t step) {
        return is_real(row, step) && (axes.steps < 0 || step < batch_.lengths[first_row_ + row]);
      };
      COOPER_ASSIGN_OR_RETURN(NDArray steps, Mask(label.shape(), axes, is_step));
      step_masks.emplace_back(name, std::move(steps));
      if (count_padding_) continue;
      COOPER_ASSIGN_OR_RETURN(NDArray real, Mask(label.shape(), axes, is_real));
      masks.emplace_back(name, std::move(real));
    }
    first_row_ += rows;
    if (first_row_ >= num_rows) first_row_ = 0;  // another module begins anew
    return of_steps_.UpdateSteps(labels, preds, masks, step_masks);
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
  EvalMetric& metric_;
  StepMetric& of_steps_;
  const std::vector<DataDesc>& descs_;
  const DataBatch& batch_;
  const bool count_padding_;
  int64_t first_row_ = 0;  // of the next part
};

}  // namespace

bool UsesLengths(const EvalMetric& metric, const DataBatch& batch) {
  const auto* const of_steps = dynamic_cast<const StepMetric*>(&metric);
  return of_steps != nullptr && of_steps->uses_lengths() && !batch.lengths.empty();
}

absl::Status UpdateMetricByStep(BaseModule& module, EvalMetric& metric, const DataBatch& batch,
                                bool count_padding) {
  const std::vector<DataDesc>& descs = LabelDescs(module, batch);
  for (size_t i = 0; i < std::min(descs.size(), batch.label.size()); ++i) {
    const Shape& shape = batch.label[i].shape();
    const LabelAxes axes = LabelAxes::Of(descs[i], shape);
    const auto num_lengths = static_cast<int64_t>(batch.lengths.size());
    if (axes.rows < 0 || shape[axes.rows] == num_lengths) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("use_lengths of a metric: label '", descs[i].name, "' ", shape.ToString(),
                     " has ", shape[axes.rows], " rows, the batch ", num_lengths, " lengths"));
  }
  MetricByStep by_step(metric, dynamic_cast<StepMetric&>(metric), descs, batch, count_padding);
  return module.UpdateMetric(by_step, batch.label);
}

}  // namespace cooper
