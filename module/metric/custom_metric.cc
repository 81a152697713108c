#include "module/metric/custom_metric.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "ndarray/ndarray.h"
#include "ndarray/on_cpu.h"
#include "ndarray/shape.h"
#include "ndarray/status_macros.h"

namespace cooper {
namespace {

// The rows of `array`, which is cut into `num_rows` of them, at the positions: (positions, ...).
absl::StatusOr<NDArray> TakeRows(const NDArray& array, size_t num_rows,
                                 const std::vector<size_t>& positions) {
  COOPER_ASSIGN_OR_RETURN(const NDArray source, OnCpu(array));
  std::vector<int64_t> dims = {static_cast<int64_t>(positions.size())};
  const bool elements = static_cast<size_t>(array.size()) == num_rows;
  for (int axis = 1; axis < array.shape().rank() && !elements; ++axis) {
    dims.push_back(array.shape()[axis]);
  }
  COOPER_ASSIGN_OR_RETURN(NDArray taken, NDArray::Empty(Shape(dims), array.dtype()));
  const size_t row_bytes = static_cast<size_t>(array.size_bytes()) / num_rows;
  for (size_t i = 0; i < positions.size(); ++i) {
    std::memcpy(static_cast<char*>(taken.raw_data()) + i * row_bytes,
                static_cast<const char*>(source.raw_data()) + positions[i] * row_bytes, row_bytes);
  }
  return taken;
}

class CustomMetricImpl : public TotalsMetric {
 public:
  CustomMetricImpl(MetricFunction function, const CustomMetricOptions& options)
      : TotalsMetric(options.common, "custom", options.ignore_label),
        function_(std::move(function)),
        allow_extra_outputs_(options.allow_extra_outputs) {}

 protected:
  absl::StatusOr<Totals> BatchTotals(absl::Span<const NDArray> labels,
                                     absl::Span<const NDArray> preds,
                                     absl::Span<const NDArray> masks) const override {
    COOPER_RETURN_IF_ERROR(CheckMasks(masks, labels.size(), "label"));
    if (allow_extra_outputs_) {
      const size_t pairs = std::min(labels.size(), preds.size());
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
      const std::vector<size_t> positions = label.Positions();
      const size_t rows = label.values.size();
      const Shape& shape = pred.shape();
      if (shape != labels.shape() && (shape.rank() < 1 || shape[0] != labels.size())) {
        return Mismatch(label, pred, "expected the label's shape or a row for each label");
      }
      if (positions.empty()) return Totals();
      COOPER_ASSIGN_OR_RETURN(labels, TakeRows(label.array, rows, positions));
      COOPER_ASSIGN_OR_RETURN(preds, TakeRows(pred, rows, positions));
    }
    COOPER_ASSIGN_OR_RETURN(const SumAndCount result, function_(labels, preds));
    return Totals{result.sum, result.count};
  }

 private:
  const MetricFunction function_;
  const bool allow_extra_outputs_;
};

}  // namespace

std::unique_ptr<EvalMetric> CustomMetric(MetricFunction function,
                                         const CustomMetricOptions& options) {
  return std::make_unique<CustomMetricImpl>(std::move(function), options);
}

}  // namespace cooper
