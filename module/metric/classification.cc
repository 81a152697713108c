#include "module/metric/classification.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "module/metric/metric_registry.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

// Predictions as outer x classes x inner, with the axis of the classes in the middle.
struct ClassAxis {
  int64_t outer;
  int64_t classes;
  int64_t inner;

  // Returns the index of class `c` at label position `i`, in row-major order.
  int64_t Index(int64_t i, int64_t c) const {
    return (i / inner * classes + c) * inner + i % inner;
  }
};

absl::StatusOr<ClassAxis> SplitAxis(const Shape& shape, int64_t axis) {
  COOPER_ASSIGN_OR_RETURN(const int at, NormalizeAxis(axis, shape.rank()));
  return ClassAxis{shape.Product(0, at), shape[at], shape.Product(at + 1, shape.rank())};
}

// Whether a label is out of range. A single class stands for the label's own, whatever its id
// (EvalMetric::takes_label_probabilities).
bool IsOutside(double label, int64_t classes) {
  return classes > 1 && !(label > -1 && label < static_cast<double>(classes));
}

// The base of all kinds here: totals, and the choice of masks by use_lengths.
class ClassificationMetric : public TotalsMetric, public StepMetric {
 public:
  bool uses_lengths() const override { return use_lengths_; }
  absl::Status UpdateSteps(const NamedArrayList& labels, const NamedArrayList& preds,
                           const NamedArrayList& masks, const NamedArrayList& step_masks) override {
    return UpdateDict(labels, preds, use_lengths_ ? step_masks : masks);
  }

 protected:
  template <typename Options>
  ClassificationMetric(const Options& options, absl::string_view default_name)
      : TotalsMetric(options.common, default_name, options.ignore_label),
        use_lengths_(options.use_lengths) {}

 private:
  const bool use_lengths_;
};

class AccuracyMetric : public ClassificationMetric {
 public:
  explicit AccuracyMetric(const AccuracyOptions& options)
      : ClassificationMetric(options, "accuracy"), axis_(options.axis) {}

 protected:
  absl::StatusOr<Totals> PairTotals(const LabelValues& label, const NDArray& pred) const override {
    ClassAxis axis = {pred.size(), 0, 1};
    const bool ids = label.array.shape() == pred.shape();
    if (!ids) {
      const absl::StatusOr<ClassAxis> split = SplitAxis(pred.shape(), axis_);
      if (!split.ok()) return Mismatch(label, pred, split.status().message());
      axis = *split;
    }
    if (label.array.size() != axis.outer * axis.inner) {
      return Mismatch(label, pred, absl::StrCat("expected ", axis.outer * axis.inner, " labels"));
    }
    return VisitValues(pred, [&](auto values) { return Count(label, values, axis, ids); });
  }

  bool counts_out_of_range() const override { return true; }

 private:
  // `ids`: the values are class ids.
  template <typename T>
  static absl::StatusOr<Totals> Count(const LabelValues& label, absl::Span<const T> values,
                                      const ClassAxis& axis, bool ids) {
    double correct = 0;
    double total = 0;
    double outside = 0;
    for (size_t i = 0; i < label.values.size(); ++i) {
      if (!label.Counts(i)) continue;
      outside += !ids && IsOutside(label.values[i], axis.classes) ? 1 : 0;
      const auto at = static_cast<int64_t>(i);
      const int64_t best = ids ? IntegerOf<int64_t>(values[i]) : Best(values, axis, at);
      correct += best == IntegerOf<int64_t>(label.values[i]) ? 1 : 0;
      ++total;
    }
    return Totals{correct, total, outside};
  }

  template <typename T>
  static int64_t Best(absl::Span<const T> values, const ClassAxis& axis, int64_t i) {
    int64_t best = 0;
    for (int64_t c = 1; c < axis.classes; ++c) {
      if (values[axis.Index(i, c)] > values[axis.Index(i, best)]) best = c;
    }
    return best;
  }

  const int64_t axis_;
};

class TopKAccuracyMetric : public ClassificationMetric {
 public:
  explicit TopKAccuracyMetric(const TopKAccuracyOptions& options)
      : ClassificationMetric(options, "top_k_accuracy"), top_k_(options.top_k) {}

 protected:
  absl::StatusOr<Totals> PairTotals(const LabelValues& label, const NDArray& pred) const override {
    if (pred.shape().rank() != 2 || label.array.size() != pred.shape()[0]) {
      return Mismatch(label, pred, "expected predictions (batch_size, classes) and one label each");
    }
    const auto classes = static_cast<size_t>(pred.shape()[1]);
    return VisitValues(pred, [&](auto values) { return Count(label, values, classes); });
  }

  bool counts_out_of_range() const override { return true; }

 private:
  template <typename T>
  absl::StatusOr<Totals> Count(const LabelValues& label, absl::Span<const T> values,
                               size_t classes) const {
    double correct = 0;
    double total = 0;
    double outside = 0;
    for (size_t i = 0; i < label.values.size(); ++i) {
      if (!label.Counts(i)) continue;
      ++total;
      outside += IsOutside(label.values[i], static_cast<int64_t>(classes)) ? 1 : 0;
      const auto id = IntegerOf<int64_t>(label.values[i]);
      if (id < 0 || id >= static_cast<int64_t>(classes)) continue;
      const absl::Span<const T> row = values.subspan(i * classes, classes);
      if (std::isnan(row[id])) continue;  // no class would come before it
      // Count the classes before the label's: larger predictions, and equal ones with a smaller id.
      int64_t before = 0;
      for (size_t c = 0; c < classes; ++c) {
        before += row[c] > row[id] || (row[c] == row[id] && static_cast<int64_t>(c) < id) ? 1 : 0;
      }
      correct += before < top_k_ ? 1 : 0;
    }
    return Totals{correct, total, outside};
  }

  const int64_t top_k_;
};

// Returns the sum of f(prediction of the label), the number of labels that count, and how many of
// these are out of range.
template <typename Fn>
absl::StatusOr<std::vector<double>> SumOverLabels(const LabelValues& label, const NDArray& pred,
                                                  const ClassAxis& axis, const Fn& f) {
  COOPER_ASSIGN_OR_RETURN(const NDArray float_pred, FloatOnCpu(pred));
  COOPER_ASSIGN_OR_RETURN(const absl::Span<const float> values, float_pred.Data<float>());
  double sum = 0;
  double count = 0;
  double outside = 0;
  for (size_t i = 0; i < label.values.size(); ++i) {
    if (!label.Counts(i)) continue;
    outside += IsOutside(label.values[i], axis.classes) ? 1 : 0;
    const int64_t id =
        std::clamp<int64_t>(IntegerOf<int64_t>(label.values[i]), 0, axis.classes - 1);
    sum += f(static_cast<double>(values[axis.Index(static_cast<int64_t>(i), id)]));
    ++count;
  }
  return std::vector<double>{sum, count, outside};
}

class PerplexityMetric : public ClassificationMetric {
 public:
  explicit PerplexityMetric(const PerplexityOptions& options)
      : ClassificationMetric(options, "perplexity"), axis_(options.axis) {}

  bool takes_label_probabilities() const override { return true; }

 protected:
  bool counts_out_of_range() const override { return true; }
  absl::StatusOr<Totals> PairTotals(const LabelValues& label, const NDArray& pred) const override {
    const absl::StatusOr<ClassAxis> axis = SplitAxis(pred.shape(), axis_);
    if (!axis.ok()) return Mismatch(label, pred, axis.status().message());
    if (label.array.size() != axis->outer * axis->inner || axis->classes < 1) {
      return Mismatch(label, pred, absl::StrCat("expected ", axis->outer * axis->inner, " labels"));
    }
    return SumOverLabels(label, pred, *axis,
                         [](double p) { return -std::log(std::max(p, 1e-10)); });
  }

  double Value(const Totals& totals) const override {
    return std::exp(TotalsMetric::Value(totals));
  }

 private:
  const int64_t axis_;
};

class CrossEntropyMetric : public ClassificationMetric {
 public:
  CrossEntropyMetric(const CrossEntropyOptions& options, absl::string_view name)
      : ClassificationMetric(options, name), eps_(options.eps) {}

  bool takes_label_probabilities() const override { return true; }

 protected:
  bool counts_out_of_range() const override { return true; }
  absl::StatusOr<Totals> PairTotals(const LabelValues& label, const NDArray& pred) const override {
    if (pred.shape().rank() != 2 || label.array.size() != pred.shape()[0] || pred.shape()[1] < 1) {
      return Mismatch(label, pred, "expected predictions (batch_size, classes) and one label each");
    }
    const ClassAxis axis = {pred.shape()[0], pred.shape()[1], 1};
    // As in MXNet, eps is added in float32.
    return SumOverLabels(label, pred, axis, [eps = static_cast<float>(eps_)](double p) {
      return -std::log(static_cast<double>(static_cast<float>(p) + eps));
    });
  }

 private:
  const double eps_;
};

}  // namespace

std::unique_ptr<EvalMetric> Accuracy(const AccuracyOptions& options) {
  return std::make_unique<AccuracyMetric>(options);
}

absl::StatusOr<std::unique_ptr<EvalMetric>> TopKAccuracy(const TopKAccuracyOptions& options) {
  if (options.top_k <= 1) {
    return absl::InvalidArgumentError(absl::StrCat("metric top_k_accuracy: top_k is ",
                                                   options.top_k,
                                                   ", expected more than 1: use accuracy for 1"));
  }
  TopKAccuracyOptions named = options;
  const std::string& name = options.common.name;
  named.common.name = absl::StrCat(name.empty() ? "top_k_accuracy" : name, "_", options.top_k);
  return std::make_unique<TopKAccuracyMetric>(named);
}

std::unique_ptr<EvalMetric> Perplexity(const PerplexityOptions& options) {
  return std::make_unique<PerplexityMetric>(options);
}

std::unique_ptr<EvalMetric> CrossEntropy(const CrossEntropyOptions& options) {
  return std::make_unique<CrossEntropyMetric>(options, "cross-entropy");
}

std::unique_ptr<EvalMetric> NegativeLogLikelihood(const CrossEntropyOptions& options) {
  return std::make_unique<CrossEntropyMetric>(options, "nll-loss");
}

namespace {

const bool kRegistered[] = {
    RegisterMetric<AccuracyOptions>({"accuracy", "acc"}, Accuracy,
                                    [](auto& d) {
                                      d.Field("axis", &AccuracyOptions::axis);
                                      d.Field("ignore_label", &AccuracyOptions::ignore_label);
                                      d.Field("use_lengths", &AccuracyOptions::use_lengths);
                                    }),
    RegisterMetric<TopKAccuracyOptions>(
        {"topkaccuracy", "top_k_accuracy", "top_k_acc"}, TopKAccuracy,
        [](auto& d) {
          d.Field("top_k", &TopKAccuracyOptions::top_k);
          d.Field("ignore_label", &TopKAccuracyOptions::ignore_label);
          d.Field("use_lengths", &TopKAccuracyOptions::use_lengths);
        }),
    RegisterMetric<PerplexityOptions>({"perplexity"}, Perplexity,
                                      [](auto& d) {
                                        d.Field("ignore_label", &PerplexityOptions::ignore_label);
                                        d.Field("use_lengths", &PerplexityOptions::use_lengths);
                                        d.Field("axis", &PerplexityOptions::axis);
                                      }),
};

void DeclareCrossEntropy(ParamDeclaration<CrossEntropyOptions>& d) {
  d.Field("eps", &CrossEntropyOptions::eps);
  d.Field("ignore_label", &CrossEntropyOptions::ignore_label);
  d.Field("use_lengths", &CrossEntropyOptions::use_lengths);
}

const bool kCrossEntropies[] = {
    RegisterMetric<CrossEntropyOptions>({"crossentropy", "cross-entropy", "ce"}, CrossEntropy,
                                        DeclareCrossEntropy),
    RegisterMetric<CrossEntropyOptions>({"negativeloglikelihood", "nll_loss"},
                                        NegativeLogLikelihood, DeclareCrossEntropy),
};

}  // namespace
}  // namespace cooper
