#include "module/metric/regression.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "module/metric/metric_registry.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

enum class ErrorKind { kAbsolute, kSquared, kRootSquared };

class ErrorMetric : public TotalsMetric {
 public:
  ErrorMetric(const RegressionOptions& options, absl::string_view name, ErrorKind kind)
      : TotalsMetric(options.common, name, options.ignore_label), kind_(kind) {}

 protected:
  absl::StatusOr<Totals> PairTotals(const LabelValues& label, const NDArray& pred) const override {
    const Shape& label_shape = label.array.shape();
    const Shape& pred_shape = pred.shape();
    if (label_shape.rank() < 1 || pred_shape.rank() < 1 || label_shape[0] != pred_shape[0]) {
      return Mismatch(label, pred, "expected the same number of rows");
    }
    const int64_t rows = label_shape[0];
    // Sizes divided by rows would fail for no rows.
    const int64_t label_columns = label_shape.Product(1, label_shape.rank());
    const int64_t pred_columns = pred_shape.Product(1, pred_shape.rank());
    const int64_t columns = label_columns == 1 ? pred_columns : label_columns;
    if (pred_columns != columns && pred_columns != 1) {
      return Mismatch(label, pred, "expected the same number of columns, or one");
    }
    COOPER_ASSIGN_OR_RETURN(const std::vector<double> preds, pred.ToVector<double>());
    double sum = 0;
    double count = 0;
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j) {
        const auto at = static_cast<size_t>(i * label_columns + (label_columns == 1 ? 0 : j));
        if (!label.Counts(at)) continue;
        const double error =
            label.values[at] - preds[i * pred_columns + (pred_columns == 1 ? 0 : j)];
        sum += kind_ == ErrorKind::kAbsolute ? std::abs(error) : error * error;
        ++count;
      }
    }
    if (count == 0) return Totals();
    const double mean = sum / count;
    return Totals{kind_ == ErrorKind::kRootSquared ? std::sqrt(mean) : mean, 1};
  }

 private:
  const ErrorKind kind_;
};

class PearsonMetric : public TotalsMetric {
 public:
  explicit PearsonMetric(const PearsonCorrelationOptions& options)
      : TotalsMetric(options.common, "pearsonr", options.ignore_label),
        macro_(options.average == MetricAverage::kMacro) {}

 protected:
  // Returns the totals: for kMacro the sum of the correlations and their number, for kMicro the
  // moments.
  absl::StatusOr<Totals> PairTotals(const LabelValues& label, const NDArray& pred) const override {
    if (label.array.shape() != pred.shape()) {
      return Mismatch(label, pred, "expected one shape");
    }
    COOPER_ASSIGN_OR_RETURN(const std::vector<double> preds, pred.ToVector<double>());
    const std::vector<size_t> positions = label.Positions();
    if (positions.empty()) return Totals();
    const Totals moments = Moments(positions, label.values, preds);
    if (!macro_) return moments;
    return Totals{Correlation(moments), 1};
  }

  void Add(const Totals& more, Totals* totals) const override {
    if (macro_ || totals->empty() || more.empty()) return TotalsMetric::Add(more, totals);
    Totals& t = *totals;
    const double n = t[kCount] + more[kCount];
    const double weight = t[kCount] * more[kCount] / n;
    const double label_shift = more[kLabelMean] - t[kLabelMean];
    const double pred_shift = more[kPredMean] - t[kPredMean];
    t[kLabelSquares] += more[kLabelSquares] + weight * label_shift * label_shift;
    t[kPredSquares] += more[kPredSquares] + weight * pred_shift * pred_shift;
    t[kProducts] += more[kProducts] + weight * label_shift * pred_shift;
    t[kLabelMean] += label_shift * more[kCount] / n;
    t[kPredMean] += pred_shift * more[kCount] / n;
    t[kCount] = n;
  }

  bool IsNumTotals(size_t count) const override {
    return macro_ ? TotalsMetric::IsNumTotals(count) : count == kMoments;
  }

  double Value(const Totals& totals) const override {
    return macro_ ? TotalsMetric::Value(totals) : Correlation(totals);
  }

 private:
  // The totals of the micro average; squares and products are of deviations from the mean.
  enum Moment { kCount, kLabelMean, kPredMean, kLabelSquares, kPredSquares, kProducts, kMoments };

  static Totals Moments(const std::vector<size_t>& positions, const std::vector<double>& labels,
                        const std::vector<double>& preds) {
    Totals t(kMoments);
    const auto n = static_cast<double>(positions.size());
    for (const size_t i : positions) {
      t[kLabelMean] += labels[i] / n;
      t[kPredMean] += preds[i] / n;
    }
    for (const size_t i : positions) {
      const double label = labels[i] - t[kLabelMean];
      const double pred = preds[i] - t[kPredMean];
      t[kLabelSquares] += label * label;
      t[kPredSquares] += pred * pred;
      t[kProducts] += label * pred;
    }
    t[kCount] = n;
    return t;
  }

  static double Correlation(const Totals& t) {
    return t[kProducts] / (std::sqrt(t[kLabelSquares]) * std::sqrt(t[kPredSquares]));
  }

  const bool macro_;
};

class LossMetric : public TotalsMetric {
 public:
  explicit LossMetric(const MetricOptions& options) : TotalsMetric(options, "loss") {}

 protected:
  absl::StatusOr<Totals> BatchTotals(absl::Span<const NDArray> labels,
                                     absl::Span<const NDArray> preds,
                                     absl::Span<const NDArray> masks) const override {
    Totals totals(2);
    for (size_t k = 0; k < preds.size(); ++k) {
      const NDArray mask = k < masks.size() ? masks[k] : masks.empty() ? NDArray() : masks[0];
      const bool fits = labels.empty() || Fits(mask, preds[k]);
      COOPER_ASSIGN_OR_RETURN(const std::vector<bool> counted,
                              CountedElements(fits ? mask : NDArray(), preds[k]));
      COOPER_ASSIGN_OR_RETURN(const std::vector<double> values, preds[k].ToVector<double>());
      for (size_t i = 0; i < values.size(); ++i) {
        if (!counted.empty() && !counted[i]) continue;
        totals[0] += values[i];
        ++totals[1];
      }
    }
    return totals;
  }

 private:
  // Whether the mask has positions for each row of the prediction.
  static bool HasRows(const NDArray& mask, const NDArray& pred) {
    if (mask.is_null() || mask.shape().rank() == 0 || pred.shape().rank() == 0) return false;
    return pred.shape()[0] == mask.shape()[0] || pred.shape()[0] == mask.size();
  }

  static bool Fits(const NDArray& mask, const NDArray& pred) {
    return mask.is_null() || mask.shape() == pred.shape() || HasRows(mask, pred);
  }

  absl::StatusOr<std::vector<bool>> CountedElements(const NDArray& mask,
                                                    const NDArray& pred) const {
    const bool by_rows = HasRows(mask, pred) && mask.shape() != pred.shape();
    if (!by_rows) return ReadMask(mask, pred, "prediction");
    COOPER_ASSIGN_OR_RETURN(const std::vector<float> positions, mask.ToVector<float>());
    std::vector<bool> counted(pred.shape().num_elements(), false);
    const int64_t rows = pred.shape()[0];
    for (int64_t row = 0; row < rows; ++row) {
      const auto begin = positions.begin() + row * (positions.size() / rows);
      const bool counts = std::any_of(begin, begin + positions.size() / rows,
                                      [](float position) { return position != 0; });
      const size_t inner = counted.size() / rows;
      std::fill_n(counted.begin() + row * inner, inner, counts);
    }
    return counted;
  }
};

}  // namespace

std::unique_ptr<EvalMetric> Mae(const RegressionOptions& options) {
  return std::make_unique<ErrorMetric>(options, "mae", ErrorKind::kAbsolute);
}

std::unique_ptr<EvalMetric> Mse(const RegressionOptions& options) {
  return std::make_unique<ErrorMetric>(options, "mse", ErrorKind::kSquared);
}

std::unique_ptr<EvalMetric> Rmse(const RegressionOptions& options) {
  return std::make_unique<ErrorMetric>(options, "rmse", ErrorKind::kRootSquared);
}

std::unique_ptr<EvalMetric> PearsonCorrelation(const PearsonCorrelationOptions& options) {
  return std::make_unique<PearsonMetric>(options);
}

std::unique_ptr<EvalMetric> Loss(const MetricOptions& options) {
  return std::make_unique<LossMetric>(options);
}

namespace {

// Loss has only the common options.
struct LossOptions {
  MetricOptions common;
};

bool RegisterLoss(const std::string& name, const std::string& default_name) {
  return RegisterMetric<LossOptions>(
      {name},
      [default_name](LossOptions& options) {
        if (options.common.name.empty()) options.common.name = default_name;
        return Loss(options.common);
      },
      [](auto&) {});
}

const bool kRegistered[] = {
    RegisterMetric<RegressionOptions>({"mae"}, Mae),
    RegisterMetric<RegressionOptions>({"mse"}, Mse),
    RegisterMetric<RegressionOptions>({"rmse"}, Rmse),
    RegisterAveragedMetric<PearsonCorrelationOptions>({"pearsoncorrelation", "pearsonr"},
                                                      PearsonCorrelation),
    RegisterLoss("loss", ""),
    RegisterLoss("torch", "torch"),
    RegisterLoss("caffe", "caffe"),
};

}  // namespace
}  // namespace cooper
