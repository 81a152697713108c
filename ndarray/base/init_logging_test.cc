#include "ndarray/base/init_logging.h"

#include <cstdlib>
#include <string>
#include <vector>

#include "glog/logging.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cooper {
namespace {

using ::testing::AllOf;
using ::testing::ExitedWithCode;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using ::testing::StrEq;

[[noreturn]] void LogAllAndExit() {
  LOG(INFO) << "Epoch[0] Train-perplexity=3.2";
  LOG(WARNING) << "Fit: 'x' is no parameter";
  LOG(ERROR) << "not saved";
  std::exit(0);
}

[[noreturn]] void LogByDefault() {
  InitLogging();
  LogAllAndExit();
}

[[noreturn]] void LogIntoALocalVector() {
  std::vector<std::string> lines;
  InitLogging({.write = [&](const std::string& line) { lines.push_back(line); }});
  LOG(INFO) << "one";
  LOG(WARNING) << "two";
  std::exit(lines == std::vector<std::string>{"one", "warning: two"} ? 0 : 1);
}

[[noreturn]] void LogAsAnEmbedderDoes() {
  FLAGS_logtostderr = true;
  google::InitGoogleLogging("embedder");
  InitLogging({.write = [](const std::string&) { std::exit(1); }});
  LogAllAndExit();
}

[[noreturn]] void FailACheck() {
  InitLogging();
  LOG(FATAL) << "a bug";
}

// Each test runs in a process of its own, since glog is set up only once.
TEST(InitLoggingDeathTest, LinesAreTheirOwn) {
  EXPECT_EXIT(LogByDefault(), ExitedWithCode(0),
              StrEq("Epoch[0] Train-perplexity=3.2\nwarning: Fit: 'x' is no parameter\n"
                    "error: not saved\n"));
}

TEST(InitLoggingDeathTest, LinesGoWhereTheProgramSays) {
  EXPECT_EXIT(LogIntoALocalVector(), ExitedWithCode(0), IsEmpty());
}

TEST(InitLoggingDeathTest, AProgramThatHasSetGlogUpKeepsItsLines) {
  EXPECT_EXIT(LogAsAnEmbedderDoes(), ExitedWithCode(0),
              AllOf(StartsWith("I"), HasSubstr("init_logging_test.cc"), Not(HasSubstr("before"))));
}

TEST(InitLoggingDeathTest, AFailedCheckIsTold) { EXPECT_DEATH(FailACheck(), "error: a bug"); }

}  // namespace
}  // namespace cooper
