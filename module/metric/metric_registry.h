#ifndef COOPER_MODULE_METRIC_METRIC_REGISTRY_H_
#define COOPER_MODULE_METRIC_METRIC_REGISTRY_H_

// The kinds of metrics that are linked.

#include <string>
#include <vector>

#include "module/kwargs/option_registry.h"
#include "module/metric/eval_metric.h"

namespace cooper {

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
           {"regression",
            {"loss", "torch", "caffe", "mae", "mse", "rmse", "pearsoncorrelation", "pearsonr"}}}));
  return *metrics;
}

// A kind that `make` makes; declare(ParamDeclaration<Options>&) names its options beside the common
// ones.
template <typename Options, typename Make, typename Declare>
bool RegisterMetric(const std::vector<std::string>& names, Make make, const Declare& declare) {
  return Metrics().Add<Options>(names, make, [&declare](ParamDeclaration<Options>& d) {
    d.Field("name", &Options::common, &MetricOptions::name);
    d.Field("output_names", &Options::common, &MetricOptions::output_names);
    d.Field("label_names", &Options::common, &MetricOptions::label_names);
    declare(d);
  });
}

// For kinds that have ignore_label beside the common options.
template <typename Options, typename Make>
bool RegisterMetric(const std::vector<std::string>& names, Make make) {
  return RegisterMetric<Options>(names, make,
                                 [](auto& d) { d.Field("ignore_label", &Options::ignore_label); });
}

// For those that have `average` too.
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
