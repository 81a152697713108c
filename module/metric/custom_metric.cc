#include "module/metric/custom_metric.h"

#include <algorithm>
#include <utility>

#include "ndarray/status_macros.h"

namespace cooper {
namespace {

class CustomMetricImpl : public TotalsMetric {
 public:
  CustomMetricImpl(MetricFunction function, const CustomMetricOptions& options)
      : TotalsMetric(options.common, "custom"),
        function_(std::move(function)),
        allow_extra_outputs_(options.allow_extra_outputs) {}

 protected:
  absl::StatusOr<Totals> BatchTotals(absl::Span<const NDArray> labels,
                                     absl::Span<const NDArray> preds) const override {
    if (allow_extra_outputs_) {
      const size_t pairs = std::min(labels.size(), preds.size());
      labels = labels.first(pairs);
      preds = preds.first(pairs);
    }
    return TotalsMetric::BatchTotals(labels, preds);
  }

  absl::StatusOr<Totals> PairTotals(const NDArray& label, const NDArray& pred) const override {
    COOPER_ASSIGN_OR_RETURN(const SumAndCount result, function_(label, pred));
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
