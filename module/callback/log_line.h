#ifndef COOPER_MODULE_CALLBACK_LOG_LINE_H_
#define COOPER_MODULE_CALLBACK_LOG_LINE_H_

// The destination of the lines that callbacks write.

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "module/metric/eval_metric.h"

namespace cooper {

// Takes a line without a line end. Code that accepts a null LogLine writes no lines then.
using LogLine = std::function<void(const std::string&)>;

// Returns `log`, or a function that does nothing if it is null.
inline LogLine OrNoLog(LogLine log) {
  return log ? std::move(log) : LogLine([](const std::string&) {});
}

// Writes to glog's log of this severity.
void LogInfo(const std::string& line);
void LogError(const std::string& line);

// Returns text such as "\tmae=0.500000\tmse=0.250000".
std::string FormatValues(const std::vector<NamedValue>& values);

}  // namespace cooper

#endif  // COOPER_MODULE_CALLBACK_LOG_LINE_H_
