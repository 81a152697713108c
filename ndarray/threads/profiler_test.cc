#include "ndarray/threads/profiler.h"

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/products/gemm.h"
#include "ndarray/products/gemm_rate.h"
#include "ndarray/threads/parallel.h"
#include "ndarray/threads/profile_report.h"
#include "nlohmann/json.hpp"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

constexpr ProfileCategory kForward = ProfileCategory::kForward;
constexpr ProfileCategory kBackward = ProfileCategory::kBackward;
constexpr ProfileCategory kStep = ProfileCategory::kStep;

// Computes a product of 2 * 3 * 4 * 5 FLOPs.
void Multiply() {
  const std::vector<float> a(15, 1), b(20, 1);
  std::vector<float> c(12);
  Gemm(false, false, 3, 4, 5, 1.0f, a.data(), 5, b.data(), 4, 0.0f, c.data(), 4);
}

std::vector<std::string> NamesOf(const Profile& profile) {
  std::vector<std::string> names;
  for (const ProfileEvent& event : profile.events) names.emplace_back(event.name);
  return names;
}

TEST(ProfilerTest, RecordsNothingUnlessStarted) {
  { const ScopedProfile scope(kForward, "tanh", "act0"); }
  Multiply();
  EXPECT_FALSE(IsProfiling());
  const Profile profile = StopProfile();
  EXPECT_TRUE(profile.events.empty());
  EXPECT_EQ(profile.duration_ns, 0);
}

TEST(ProfilerTest, SpansNest) {
  StartProfile();
  EXPECT_TRUE(IsProfiling());
  {
    const ScopedProfile step(kStep, "forward");
    { const ScopedProfile a(kForward, "tanh", "act0"); }
    { const ScopedProfile b(kBackward, "_backward_tanh", "act0_backward"); }
  }
  const Profile profile = StopProfile();
  EXPECT_FALSE(IsProfiling());
  ASSERT_THAT(NamesOf(profile), ElementsAre("tanh", "_backward_tanh", "forward"));
  const ProfileEvent& a = profile.events[0];
  const ProfileEvent& b = profile.events[1];
  const ProfileEvent& step = profile.events[2];
  EXPECT_EQ(a.detail, "act0");
  EXPECT_EQ(a.category, kForward);
  EXPECT_EQ(b.category, kBackward);
  EXPECT_EQ(step.detail, "");
  EXPECT_GE(step.start_ns, 0);
  EXPECT_LE(step.start_ns, a.start_ns);
  EXPECT_LE(a.start_ns + a.duration_ns, b.start_ns);
  EXPECT_LE(b.start_ns + b.duration_ns, step.start_ns + step.duration_ns);
  EXPECT_LE(step.start_ns + step.duration_ns, profile.duration_ns);
  EXPECT_EQ(a.thread, step.thread);
}

TEST(ProfilerTest, NamesOutliveTheirNodes) {
  StartProfile();
  {
    const std::string name = "an_operator_with_a_long_name";
    const ScopedProfile scope(kForward, name);
  }
  Profile stopped = StopProfile();
  const Profile profile = std::move(stopped);
  StartProfile();
  StopProfile();
  EXPECT_THAT(NamesOf(profile), ElementsAre("an_operator_with_a_long_name"));
}

TEST(ProfilerTest, AnEventBelongsToTheRecordingInWhichItBegan) {
  StartProfile();
  {
    const ScopedProfile scope(kForward, "between");
    StopProfile();
    StartProfile();
  }
  { const ScopedProfile scope(kForward, "after"); }
  EXPECT_THAT(NamesOf(StopProfile()), ElementsAre("after"));
}

TEST(ProfilerTest, CountsTheProductsOfAnEventAndOfThoseWithin) {
  StartProfile();
  {
    const ScopedProfile step(kStep, "forward");
    Multiply();
    {
      const ScopedProfile a(kForward, "FullyConnected");
      Multiply();
      Multiply();
    }
    { const ScopedProfile b(kForward, "tanh"); }
  }
  Multiply();  // counts for no event
  const Profile profile = StopProfile();
  ASSERT_EQ(profile.events.size(), 3u);
  EXPECT_EQ(profile.events[0].flops, 2 * 120);
  EXPECT_EQ(profile.events[1].flops, 0);
  EXPECT_EQ(profile.events[2].flops, 3 * 120);
}

TEST(ProfilerTest, CountsTheProductsOfLoopsOverThreads) {
  SetNumThreads(2);
  StartProfile();
  {
    const ScopedProfile scope(kForward, "RNN");
    ParallelFor(64, 1, [](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) Multiply();
    });
  }
  // Threads that have left no longer count for the event.
  ParallelFor(64, 1, [](int64_t, int64_t) { Multiply(); });
  const Profile profile = StopProfile();
  SetNumThreads(0);
  ASSERT_EQ(profile.events.size(), 1u);
  EXPECT_EQ(profile.events[0].flops, 64 * 120);
}

TEST(ProfilerTest, ThreadsRecordAtTheSameTime) {
  constexpr int kThreads = 4;
  constexpr int kEvents = 500;
  StartProfile();
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([t] {
      const std::string name = absl::StrCat("op", t);
      for (int i = 0; i < kEvents; ++i) {
        const ScopedProfile scope(kForward, name);
        if (i % 100 == 0) Multiply();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const Profile profile = StopProfile();
  ASSERT_EQ(profile.events.size(), static_cast<size_t>(kThreads * kEvents));
  const std::vector<OperatorTime> times = OperatorTimes(profile);
  ASSERT_EQ(times.size(), static_cast<size_t>(kThreads));
  for (const OperatorTime& time : times) {
    EXPECT_EQ(time.calls, kEvents) << time.name;
    EXPECT_EQ(time.flops, 5 * 120) << time.name;
  }
  std::vector<int> ids;
  for (const ProfileEvent& event : profile.events) ids.push_back(event.thread);
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  EXPECT_EQ(ids.size(), static_cast<size_t>(kThreads));
}

TEST(ProfilerTest, DropsAndCountsWhatIsTooMuch) {
  StartProfile(/*max_events=*/3);
  for (int i = 0; i < 5; ++i) const ScopedProfile scope(kForward, "tanh");
  const Profile profile = StopProfile();
  EXPECT_EQ(profile.events.size(), 3u);
  EXPECT_EQ(profile.dropped, 2);
  EXPECT_THAT(ProfileTable(profile, 1e9), HasSubstr("2 events are left out"));
  StartProfile();
  { const ScopedProfile scope(kForward, "tanh"); }
  EXPECT_EQ(StopProfile().dropped, 0);
}

// Returns a profile of events with known times.
Profile MadeProfile() {
  Profile profile;
  profile.duration_ns = 10'000'000;
  profile.events = {
      {.name = "FullyConnected",
       .detail = "fc\"1\xff",  // a quote, and no UTF-8
       .category = kForward,
       .start_ns = 1'500,
       .duration_ns = 2'000'000,
       .flops = 8'000'000,
       .thread = 1},
      {.name = "tanh", .category = kForward, .start_ns = 2'100'000, .duration_ns = 500'000},
      {.name = "FullyConnected",
       .category = kBackward,
       .start_ns = 3'000'000,
       .duration_ns = 1'000'000,
       .flops = 4'000'000},
      {.name = "forward", .category = kStep, .duration_ns = 2'500'000, .flops = 8'000'000},
      {.name = "backward", .category = kStep, .start_ns = 3'000'000, .duration_ns = 3'500'000},
      {.name = "update", .category = kStep, .start_ns = 7'000'000, .duration_ns = 1'000'000},
      {.name = "20", .category = ProfileCategory::kBucket, .duration_ns = 9'000'000},
  };
  return profile;
}

TEST(ProfileReportTest, WritesAChromeTrace) {
  const std::string path = testing::TempDir() + "trace.json";
  Profile profile = MadeProfile();
  profile.dropped = 7;
  COOPER_ASSERT_OK(WriteChromeTrace(profile, path, /*process=*/3));
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string text, ReadFile(path));
  const Json trace = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  ASSERT_TRUE(trace.is_object()) << text;
  EXPECT_EQ(trace["otherData"]["dropped_events"], 7);
  const Json& events = trace["traceEvents"];
  ASSERT_EQ(events.size(), 8u);
  EXPECT_EQ(events[0]["ph"], "M");
  const Json expected = {
      {"name", "FullyConnected"},
      {"cat", "forward"},
      {"ph", "X"},
      {"ts", 1.5},
      {"dur", 2000.0},
      {"pid", 3},
      {"tid", 1},
      {"args", {{"node", "fc\"1\uFFFD"}, {"flops", 8000000}, {"gflop_per_s", 4.0}}}};
  EXPECT_EQ(events[1], expected);
  EXPECT_EQ(events[2]["args"], Json::object());
  EXPECT_EQ(events[6]["cat"], "step");
  EXPECT_EQ(events[7]["cat"], "bucket");
}

TEST(ProfileReportTest, AnEmptyTraceIsATraceToo) {
  const std::string path = testing::TempDir() + "empty.json";
  COOPER_ASSERT_OK(WriteChromeTrace(Profile(), path));
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string text, ReadFile(path));
  EXPECT_EQ(Json::parse(text, nullptr, false)["traceEvents"].size(), 1u);
  EXPECT_THAT(ProfileTable(Profile(), 1e9), HasSubstr("all operators"));
}

TEST(ProfileReportTest, NamesTheFileThatCannotBeWritten) {
  EXPECT_THAT(WriteChromeTrace(Profile(), "no/such/trace.json"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("no/such/trace.json")));
}

TEST(ProfileReportTest, TheTableTellsSharesAndRates) {
  EXPECT_EQ(
      ProfileTable(MadeProfile(), 8e9),
      "operator                                "
      "calls         ms   share  GFLOP/s of the limit\n"
      "FullyConnected                              2        3.0   85.7%      4.0        50.0%\n"
      "tanh                                        1        0.5   14.3%\n"
      "all operators                               3        3.5  100.0%      3.4        42.9%\n"
      "limit: 8.0 GFLOP/s; of 10.0 ms: backward 35.0%, forward 25.0%, update 10.0%, "
      "rest 30.0%\n");
}

TEST(ProfileReportTest, TheTableHasTheTenLongest) {
  Profile profile;
  std::vector<std::string> names;
  for (int i = 0; i < 12; ++i) names.push_back(absl::StrCat("op", i));
  for (int i = 0; i < 12; ++i) {
    profile.events.push_back(
        {.name = names[i], .category = kForward, .duration_ns = 1'000'000 * (i + 1)});
  }
  const std::string table = ProfileTable(profile, 1e9);
  EXPECT_THAT(table, HasSubstr("\nop11 "));
  EXPECT_THAT(table, HasSubstr("\nop2 "));
  EXPECT_THAT(table, Not(HasSubstr("\nop1 ")));
  EXPECT_THAT(table, HasSubstr("\n2 others                                    2        3.0"));
}

TEST(GemmRateTest, IsThatOfNoSlowMachine) {
  // 10 MFLOP/s: below that of any processor that runs this, under a sanitizer too.
  EXPECT_GT(GemmRate(/*size=*/64), 1e7);
}

}  // namespace
}  // namespace cooper
