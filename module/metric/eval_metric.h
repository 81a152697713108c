#ifndef COOPER_MODULE_METRIC_EVAL_METRIC_H_
#define COOPER_MODULE_METRIC_EVAL_METRIC_H_

// The interface of metrics, which measure how well outputs agree with labels, summed over batches:
// MXNet's mx.metric. CreateMetric (create_metric.h) creates metrics by name; the functions beside
// their options (classification.h, ...) create one kind.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "io/batch/key_values.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/dtype.h"

namespace cooper {

using NamedValue = std::pair<std::string, double>;
// Named arrays in the order in which a module lists its labels or outputs.
using NamedArrayList = std::vector<std::pair<std::string, NDArray>>;

// A metric keeps two sets of sums: the local ones since ResetLocal, for progress reports within an
// epoch, and the global ones since Reset. Not thread-safe.
class EvalMetric {
 public:
  virtual ~EvalMetric() = default;

  // Adds a batch: label i belongs to prediction i. Arrays may have any dtype and context.
  // kInvalidArgument, naming the metric and the shapes, if they do not fit; nothing is added then.
  absl::Status Update(absl::Span<const NDArray> labels, absl::Span<const NDArray> preds) {
    return Update(labels, preds, {});
  }
  // Adds a batch in which only a part of the positions counts: masks[i] has the shape of label i,
  // and positions where it is 0 do not count. If masks[i] is null or `masks` is empty, all
  // positions count.
  virtual absl::Status Update(absl::Span<const NDArray> labels, absl::Span<const NDArray> preds,
                              absl::Span<const NDArray> masks) = 0;
  // Calls Update with the arrays that the metric's label_names and output_names select; with all
  // arrays if there are no such names. Errors: kNotFound, naming it, if a selected array is
  // missing; kInvalidArgument if two arrays have its name.
  absl::Status UpdateDict(const NamedArrayList& labels, const NamedArrayList& preds) {
    return UpdateDict(labels, preds, {});
  }
  // Adds the selected arrays with masks, which have the names of the labels or, if there are no
  // labels, of the predictions. If `masks` is empty, all positions count.
  virtual absl::Status UpdateDict(const NamedArrayList& labels, const NamedArrayList& preds,
                                  const NamedArrayList& masks) = 0;

  // Whether the metric reads only the prediction of the label's class, so that predictions may be
  // these alone, (batch_size, 1), in place of those of all classes
  // (ComputeOptions::label_probabilities).
  virtual bool takes_label_probabilities() const { return false; }

  // Returns the number of labels since Reset that counted although they are out of the range of
  // classes. Kinds that look up a label's prediction then use the nearest class, as MXNet's
  // Perplexity does, unlike its cross entropies (classification.h); other kinds return 0.
  virtual int64_t labels_out_of_range() const { return 0; }

  // Reset clears all sums, ResetLocal only the local ones.
  virtual void Reset() = 0;
  virtual void ResetLocal() = 0;

  // Return the values of the local sums and of the global ones. NaN if nothing was added.
  virtual std::vector<NamedValue> GetNameValue() const = 0;
  virtual std::vector<NamedValue> GetGlobalNameValue() const = 0;

  // Saves and restores all sums, as text in the format of key_values.h. LoadState accepts the state
  // of the same metric; kInvalidArgument otherwise.
  virtual std::string SaveState() const = 0;
  virtual absl::Status LoadState(absl::string_view text) = 0;
};

// The arguments of all kinds.
struct MetricOptions {
  std::string name;  // empty: the kind's default
  // The arrays that UpdateDict, and so a module, uses. Unset: all.
  std::optional<std::vector<std::string>> output_names;
  std::optional<std::vector<std::string>> label_names;
};

// Checks that none of `names` is the name of two arrays. Otherwise returns kInvalidArgument with
// positions and shapes of both; the message names `metric` and calls the arrays `what` ("output").
absl::Status CheckNamesUnique(const NamedArrayList& arrays, absl::Span<const std::string> names,
                              absl::string_view metric, absl::string_view what);

// How the value of several batches is formed.
enum class MetricAverage {
  kMacro,  // the mean over batches of each batch's value
  kMicro,  // the value of all samples together
};

// A label's elements in row-major order, and which of them count: those that are neither masked nor
// equal to ignore_label.
struct LabelValues {
  NDArray array;
  std::vector<double> values;
  std::vector<bool> counted;  // empty: all of them

  bool Counts(size_t i) const { return counted.empty() || counted[i]; }
  // Returns the positions that count, in order.
  std::vector<size_t> Positions() const;
};

// A metric whose value is a function of totals. A kind defines how many totals there are, what a
// batch adds to them, and their value.
class TotalsMetric : public EvalMetric {
 public:
  using EvalMetric::Update;
  using EvalMetric::UpdateDict;
  absl::Status Update(absl::Span<const NDArray> labels, absl::Span<const NDArray> preds,
                      absl::Span<const NDArray> masks) override;
  absl::Status UpdateDict(const NamedArrayList& labels, const NamedArrayList& preds,
                          const NamedArrayList& masks) override;
  void Reset() override;
  void ResetLocal() override { local_.clear(); }
  std::vector<NamedValue> GetNameValue() const override;
  std::vector<NamedValue> GetGlobalNameValue() const override;
  std::string SaveState() const override;
  absl::Status LoadState(absl::string_view text) override;

  const std::string& name() const { return name_; }

  // The third total of kinds for which counts_out_of_range() is true, else 0.
  int64_t labels_out_of_range() const override;

 protected:
  using Totals = std::vector<double>;

  TotalsMetric(const MetricOptions& options, absl::string_view default_name,
               std::optional<double> ignore_label = std::nullopt)
      : options_(options),
        name_(options.name.empty() ? std::string(default_name.data(), default_name.size())
                                   : options.name),
        ignore_label_(ignore_label) {}

  // Returns what a batch adds to the totals; empty if nothing counts. The default adds up
  // PairTotals of each label and prediction.
  virtual absl::StatusOr<Totals> BatchTotals(absl::Span<const NDArray> labels,
                                             absl::Span<const NDArray> preds,
                                             absl::Span<const NDArray> masks) const;
  virtual absl::StatusOr<Totals> PairTotals(const LabelValues& label, const NDArray& pred) const;

  // Returns which elements of `array` the mask counts; an empty vector: all. `what` names the array
  // in errors.
  absl::StatusOr<std::vector<bool>> ReadMask(const NDArray& mask, const NDArray& array,
                                             absl::string_view what) const;
  // kInvalidArgument unless there are no masks or one for each of `count` arrays.
  absl::Status CheckMasks(absl::Span<const NDArray> masks, size_t count,
                          absl::string_view what) const;

  // Whether totals[2] is the number of labels out of range.
  virtual bool counts_out_of_range() const { return false; }

  // Whether this kind can have this many totals; a saved state with another number is refused. The
  // default accepts two, and three with counts_out_of_range.
  virtual bool IsNumTotals(size_t count) const {
    return count == 2 || (count == 3 && counts_out_of_range());
  }

  // Adds `more` to `totals`, which is empty if nothing was added yet. The default adds by element.
  virtual void Add(const Totals& more, Totals* totals) const;

  // Returns the value of totals that are not empty. The default is totals[0] / totals[1], NaN for 0
  // / 0.
  virtual double Value(const Totals& totals) const;

  // Returns an error such as "accuracy: label is (3,) ..., prediction (4, 5) ...: `why`".
  absl::Status Mismatch(const LabelValues& label, const NDArray& pred, absl::string_view why) const;

 private:
  absl::StatusOr<LabelValues> ReadLabel(const NDArray& label, const NDArray& mask) const;

  const MetricOptions options_;
  const std::string name_;
  const std::optional<double> ignore_label_;
  Totals local_;
  Totals global_;
};

// Returns `array` itself if it is float32 on the CPU, else a copy that is.
absl::StatusOr<NDArray> FloatOnCpu(const NDArray& array);

// Calls `visit`, which returns a StatusOr, with the elements: a span of floats, or of doubles where
// floats would round them, such as ids above 2^24.
template <typename Visit>
auto VisitValues(const NDArray& array, const Visit& visit)
    -> decltype(visit(absl::Span<const float>())) {
  switch (array.dtype()) {
    case DType::kFloat64:
    case DType::kInt32:
    case DType::kInt64: {
      const absl::StatusOr<std::vector<double>> values = array.ToVector<double>();
      if (!values.ok()) return values.status();
      return visit(absl::Span<const double>(*values));
    }
    default: {
      const absl::StatusOr<NDArray> floats = FloatOnCpu(array);
      if (!floats.ok()) return floats.status();
      const absl::StatusOr<absl::Span<const float>> values = floats->Data<float>();
      if (!values.ok()) return values.status();
      return visit(*values);
    }
  }
}

}  // namespace cooper

#endif  // COOPER_MODULE_METRIC_EVAL_METRIC_H_
