#include "module/metric/confusion.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "module/metric/metric_registry.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

// Returns the index of the largest value; of equal values the first.
template <typename T>
int64_t ArgMax(absl::Span<const T> row) {
  return std::max_element(row.begin(), row.end()) - row.begin();
}

struct Classes {
  bool shapes_fit = false;
  std::vector<int64_t> label;
  std::vector<int64_t> pred;
};

// Returns the class ids of the labels that count, and of their predictions.
absl::StatusOr<Classes> ReadClasses(const LabelValues& label, const NDArray& pred,
                                    bool pred_may_be_ids) {
  Classes classes;
  const bool ids = pred_may_be_ids && label.array.shape() == pred.shape();
  classes.shapes_fit = ids || (pred.shape().rank() == 2 && pred.shape()[1] > 0 &&
                               pred.shape()[0] == label.array.size());
  if (!classes.shapes_fit) return classes;
  return VisitValues(pred, [&](auto values) -> absl::StatusOr<Classes> {
    // The size divided by the number of labels would fail for no labels.
    const size_t width = ids ? 1 : static_cast<size_t>(pred.shape()[1]);
    for (const size_t i : label.Positions()) {
      classes.label.push_back(IntegerOf<int64_t>(label.values[i]));
      classes.pred.push_back(ids ? IntegerOf<int64_t>(values[i])
                                 : ArgMax(values.subspan(i * width, width)));
    }
    return std::move(classes);
  });
}

// Counts of class 1 against the others.
struct BinaryCounts {
  double true_positives = 0;
  double false_positives = 0;
  double false_negatives = 0;
  double true_negatives = 0;
};

double FScore(const BinaryCounts& c) {
  const double predicted = c.true_positives + c.false_positives;
  const double actual = c.true_positives + c.false_negatives;
  const double precision = predicted > 0 ? c.true_positives / predicted : 0;
  const double recall = actual > 0 ? c.true_positives / actual : 0;
  return precision + recall > 0 ? 2 * precision * recall / (precision + recall) : 0;
}

double MatthewsCorrelation(const BinaryCounts& c) {
  double product = 1;
  for (double sum : {c.true_positives + c.false_positives, c.true_positives + c.false_negatives,
                     c.true_negatives + c.false_positives, c.true_negatives + c.false_negatives}) {
    if (sum != 0) product *= sum;
  }
  return (c.true_positives * c.true_negatives - c.false_positives * c.false_negatives) /
         std::sqrt(product);
}

class BinaryMetric : public TotalsMetric {
 public:
  using Score = double (*)(const BinaryCounts&);

  BinaryMetric(const BinaryMetricOptions& options, absl::string_view name, Score score)
      : TotalsMetric(options.common, name, options.ignore_label),
        macro_(options.average == MetricAverage::kMacro),
        score_(score) {}

 protected:
  // Returns the totals: for kMacro the sum of the batches' scores and their number, for kMicro the
  // four counts.
  absl::StatusOr<Totals> BatchTotals(absl::Span<const NDArray> labels,
                                     absl::Span<const NDArray> preds,
                                     absl::Span<const NDArray> masks) const override {
    COOPER_ASSIGN_OR_RETURN(Totals counts, TotalsMetric::BatchTotals(labels, preds, masks));
    if (!macro_ || counts.empty()) return counts;
    return Totals{ScoreOf(counts), 1};
  }

  absl::StatusOr<Totals> PairTotals(const LabelValues& label, const NDArray& pred) const override {
    COOPER_ASSIGN_OR_RETURN(const Classes classes, ReadClasses(label, pred, false));
    if (!classes.shapes_fit) {
      return Mismatch(label, pred, "expected predictions (batch_size, classes) and one label each");
    }
    if (classes.label.empty()) return Totals();
    std::vector<int64_t> distinct = classes.label;
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    if (distinct.size() > 2) return Mismatch(label, pred, "expected two classes");
    Totals counts(4);
    for (size_t i = 0; i < classes.label.size(); ++i) {
      const bool predicted = classes.pred[i] == 1;
      const bool actual = classes.label[i] == 1;
      ++counts[predicted ? (actual ? 0 : 1) : (actual ? 2 : 3)];
    }
    return counts;
  }

  bool IsNumTotals(size_t count) const override {
    return macro_ ? TotalsMetric::IsNumTotals(count) : count == 4;
  }

  double Value(const Totals& totals) const override {
    return macro_ ? TotalsMetric::Value(totals) : ScoreOf(totals);
  }

 private:
  double ScoreOf(const Totals& counts) const {
    return score_({counts[0], counts[1], counts[2], counts[3]});
  }

  const bool macro_;
  const Score score_;
};

// With this many classes a confusion matrix takes half a gigabyte.
constexpr int64_t kMaxClasses = 8192;

class PccMetric : public TotalsMetric {
 public:
  explicit PccMetric(const PccOptions& options)
      : TotalsMetric(options.common, "pcc", options.ignore_label) {}

 protected:
  // Returns the confusion matrix, k x k; prediction i with label j is element i * k + j.
  absl::StatusOr<Totals> PairTotals(const LabelValues& label, const NDArray& pred) const override {
    COOPER_ASSIGN_OR_RETURN(const Classes classes, ReadClasses(label, pred, true));
    if (!classes.shapes_fit) {
      return Mismatch(label, pred, "expected predictions (batch_size, classes) and one label each");
    }
    if (classes.label.empty()) return Totals();
    int64_t k = 2;
    for (const std::vector<int64_t>* ids : {&classes.label, &classes.pred}) {
      const auto [least, most] = std::minmax_element(ids->begin(), ids->end());
      if (*least < 0 || *most >= kMaxClasses) {
        return Mismatch(label, pred,
                        absl::StrCat("expected class ids of at least 0 and below ", kMaxClasses));
      }
      k = std::max(k, *most + 1);
    }
    Totals matrix(static_cast<size_t>(k * k));
    for (size_t i = 0; i < classes.label.size(); ++i) {
      ++matrix[classes.pred[i] * k + classes.label[i]];
    }
    return matrix;
  }

  bool IsNumTotals(size_t count) const override { return Side(count) * Side(count) == count; }

  void Add(const Totals& more, Totals* totals) const override {
    const size_t k = Side(more.size());
    if (Side(totals->size()) < k) {
      Totals grown(k * k);
      AddCorner(*totals, &grown);
      *totals = std::move(grown);
    }
    AddCorner(more, totals);
  }

  double Value(const Totals& matrix) const override {
    const size_t k = Side(matrix.size());
    std::vector<double> predicted(k), actual(k);
    double n = 0;
    for (size_t i = 0; i < k; ++i) {
      for (size_t j = 0; j < k; ++j) {
        predicted[i] += matrix[i * k + j];
        actual[j] += matrix[i * k + j];
        n += matrix[i * k + j];
      }
    }
    double cov_predicted = 0, cov_actual = 0, cov = 0;
    for (size_t i = 0; i < k; ++i) {
      cov_predicted += predicted[i] * (n - predicted[i]);
      cov_actual += actual[i] * (n - actual[i]);
      cov += matrix[i * k + i] * n - predicted[i] * actual[i];
    }
    if (cov_predicted == 0 || cov_actual == 0) return std::numeric_limits<double>::quiet_NaN();
    return cov / std::sqrt(cov_predicted * cov_actual);
  }

 private:
  // Returns the side of a square matrix with this many elements.
  static size_t Side(size_t elements) {
    return static_cast<size_t>(std::lround(std::sqrt(static_cast<double>(elements))));
  }

  // Adds a matrix to the upper left corner of one that is at least as large.
  static void AddCorner(const Totals& from, Totals* to) {
    const size_t k = Side(from.size());
    const size_t to_k = Side(to->size());
    for (size_t i = 0; i < k; ++i) {
      for (size_t j = 0; j < k; ++j) (*to)[i * to_k + j] += from[i * k + j];
    }
  }
};

}  // namespace

std::unique_ptr<EvalMetric> F1(const BinaryMetricOptions& options) {
  return std::make_unique<BinaryMetric>(options, "f1", FScore);
}

std::unique_ptr<EvalMetric> Mcc(const BinaryMetricOptions& options) {
  return std::make_unique<BinaryMetric>(options, "mcc", MatthewsCorrelation);
}

std::unique_ptr<EvalMetric> Pcc(const PccOptions& options) {
  return std::make_unique<PccMetric>(options);
}

namespace {

const bool kRegistered[] = {
    RegisterAveragedMetric<BinaryMetricOptions>({"f1"}, F1),
    RegisterAveragedMetric<BinaryMetricOptions>({"mcc"}, Mcc),
    RegisterMetric<PccOptions>({"pcc"}, Pcc),
};

}  // namespace
}  // namespace cooper
