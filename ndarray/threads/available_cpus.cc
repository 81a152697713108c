#include "ndarray/threads/available_cpus.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace cooper {
namespace {

// Returns the file's text, or an empty one if there is no such file. Kernel files report no length.
std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Returns quota / period, both in microseconds; nothing for "max" (version 2) and -1 (version 1).
std::optional<double> Ratio(absl::string_view quota, absl::string_view period) {
  double q = 0;
  double p = 0;
  if (!absl::SimpleAtod(quota, &q) || !absl::SimpleAtod(period, &p) || !(q > 0) || !(p > 0)) {
    return std::nullopt;
  }
  return q / p;
}

std::optional<double> QuotaOfGroup(const std::string& folder, bool version_2) {
  if (!version_2) {
    const std::string quota = ReadFile(absl::StrCat(folder, "/cpu.cfs_quota_us"));
    return Ratio(quota, ReadFile(absl::StrCat(folder, "/cpu.cfs_period_us")));
  }
  const std::string text = ReadFile(absl::StrCat(folder, "/cpu.max"));
  const std::vector<absl::string_view> words =
      absl::StrSplit(text, absl::ByAnyChar(" \n"), absl::SkipEmpty());
  return words.size() == 2 ? Ratio(words[0], words[1]) : std::nullopt;
}

int CpusOfMask() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (sched_getaffinity(0, sizeof(mask), &mask) == 0) return CPU_COUNT(&mask);
  return static_cast<int>(std::thread::hardware_concurrency());  // more than the mask can hold
}

}  // namespace

double CpuQuota(const std::string& root, absl::string_view membership) {
  double least = 0;
  // Each line is number:controllers:path; version 2 has no controllers.
  for (absl::string_view line : absl::StrSplit(membership, '\n', absl::SkipEmpty())) {
    const std::vector<absl::string_view> fields = absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (fields.size() != 3) continue;
    const bool version_2 = fields[1].empty();
    const std::vector<absl::string_view> controllers = absl::StrSplit(fields[1], ',');
    if (!version_2 && !absl::c_linear_search(controllers, "cpu")) continue;
    // The controllers of one mount may be listed in another order than in its name; systemd makes
    // the links.
    std::string mount = version_2 ? root : absl::StrCat(root, "/", fields[1]);
    std::error_code none;
    if (!std::filesystem::exists(mount, none)) mount = absl::StrCat(root, "/cpu");
    // Within a container the path may be the host's, and the group is mounted as the root.
    for (absl::string_view path = absl::StripSuffix(fields[2], "/");;
         path = path.substr(0, path.rfind('/'))) {
      const std::optional<double> quota = QuotaOfGroup(absl::StrCat(mount, path), version_2);
      if (quota.has_value() && (least == 0 || *quota < least)) least = *quota;
      if (path.empty() || path.rfind('/') == absl::string_view::npos) break;
    }
  }
  return least;
}

int AvailableCpus() {
  int cpus = std::max(1, CpusOfMask());
  const double quota = CpuQuota("/sys/fs/cgroup", ReadFile("/proc/self/cgroup"));
  if (quota > 0 && quota < cpus) cpus = std::max(1, static_cast<int>(std::ceil(quota)));
  return cpus;
}

}  // namespace cooper
