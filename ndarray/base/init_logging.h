#ifndef COOPER_NDARRAY_BASE_INIT_LOGGING_H_
#define COOPER_NDARRAY_BASE_INIT_LOGGING_H_

// Sets the format and the destination of log lines.
//
// cooper logs through glog. Without a setup of glog each line begins with time, thread and source,
// and a warning about the missing setup precedes the first line. Programs call InitLogging in main;
// a program that uses glog itself calls google::InitGoogleLogging instead and does not need this
// header. cooper's libraries call neither.

#include <functional>
#include <string>

namespace cooper {

// Options of InitLogging.
struct LoggingOptions {
  // Receives each line without its line break: information as it is ("Epoch[0]
  // Train-perplexity=3.2"), other severities after "warning: " or "error: ". Called from the thread
  // that logs, one line at a time; must not log. Null writes to standard error.
  std::function<void(const std::string& line)> write;
};

// Sets glog up for the rest of the process: lines go to options.write alone, and no log files are
// created. glog's own settings still select what is logged (FLAGS_minloglevel, FLAGS_v). Does
// nothing if glog is set up already; google::InitGoogleLogging must not be called afterwards. Call
// it from main before other threads log.
void InitLogging(LoggingOptions options = {});

}  // namespace cooper

#endif  // COOPER_NDARRAY_BASE_INIT_LOGGING_H_
