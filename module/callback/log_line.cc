#include "module/callback/log_line.h"

#include "absl/strings/str_format.h"
#include "glog/logging.h"

namespace cooper {

void LogInfo(const std::string& line) { LOG(INFO) << line; }
void LogError(const std::string& line) { LOG(ERROR) << line; }

std::string FormatValues(const std::vector<NamedValue>& values) {
  std::string text;
  for (const auto& [name, value] : values) absl::StrAppendFormat(&text, "\t%s=%f", name, value);
  return text;
}

}  // namespace cooper
