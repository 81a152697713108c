#include "ndarray/base/init_logging.h"

#include <iostream>
#include <utility>

#include "glog/logging.h"

namespace cooper {
namespace {

class LineSink : public google::LogSink {
 public:
  explicit LineSink(std::function<void(const std::string&)> write) : write_(std::move(write)) {}

  void send(google::LogSeverity severity, const char* /*full_filename*/,
            const char* /*base_filename*/, int /*line*/, const google::LogMessageTime& /*time*/,
            const char* message, size_t length) override {
    std::string line = severity == google::GLOG_INFO      ? ""
                       : severity == google::GLOG_WARNING ? "warning: "
                                                          : "error: ";
    line.append(message, length);
    write_(line);
  }

 private:
  const std::function<void(const std::string&)> write_;
};

void WriteToStderr(const std::string& line) { std::cerr << line + "\n" << std::flush; }

}  // namespace

void InitLogging(LoggingOptions options) {
  if (google::IsGoogleLoggingInitialized()) return;
  for (const auto severity :
       {google::GLOG_INFO, google::GLOG_WARNING, google::GLOG_ERROR, google::GLOG_FATAL}) {
    google::SetLogDestination(severity, "");  // no file
  }
  FLAGS_logtostderr = false;
  FLAGS_alsologtostderr = false;
  FLAGS_stderrthreshold = google::GLOG_FATAL + 1;  // nothing: lines go to the sink
  google::InitGoogleLogging("cooper");
  // Must live as long as glog.
  google::AddLogSink(new LineSink(options.write ? std::move(options.write) : WriteToStderr));
}

}  // namespace cooper
