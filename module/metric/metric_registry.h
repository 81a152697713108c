#ifndef COOPER_MODULE_METRIC_METRIC_REGISTRY_H_
#define COOPER_MODULE_METRIC_METRIC_REGISTRY_H_

// The registry of the linked kinds of metrics.

#include <string>
#include <vector>

#include "module/kwargs/option_registry.h"
#include "module/metric/eval_metric.h"

namespace cooper {

// Returns the registry, which lives as long as the process. The table has the targets of all kinds,
// so that a name whose target is not linked gives an error that says which one to link.
inline OptionRegistry<EvalMetric>& Metrics() {
  static auto* const metrics = new OptionRegistry<EvalMetric>(
      "metric",
      KindTargets(
          "@cooper//module/metric",
          {{"classification",
            {"accuracy", "acc", "topkaccuracy", "top_k_accuracy", "top_k_acc", "perplexity",
             "crossentropy", "cross-entropy", "ce", "negativeloglikelihood", "nll_loss"}},
           {"composite_metric", {"composite", "compositeevalmetric"}},
           {"confusion", {"f1", "mcc", "pcc"}},
           {"mean_average_precision", {"mapmetric", "map", "voc07mapmetric", "voc07_map"}},
           {"regression",
            {"loss", "torch", "caffe", "mae", "mse", "rmse", "pearsoncorrelation", "pearsonr"}}}));
  return *metrics;
}

// Registers a kind that `make` creates; declare(ParamDeclaration<Options>&) declares its options
// besides the common ones. Options has a member `common` of type MetricOptions. Returns true, for a
// static variable of the kind's source.
template <typename Options, typename Make, typename Declare>
bool RegisterMetric(const std::vector<std::string>& names, Make make, const Declare& declare) {
  return Metrics().Add<Options>(names, make, [&declare](ParamDeclaration<Options>& d) {
    d.Field("name", &Options::common, &MetricOptions::name);
    d.Field("output_names", &Options::common, &MetricOptions::output_names);
    d.Field("label_names", &Options::common, &MetricOptions::label_names);
    declare(d);
  });
}

// Registers a kind with ignore_label besides the common options.
template <typename Options, typename Make>
bool RegisterMetric(const std::vector<std::string>& names, Make make) {
  return RegisterMetric<Options>(names, make,
                                 [](auto& d) { d.Field("ignore_label", &Options::ignore_label); });
}

// Registers a kind with ignore_label and `average`.
template <typename Options, typename Make>
bool RegisterAveragedMetric(const std::vector<std::string>& names, Make make) {
  return RegisterMetric<Options>(names, make, [](auto& d) {
    d.Field("ignore_label", &Options::ignore_label);
    d.Enum("average", &Options::average,
           {{"macro", MetricAverage::kMacro}, {"micro", MetricAverage::kMicro}});
  });
}

}  // namespace cooper

#endif  // COOPER_MODULE_METRIC_METRIC_REGISTRY_H_
