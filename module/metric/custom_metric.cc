#include "module/metric/custom_metric.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "ndarray/array/ndarray.h"
#include "ndarray/array/on_cpu.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

// Returns the rows of `array` at `positions`; the first `axes` axes enumerate the rows.
absl::StatusOr<NDArray> TakeRows(const NDArray& array, int axes,
                                 const std::vector<size_t>& positions) {
  COOPER_ASSIGN_OR_RETURN(const NDArray source, OnCpu(array));
  const Shape& shape = array.shape();
  std::vector<int64_t> dims = {static_cast<int64_t>(positions.size())};
  for (int axis = axes; axis < shape.rank(); ++axis) dims.push_back(shape[axis]);
  COOPER_ASSIGN_OR_RETURN(NDArray taken, NDArray::Empty(Shape(dims), array.dtype()));
  const auto row_bytes =
      static_cast<size_t>(shape.Product(axes, shape.rank()) * SizeOf(array.dtype()));
  for (size_t i = 0; i < positions.size(); ++i) {
    std::memcpy(static_cast<char*>(taken.raw_data()) + i * row_bytes,
                static_cast<const char*>(source.raw_data()) + positions[i] * row_bytes, row_bytes);
  }
  return taken;
}

// Returns the rows of a label (rows, ...) all of whose positions count; nullopt if only a part of
// some row counts.
std::optional<std::vector<size_t>> WholeRows(const LabelValues& label) {
  const auto rows = static_cast<size_t>(label.array.shape()[0]);
  const size_t inner = rows == 0 ? 0 : label.values.size() / rows;
  std::vector<size_t> whole;
  for (size_t row = 0; row < rows; ++row) {
    const auto begin = label.counted.begin() + static_cast<std::ptrdiff_t>(row * inner);
    const auto counted = std::count(begin, begin + static_cast<std::ptrdiff_t>(inner), true);
    if (counted == static_cast<std::ptrdiff_t>(inner)) {
      whole.push_back(row);
    } else if (counted != 0) {
      return std::nullopt;
    }
  }
  return whole;
}

// Returns how many axes of a prediction enumerate the elements of a label of this shape; -1 if it
// has no row for each element.
int AxesOfElements(const Shape& label, const Shape& pred) {
  if (pred.rank() >= label.rank()) {
    int same = 0;
    while (same < label.rank() && pred[same] == label[same]) ++same;
    if (same == label.rank()) return same;
  }
  return pred.rank() > 0 && pred[0] == label.num_elements() ? 1 : -1;
}

class CustomMetricImpl : public TotalsMetric {
 public:
  CustomMetricImpl(MetricFunction function, const CustomMetricOptions& options)
      : TotalsMetric(options.common, "custom", options.ignore_label),
        function_(std::move(function)),
        allow_extra_outputs_(options.allow_extra_outputs),
        ignores_label_(options.ignore_label.has_value()) {}

 protected:
  absl::StatusOr<Totals> BatchTotals(absl::Span<const NDArray> labels,
                                     absl::Span<const NDArray> preds,
                                     absl::Span<const NDArray> masks) const override {
    if (allow_extra_outputs_) {
      const size_t pairs = std::min(labels.size(), preds.size());
      // For a batch without labels, the masks are those of predictions.
      if (labels.empty()) masks = {};
      COOPER_RETURN_IF_ERROR(CheckMasks(masks, labels.size(), "label"));
      labels = labels.first(pairs);
      preds = preds.first(pairs);
      masks = masks.first(masks.empty() ? 0 : pairs);
    }
    return TotalsMetric::BatchTotals(labels, preds, masks);
  }

  absl::StatusOr<Totals> PairTotals(const LabelValues& label, const NDArray& pred) const override {
    NDArray labels = label.array;
    NDArray preds = pred;
    if (!label.counted.empty()) {
      COOPER_ASSIGN_OR_RETURN(const bool any, TakeCounted(label, &labels, &preds));
      if (!any) return Totals();
    }
    COOPER_ASSIGN_OR_RETURN(const SumAndCount result, function_(labels, preds));
    return Totals{result.sum, result.count};
  }

 private:
  // Reduces both to what counts; returns false if nothing does.
  absl::StatusOr<bool> TakeCounted(const LabelValues& label, NDArray* labels,
                                   NDArray* preds) const {
    const Shape& shape = labels->shape();
    int label_axes = shape.rank();
    int pred_axes = AxesOfElements(shape, preds->shape());
    std::optional<std::vector<size_t>> positions;
    if (pred_axes >= 0) {
      positions = label.Positions();
    } else if (shape.rank() > 0 && preds->shape().rank() > 0 && shape[0] == preds->shape()[0]) {
      label_axes = pred_axes = 1;
      positions = WholeRows(label);
    }
    if (!positions.has_value()) {
      if (!ignores_label_) return true;
      return Mismatch(label, *preds, "expected the label's shape or a row for each label");
    }
    if (positions->empty()) return false;
    COOPER_ASSIGN_OR_RETURN(*labels, TakeRows(*labels, label_axes, *positions));
    COOPER_ASSIGN_OR_RETURN(*preds, TakeRows(*preds, pred_axes, *positions));
    return true;
  }

  const MetricFunction function_;
  const bool allow_extra_outputs_;
  const bool ignores_label_;
};

}  // namespace

std::unique_ptr<EvalMetric> CustomMetric(MetricFunction function,
                                         const CustomMetricOptions& options) {
  return std::make_unique<CustomMetricImpl>(std::move(function), options);
}

}  // namespace cooper
