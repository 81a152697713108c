#ifndef COOPER_TESTS_MODULE_LOG_LINES_H_
#define COOPER_TESTS_MODULE_LOG_LINES_H_

// Captures log lines in tests.

#include <cstddef>
#include <ctime>
#include <string>
#include <vector>

#include "glog/logging.h"

namespace cooper {

// Collects the lines that any thread logs during its lifetime, of every severity. Not thread-safe:
// read `lines` while no thread logs.
class LogLines : public google::LogSink {
 public:
  LogLines() { google::AddLogSink(this); }
  ~LogLines() override { google::RemoveLogSink(this); }
  void send(google::LogSeverity, const char*, const char*, int, const struct ::tm*,
            const char* message, size_t length) override {
    lines.emplace_back(message, length);
  }
  std::vector<std::string> lines;
};

}  // namespace cooper

#endif  // COOPER_TESTS_MODULE_LOG_LINES_H_
