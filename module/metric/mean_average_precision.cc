#include "module/metric/mean_average_precision.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "module/metric/metric_registry.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

constexpr int64_t kDetectionWidth = 6;  // class, score, xmin, ymin, xmax, ymax
constexpr int64_t kObjectWidth = 5;     // class, xmin, ymin, xmax, ymax

// Totals are rows of three: a class, a score, and one of the numbers below: an object, or a true or
// false detection.
constexpr size_t kTotalsWidth = 3;
constexpr double kObject = 0, kTrue = 1, kFalse = 2;

struct Box {
  float xmin, ymin, xmax, ymax;
  float Area() const { return (xmax - xmin) * (ymax - ymin); }
};

struct Object {
  int64_t id;  // of the class
  Box box;
  bool counts;  // not difficult, or difficult ones count
  bool taken = false;
};

struct Detection {
  int64_t id;
  float score;
  Box box;
};

// Returns the overlap (intersection over union), 0 for boxes without an area.
float Overlap(const Box& a, const Box& b) {
  const float width = std::min(a.xmax, b.xmax) - std::max(a.xmin, b.xmin);
  const float height = std::min(a.ymax, b.ymax) - std::max(a.ymin, b.ymin);
  const float common = std::max(width, 0.0F) * std::max(height, 0.0F);
  const float total = a.Area() + b.Area() - common;
  return total < 1e-12 ? 0 : common / total;
}

// Returns the object of the class that the detection overlaps most, if by more than `threshold`;
// null otherwise.
Object* BestObject(const Detection& detection, double threshold, std::vector<Object>& objects) {
  Object* best = nullptr;
  for (Object& object : objects) {
    if (object.id != detection.id) continue;
    const double overlap = Overlap(detection.box, object.box);
    if (!(overlap > threshold)) continue;
    threshold = overlap;
    best = &object;
  }
  return best;
}

// Sorts by falling score, with NaN last; equal scores keep their order.
template <typename Scored>
void SortByScore(std::vector<Scored>& items) {
  const auto key = [](double score) {
    return std::isnan(score) ? -std::numeric_limits<double>::infinity() : score;
  };
  std::stable_sort(items.begin(), items.end(), [&key](const Scored& a, const Scored& b) {
    return key(a.score) > key(b.score);
  });
}

// The detections and the number of objects of one class.
struct ClassEntries {
  struct Outcome {
    double score;
    bool is_true;
  };
  std::vector<Outcome> outcomes;
  int64_t objects = 0;
};

enum class CurveMean { kArea, kElevenPoints };

double AveragePrecision(ClassEntries& entries, CurveMean mean) {
  if (entries.objects == 0) return 0;
  SortByScore(entries.outcomes);
  const size_t n = entries.outcomes.size();
  std::vector<double> recall(n);
  std::vector<double> precision(n);
  int64_t num_true = 0;
  for (size_t i = 0; i < n; ++i) {
    num_true += entries.outcomes[i].is_true ? 1 : 0;
    recall[i] = static_cast<double>(num_true) / static_cast<double>(entries.objects);
    precision[i] = static_cast<double>(num_true) / static_cast<double>(i + 1);
  }
  for (size_t i = n; i-- > 1;) precision[i - 1] = std::max(precision[i - 1], precision[i]);
  double sum = 0;
  if (mean == CurveMean::kArea) {
    for (size_t i = 0; i < n; ++i) {
      sum += (recall[i] - (i == 0 ? 0 : recall[i - 1])) * precision[i];
    }
    return sum;
  }
  for (int point = 0; point <= 10; ++point) {
    // 0.1 * 3 is above 0.3, as in MXNet, so that a recall of 3 / 10 does not reach it.
    const auto first = std::lower_bound(recall.begin(), recall.end(), 0.1 * point);
    if (first != recall.end()) sum += precision[first - recall.begin()] / 11;
  }
  return sum;
}

class MeanAveragePrecisionMetric : public TotalsMetric {
 public:
  MeanAveragePrecisionMetric(const MeanAveragePrecisionOptions& options, CurveMean mean)
      : TotalsMetric(options.common, "mAP"), options_(options), mean_(mean) {}

  std::vector<NamedValue> GetNameValue() const override {
    class_values_.clear();
    return WithClasses(TotalsMetric::GetNameValue());
  }
  std::vector<NamedValue> GetGlobalNameValue() const override {
    class_values_.clear();
    return WithClasses(TotalsMetric::GetGlobalNameValue());
  }

 protected:
  absl::StatusOr<Totals> BatchTotals(absl::Span<const NDArray> labels,
                                     absl::Span<const NDArray> preds,
                                     absl::Span<const NDArray> masks) const override {
    const auto index = static_cast<size_t>(options_.pred_idx);  // beyond all if negative
    if (labels.size() != 1 || index >= preds.size()) {
      return absl::InvalidArgumentError(absl::StrCat(
          name(), ": ", labels.size(), " labels and ", preds.size(),
          " predictions, expected one label and a prediction ", options_.pred_idx, " (pred_idx)"));
    }
    return TotalsMetric::BatchTotals(labels, preds.subspan(index, 1), masks);
  }

  absl::StatusOr<Totals> PairTotals(const LabelValues& label, const NDArray& pred) const override {
    const Shape& objects = label.array.shape();
    const Shape& detections = pred.shape();
    if (objects.rank() != 3 || detections.rank() != 3 || objects[0] != detections[0] ||
        objects[2] < kObjectWidth || detections[2] != kDetectionWidth) {
      return Mismatch(label, pred,
                      "expected a label (batch_size, objects, 5 or more) and detections "
                      "(batch_size, anchors, 6)");
    }
    COOPER_ASSIGN_OR_RETURN(const NDArray floats, FloatOnCpu(pred));
    COOPER_ASSIGN_OR_RETURN(const absl::Span<const float> values, floats.Data<float>());
    const int64_t size = detections.Product(1, 3);
    Totals totals;
    for (int64_t image = 0; image < detections[0]; ++image) {
      AddImage(ReadObjects(label, image), values.subspan(image * size, size), &totals);
    }
    return totals;
  }

  bool IsNumTotals(size_t count) const override { return count % kTotalsWidth == 0; }

  void Add(const Totals& more, Totals* totals) const override {
    totals->insert(totals->end(), more.begin(), more.end());
  }

  double Value(const Totals& totals) const override {
    std::map<int64_t, ClassEntries> classes;
    for (size_t i = 0; i < totals.size(); i += kTotalsWidth) {
      ClassEntries& entries = classes[IntegerOf<int64_t>(totals[i])];
      if (totals[i + 2] == kObject) {
        ++entries.objects;
      } else {
        entries.outcomes.push_back({totals[i + 1], totals[i + 2] == kTrue});
      }
    }
    double sum = 0;
    for (auto& [id, entries] : classes) {
      const double precision = AveragePrecision(entries, mean_);
      class_values_[id] = precision;
      sum += precision;
    }
    return sum / static_cast<double>(classes.size());
  }

 private:
  std::vector<Object> ReadObjects(const LabelValues& label, int64_t image) const {
    const int64_t width = label.array.shape()[2];
    std::vector<Object> objects;
    for (int64_t row = 0; row < label.array.shape()[1]; ++row) {
      const int64_t begin = (image * label.array.shape()[1] + row) * width;
      const double* at = label.values.data() + begin;
      if (!label.Counts(begin) || !(at[0] >= 0)) continue;
      const auto corner = [at](int i) { return static_cast<float>(at[i]); };
      const bool difficult = width > kObjectWidth && at[kObjectWidth] > 0;
      objects.push_back({.id = IntegerOf<int64_t>(at[0]),
                         .box = {corner(1), corner(2), corner(3), corner(4)},
                         .counts = options_.use_difficult || !difficult});
    }
    return objects;
  }

  // Adds the entries of one image.
  void AddImage(std::vector<Object> objects, absl::Span<const float> values, Totals* totals) const {
    if (objects.empty()) return;
    const auto add = [totals](int64_t id, double score, double entry) {
      totals->insert(totals->end(), {static_cast<double>(id), score, entry});
    };
    for (const Object& object : objects) {
      if (object.counts) add(object.id, 0, kObject);
    }
    std::vector<Detection> detections;
    for (size_t i = 0; i < values.size(); i += kDetectionWidth) {
      const float* at = values.data() + i;
      if (!(at[0] >= 0)) continue;
      detections.push_back({IntegerOf<int64_t>(at[0]), at[1], {at[2], at[3], at[4], at[5]}});
    }
    SortByScore(detections);
    for (const Detection& detection : detections) {
      Object* const object = BestObject(detection, options_.ovp_thresh, objects);
      if (object != nullptr && !object->counts) continue;
      const bool is_true = object != nullptr && !object->taken;
      if (is_true) object->taken = true;
      add(detection.id, detection.score, is_true ? kTrue : kFalse);
    }
  }

  // Returns `mean` with the average precision of each class of options.class_names before it. Value
  // has stored these; NaN for a class without objects.
  std::vector<NamedValue> WithClasses(std::vector<NamedValue> mean) const {
    if (!options_.class_names.has_value()) return mean;
    std::vector<NamedValue> values;
    for (const std::string& class_name : *options_.class_names) {
      const auto at = class_values_.find(std::ssize(values));
      values.emplace_back(class_name, at == class_values_.end()
                                          ? std::numeric_limits<double>::quiet_NaN()
                                          : at->second);
    }
    values.push_back(std::move(mean[0]));
    return values;
  }

  const MeanAveragePrecisionOptions options_;
  const CurveMean mean_;
  mutable std::map<int64_t, double> class_values_;  // by class, of the last call of Value
};

void Declare(ParamDeclaration<MeanAveragePrecisionOptions>& d) {
  using Options = MeanAveragePrecisionOptions;
  d.Field("ovp_thresh", &Options::ovp_thresh);
  d.Field("use_difficult", &Options::use_difficult);
  d.Field("class_names", &Options::class_names);
  d.Field("pred_idx", &Options::pred_idx);
}

const bool kRegistered[] = {
    RegisterMetric<MeanAveragePrecisionOptions>({"mapmetric", "map"}, MeanAveragePrecision,
                                                Declare),
    RegisterMetric<MeanAveragePrecisionOptions>({"voc07mapmetric", "voc07_map"},
                                                Voc07MeanAveragePrecision, Declare),
};

}  // namespace

std::unique_ptr<EvalMetric> MeanAveragePrecision(const MeanAveragePrecisionOptions& options) {
  return std::make_unique<MeanAveragePrecisionMetric>(options, CurveMean::kArea);
}

std::unique_ptr<EvalMetric> Voc07MeanAveragePrecision(const MeanAveragePrecisionOptions& options) {
  return std::make_unique<MeanAveragePrecisionMetric>(options, CurveMean::kElevenPoints);
}

}  // namespace cooper
