#include "module/metric/create_metric.h"

#include <map>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "module/metric/classification.h"
#include "module/metric/composite_metric.h"
#include "module/metric/confusion.h"
#include "module/metric/regression.h"
#include "ndarray/status_macros.h"

namespace cooper {
namespace {

using Result = absl::StatusOr<std::unique_ptr<EvalMetric>>;
using Factory = Result (*)(KwargReader& reader, const MetricOptions& common);

Result MakeAccuracy(KwargReader& reader, const MetricOptions& common) {
  AccuracyOptions options = {.common = common};
  reader.Read("axis", &options.axis);
  reader.Read("ignore_label", &options.ignore_label);
  COOPER_RETURN_IF_ERROR(reader.Finish());
  return Accuracy(options);
}

Result MakeTopKAccuracy(KwargReader& reader, const MetricOptions& common) {
  TopKAccuracyOptions options = {.common = common};
  reader.Read("top_k", &options.top_k);
  reader.Read("ignore_label", &options.ignore_label);
  COOPER_RETURN_IF_ERROR(reader.Finish());
  return TopKAccuracy(options);
}

Result MakePerplexity(KwargReader& reader, const MetricOptions& common) {
  PerplexityOptions options = {.common = common};
  reader.Read("ignore_label", &options.ignore_label);
  reader.Read("axis", &options.axis);
  COOPER_RETURN_IF_ERROR(reader.Finish());
  return Perplexity(options);
}

absl::StatusOr<CrossEntropyOptions> ReadCrossEntropy(KwargReader& reader,
                                                     const MetricOptions& common) {
  CrossEntropyOptions options = {.common = common};
  reader.Read("eps", &options.eps);
  reader.Read("ignore_label", &options.ignore_label);
  COOPER_RETURN_IF_ERROR(reader.Finish());
  return options;
}

Result MakeCrossEntropy(KwargReader& reader, const MetricOptions& common) {
  COOPER_ASSIGN_OR_RETURN(const CrossEntropyOptions options, ReadCrossEntropy(reader, common));
  return CrossEntropy(options);
}

Result MakeNegativeLogLikelihood(KwargReader& reader, const MetricOptions& common) {
  COOPER_ASSIGN_OR_RETURN(const CrossEntropyOptions options, ReadCrossEntropy(reader, common));
  return NegativeLogLikelihood(options);
}

absl::StatusOr<MetricAverage> ReadAverage(KwargReader& reader) {
  std::string average = "macro";
  reader.Read("average", &average);
  COOPER_RETURN_IF_ERROR(reader.Finish());
  if (average == "macro") return MetricAverage::kMacro;
  if (average == "micro") return MetricAverage::kMicro;
  return absl::InvalidArgumentError(
      absl::StrCat("metric: average is '", average, "', expected 'macro' or 'micro'"));
}

// For the kinds whose own arguments are average and ignore_label.
template <typename Options, std::unique_ptr<EvalMetric> (*Make)(const Options&)>
Result MakeAveraged(KwargReader& reader, const MetricOptions& common) {
  Options options = {.common = common};
  reader.Read("ignore_label", &options.ignore_label);
  COOPER_ASSIGN_OR_RETURN(options.average, ReadAverage(reader));
  return Make(options);
}

// For those that have ignore_label alone.
template <typename Options, std::unique_ptr<EvalMetric> (*Make)(const Options&)>
Result MakeWithIgnoreLabel(KwargReader& reader, const MetricOptions& common) {
  Options options = {.common = common};
  reader.Read("ignore_label", &options.ignore_label);
  COOPER_RETURN_IF_ERROR(reader.Finish());
  return Make(options);
}

Result MakeLoss(KwargReader& reader, const MetricOptions& common) {
  COOPER_RETURN_IF_ERROR(reader.Finish());
  return Loss(common);
}

Result MakeComposite(KwargReader& reader, const MetricOptions& common) {
  std::vector<std::string> names;
  std::string ignore_label;
  reader.Read("metrics", &names);
  reader.Read("ignore_label", &ignore_label);
  COOPER_RETURN_IF_ERROR(reader.Finish());
  Kwargs kwargs;
  if (!ignore_label.empty()) kwargs["ignore_label"] = ignore_label;
  std::vector<std::unique_ptr<EvalMetric>> metrics;
  for (const std::string& name : names) {
    COOPER_ASSIGN_OR_RETURN(std::unique_ptr<EvalMetric> metric, CreateMetric(name, kwargs));
    metrics.push_back(std::move(metric));
  }
  return std::make_unique<CompositeEvalMetric>(std::move(metrics), common);
}

const std::map<std::string, Factory>& Factories() {
  static const auto* const factories = new std::map<std::string, Factory>{
      {"acc", MakeAccuracy},
      {"accuracy", MakeAccuracy},
      {"caffe", MakeLoss},
      {"ce", MakeCrossEntropy},
      {"composite", MakeComposite},
      {"compositeevalmetric", MakeComposite},
      {"cross-entropy", MakeCrossEntropy},
      {"crossentropy", MakeCrossEntropy},
      {"f1", MakeAveraged<BinaryMetricOptions, F1>},
      {"loss", MakeLoss},
      {"mae", MakeWithIgnoreLabel<RegressionOptions, Mae>},
      {"mcc", MakeAveraged<BinaryMetricOptions, Mcc>},
      {"mse", MakeWithIgnoreLabel<RegressionOptions, Mse>},
      {"negativeloglikelihood", MakeNegativeLogLikelihood},
      {"nll_loss", MakeNegativeLogLikelihood},
      {"pcc", MakeWithIgnoreLabel<PccOptions, Pcc>},
      {"pearsoncorrelation", MakeAveraged<PearsonCorrelationOptions, PearsonCorrelation>},
      {"pearsonr", MakeAveraged<PearsonCorrelationOptions, PearsonCorrelation>},
      {"perplexity", MakePerplexity},
      {"rmse", MakeWithIgnoreLabel<RegressionOptions, Rmse>},
      {"top_k_acc", MakeTopKAccuracy},
      {"top_k_accuracy", MakeTopKAccuracy},
      {"topkaccuracy", MakeTopKAccuracy},
      {"torch", MakeLoss},
  };
  return *factories;
}

}  // namespace

absl::StatusOr<std::unique_ptr<EvalMetric>> CreateMetric(absl::string_view name,
                                                         const Kwargs& kwargs) {
  const std::string lower = absl::AsciiStrToLower(name);
  const auto it = Factories().find(lower);
  if (it == Factories().end()) {
    return absl::NotFoundError(absl::StrCat(
        "no metric '", name, "', expected one of ",
        absl::StrJoin(Factories(), ", ",
                      [](std::string* out, const auto& entry) { out->append(entry.first); })));
  }
  MetricOptions common;
  if (lower == "torch" || lower == "caffe") common.name = lower;
  KwargReader reader(absl::StrCat("metric ", lower), kwargs);
  reader.Read("name", &common.name);
  reader.Read("output_names", &common.output_names);
  reader.Read("label_names", &common.label_names);
  return it->second(reader, common);
}

absl::StatusOr<std::unique_ptr<EvalMetric>> CreateMetrics(const std::vector<std::string>& names) {
  auto composite = std::make_unique<CompositeEvalMetric>();
  for (const std::string& name : names) {
    COOPER_ASSIGN_OR_RETURN(std::unique_ptr<EvalMetric> metric, CreateMetric(name));
    composite->AddMetric(std::move(metric));
  }
  return composite;
}

}  // namespace cooper
