#ifndef COOPER_NDARRAY_BASE_INIT_LOGGING_H_
#define COOPER_NDARRAY_BASE_INIT_LOGGING_H_

// How the lines that training logs look, and where they go.
//
// cooper logs through glog. In a program that has not set glog up, each line begins with time,
// thread and source, and the first one with a warning about that. A program of its own calls
// InitLogging in main instead; one that uses glog itself calls google::InitGoogleLogging as ever,
// and needs nothing of this header. cooper's libraries call neither.

#include <functional>
#include <string>

namespace cooper {

struct LoggingOptions {
  // Takes each line, without its end: an information as it is ("Epoch[0] Train-perplexity=3.2"),
  // others behind "warning: " or "error: ". Is called from the thread that logs, one line at a
  // time, and must not log. Null: writes to standard error.
  std::function<void(const std::string& line)> write;
};

// Sets glog up for the rest of the process: lines go to options.write alone, and no log files are
// made. glog's own settings still choose what is logged (FLAGS_minloglevel, FLAGS_v). Does nothing
// if glog is set up already; google::InitGoogleLogging must not be called afterwards. To be called
// from main, before other threads log.
void InitLogging(LoggingOptions options = {});

}  // namespace cooper

#endif  // COOPER_NDARRAY_BASE_INIT_LOGGING_H_
