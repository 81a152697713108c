#include "module/callback/progress.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "absl/strings/str_format.h"

namespace cooper {

BatchEndCallback ProgressBar(int64_t total, int length, LogLine log) {
  return [total = std::max<int64_t>(total, 1), length = std::max(length, 0),
          log = OrNoLog(std::move(log))](const BatchEndParam& param) {
    const double done =
        std::clamp(static_cast<double>(param.nbatch) / static_cast<double>(total), 0.0, 1.0);
    const auto filled = static_cast<size_t>(std::lround(length * done));
    log(absl::StrFormat("[%s%s] %d%%", std::string(filled, '='),
                        std::string(static_cast<size_t>(length) - filled, '-'),
                        static_cast<int>(std::ceil(100 * done))));
    return true;
  };
}

BatchEndCallback LogTrainMetric(LogTrainMetricOptions options) {
  options.period = std::max<int64_t>(options.period, 1);
  options.log = OrNoLog(std::move(options.log));
  return [options = std::move(options)](const BatchEndParam& param) {
    if (param.eval_metric == nullptr || param.nbatch % options.period != 0) return true;
    for (const auto& [name, value] : param.eval_metric->GetNameValue()) {
      options.log(absl::StrFormat("Iter[%d] Batch[%d] Train-%s=%f", param.epoch, param.nbatch, name,
                                  value));
    }
    if (options.auto_reset) param.eval_metric->ResetLocal();
    return true;
  };
}

BatchEndCallback LogValidationMetrics(LogLine log) {
  return [log = OrNoLog(std::move(log))](const BatchEndParam& param) {
    if (param.eval_metric == nullptr) return true;
    for (const auto& [name, value] : param.eval_metric->GetGlobalNameValue()) {
      log(absl::StrFormat("Epoch[%d] Validation-%s=%f", param.epoch, name, value));
    }
    return true;
  };
}

}  // namespace cooper
