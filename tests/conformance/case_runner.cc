#include "tests/conformance/case_runner.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "glog/logging.h"

namespace cooper::conformance {
namespace {

constexpr int kSecondsPerCase = 60;

using Categories = std::map<std::string, std::vector<void (*)(CaseRunner&)>>;

Categories& TheCategories() {
  static auto* categories = new Categories;
  return *categories;
}

// Runs a case in a child process. The reason of a failure comes back through a pipe, the result
// through the exit status.
CaseResult RunIsolated(const std::function<absl::Status()>& run) {
  CaseResult result;
  int fds[2];
  PCHECK(pipe(fds) == 0);
  const pid_t child = fork();
  PCHECK(child >= 0);
  if (child == 0) {
    close(fds[0]);
    alarm(kSecondsPerCase);
    const absl::Status status = run();
    const std::string text = status.ToString();
    size_t done = 0;
    while (!status.ok() && done < text.size()) {
      const ssize_t put = write(fds[1], text.data() + done, text.size() - done);
      if (put <= 0) break;
      done += static_cast<size_t>(put);
    }
    _exit(status.ok() ? 0 : 1);
  }
  close(fds[1]);
  char buffer[4096];
  for (ssize_t got; (got = read(fds[0], buffer, sizeof(buffer))) > 0;) {
    result.reason.append(buffer, static_cast<size_t>(got));
  }
  close(fds[0]);
  int wait_status = 0;
  PCHECK(waitpid(child, &wait_status, 0) == child);
  result.passed = WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0;
  if (WIFSIGNALED(wait_status)) {
    result.reason = WTERMSIG(wait_status) == SIGALRM
                        ? absl::StrCat("took more than ", kSecondsPerCase, " seconds")
                        : absl::StrCat("crashed: ", strsignal(WTERMSIG(wait_status)));
  }
  return result;
}

}  // namespace

void CaseRunner::Run(const std::string& name, const std::function<absl::Status()>& run,
                     bool quirk) {
  const auto matches = [&](const std::string& filter) { return absl::StrContains(name, filter); };
  if (!options_.filters.empty() &&
      std::none_of(options_.filters.begin(), options_.filters.end(), matches)) {
    return;
  }
  CaseResult result;
  if (options_.isolate) {
    result = RunIsolated(run);
  } else {
    const absl::Status status = run();
    result.passed = status.ok();
    if (!status.ok()) result.reason = status.ToString();
  }
  result.name = name;
  result.category = name.substr(0, name.find('/'));
  result.quirk = quirk;
  results_.push_back(std::move(result));
}

void CaseRunner::RunFolders(const std::string& folder,
                            const std::function<absl::Status(const std::string& path)>& run) {
  const std::string path = absl::StrCat(root(), "/", folder);
  if (std::filesystem::exists(path + "/case.json")) return Run(folder, [&] { return run(path); });
  for (const std::string& name : ListFolder(path)) RunFolders(absl::StrCat(folder, "/", name), run);
}

void CaseRunner::RunList(const std::string& folder, const Json& cases,
                         const std::function<absl::Status(const Json& json)>& run) {
  for (const Json& json : cases) {
    Run(
        absl::StrCat(folder, "/", json.at("name").get<std::string>()), [&] { return run(json); },
        json.contains("quirk"));
  }
}

CategoryRegistrar::CategoryRegistrar(const char* name, void (*run)(CaseRunner&)) {
  TheCategories()[name].push_back(run);
}

std::vector<CaseResult> RunAllCases(const RunOptions& options) {
  CaseRunner runner(options);
  for (const std::string& folder : ListFolder(options.cases)) {
    if (!std::filesystem::is_directory(absl::StrCat(options.cases, "/", folder))) continue;
    auto it = TheCategories().find(folder);
    if (it != TheCategories().end()) {
      for (auto* run : it->second) run(runner);
    } else {
      runner.Run(absl::StrCat(folder, "/*"), [] {
        return absl::UnimplementedError("this program has nothing that runs this category");
      });
    }
  }
  return runner.results();
}

}  // namespace cooper::conformance
