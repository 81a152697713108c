#ifndef COOPER_MODULE_CALLBACK_LOG_LINE_H_
#define COOPER_MODULE_CALLBACK_LOG_LINE_H_

// Where callbacks write their lines to.

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "module/metric/eval_metric.h"

namespace cooper {

// Takes a line without its end. Whoever is given a null one says nothing.
using LogLine = std::function<void(const std::string&)>;

// What may be called: `log`, or a function that does nothing.
inline LogLine OrSilent(LogLine log) {
  return log ? std::move(log) : LogLine([](const std::string&) {});
}

// Write to glog's logs of these severities.
void LogInfo(const std::string& line);
void LogError(const std::string& line);

// "\tmae=0.500000\tmse=0.250000".
std::string FormatValues(const std::vector<NamedValue>& values);

}  // namespace cooper

#endif  // COOPER_MODULE_CALLBACK_LOG_LINE_H_
