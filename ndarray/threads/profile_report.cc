#include "ndarray/threads/profile_report.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/status_macros.h"
#include "nlohmann/json.hpp"

namespace cooper {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kShownOperators = 10;
// The number of bytes per write.
constexpr size_t kChunkBytes = 1 << 20;

bool IsOperator(const ProfileEvent& event) {
  return event.category == ProfileCategory::kForward ||
         event.category == ProfileCategory::kBackward;
}

double Ratio(double part, double whole) { return whole <= 0 ? 0 : part / whole; }

double Microseconds(int64_t ns) { return static_cast<double>(ns) / 1e3; }

Json TraceEvent(const ProfileEvent& event, int process) {
  Json args = Json::object();
  if (!event.detail.empty()) args["node"] = std::string(event.detail);
  if (event.flops > 0) {
    args["flops"] = event.flops;
    // A flop per ns is a GFLOP/s.
    args["gflop_per_s"] =
        Ratio(static_cast<double>(event.flops), static_cast<double>(event.duration_ns));
  }
  return {{"name", std::string(event.name)},
          {"cat", ProfileCategoryName(event.category)},
          {"ph", "X"},
          {"ts", Microseconds(event.start_ns)},
          {"dur", Microseconds(event.duration_ns)},
          {"pid", process},
          {"tid", event.thread},
          {"args", std::move(args)}};
}

// Names come from symbol files and need not be UTF-8.
std::string Dump(const Json& json) {
  return json.dump(-1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

void AppendRow(std::string* text, const OperatorTime& row, int64_t all_ns, double limit) {
  const double per_second =
      1e9 * Ratio(static_cast<double>(row.flops), static_cast<double>(row.ns));
  absl::StrAppendFormat(text, "%-36s %8d %10.1f %6.1f%%", row.name, row.calls, row.ns / 1e6,
                        100 * Ratio(static_cast<double>(row.ns), static_cast<double>(all_ns)));
  if (row.flops > 0) {
    absl::StrAppendFormat(text, " %8.1f %11.1f%%", per_second / 1e9,
                          100 * Ratio(per_second, limit));
  }
  absl::StrAppend(text, "\n");
}

// Formats shares of the whole time, the largest first: "forward 40.1%, update 3.2%".
std::string StepShares(const Profile& profile) {
  std::map<absl::string_view, int64_t> ns_by_part;
  int64_t rest = profile.duration_ns;
  for (const ProfileEvent& event : profile.events) {
    if (event.category != ProfileCategory::kStep) continue;
    ns_by_part[event.name] += event.duration_ns;
    rest -= event.duration_ns;
  }
  std::vector<std::pair<absl::string_view, int64_t>> parts(ns_by_part.begin(), ns_by_part.end());
  std::stable_sort(parts.begin(), parts.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  parts.emplace_back("rest", std::max<int64_t>(0, rest));
  std::string text;
  for (const auto& [name, ns] : parts) {
    absl::StrAppendFormat(
        &text, "%s%s %.1f%%", text.empty() ? "" : ", ", name,
        100 * Ratio(static_cast<double>(ns), static_cast<double>(profile.duration_ns)));
  }
  return text;
}

}  // namespace

absl::Status WriteChromeTrace(const Profile& profile, const std::string& path, int process) {
  COOPER_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  std::string text = "{\"displayTimeUnit\":\"ms\",\"otherData\":";
  text += Dump({{"dropped_events", profile.dropped}});
  text += ",\"traceEvents\":[\n";
  text += Dump({{"name", "process_name"},
                {"ph", "M"},
                {"pid", process},
                {"args", {{"name", absl::StrCat("cooper ", process)}}}});
  // Writes one object at a time: together they would take many times the memory of the events.
  for (const ProfileEvent& event : profile.events) {
    absl::StrAppend(&text, ",\n", Dump(TraceEvent(event, process)));
    if (text.size() < kChunkBytes) continue;
    COOPER_RETURN_IF_ERROR(file.Append(text));
    text.clear();
  }
  text += "\n]}\n";
  COOPER_RETURN_IF_ERROR(file.Append(text));
  return file.Commit();
}

std::vector<OperatorTime> OperatorTimes(const Profile& profile) {
  std::map<absl::string_view, OperatorTime> by_name;
  for (const ProfileEvent& event : profile.events) {
    if (!IsOperator(event)) continue;
    OperatorTime& time = by_name[event.name];
    ++time.calls;
    time.ns += event.duration_ns;
    time.flops += event.flops;
  }
  std::vector<OperatorTime> times;
  for (auto& [name, time] : by_name) {
    time.name = std::string(name);
    times.push_back(std::move(time));
  }
  std::stable_sort(times.begin(), times.end(),
                   [](const OperatorTime& a, const OperatorTime& b) { return a.ns > b.ns; });
  return times;
}

std::string ProfileTable(const Profile& profile, double limit) {
  const std::vector<OperatorTime> times = OperatorTimes(profile);
  OperatorTime all{.name = "all operators"};
  OperatorTime others;
  for (size_t i = 0; i < times.size(); ++i) {
    for (OperatorTime* sum : {&all, &others}) {
      if (sum == &others && i < kShownOperators) continue;
      sum->calls += times[i].calls;
      sum->ns += times[i].ns;
      sum->flops += times[i].flops;
    }
  }
  std::string text = absl::StrFormat("%-36s %8s %10s %7s %8s %12s\n", "operator", "calls", "ms",
                                     "share", "GFLOP/s", "of the limit");
  for (size_t i = 0; i < std::min(times.size(), kShownOperators); ++i) {
    AppendRow(&text, times[i], all.ns, limit);
  }
  if (times.size() > kShownOperators) {
    others.name = absl::StrCat(times.size() - kShownOperators, " others");
    AppendRow(&text, others, all.ns, limit);
  }
  AppendRow(&text, all, all.ns, limit);
  absl::StrAppendFormat(&text, "limit: %.1f GFLOP/s; of %.1f ms: %s\n", limit / 1e9,
                        profile.duration_ns / 1e6, StepShares(profile));
  if (profile.dropped > 0) {
    absl::StrAppendFormat(&text, "%d events are left out: profile fewer batches\n",
                          profile.dropped);
  }
  return text;
}

}  // namespace cooper
