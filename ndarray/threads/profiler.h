#ifndef COOPER_NDARRAY_THREADS_PROFILER_H_
#define COOPER_NDARRAY_THREADS_PROFILER_H_

// Records where the time of a run goes: an event for each operator call and each part of a training
// step, with the floating point operations of its matrix products. As in MXNet there is one
// profiler per process. profile_report.h formats the result.
//
// While nothing is recorded, a ScopedProfile costs one relaxed load and does not allocate. An event
// is recorded when it ends, in well under a microsecond.

#include <atomic>
#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "absl/strings/string_view.h"

namespace cooper {

// The kinds of events, which reports keep apart: events of different kinds contain one another.
enum class ProfileCategory {
  kForward,   // an operator
  kBackward,  // an operator of the backward pass
  kStep,      // a part of a training step: "forward", "update"; those of one thread do not overlap
  kBucket,    // the computation of one bucket
};
// Returns "forward", "backward", "step" or "bucket".
const char* ProfileCategoryName(ProfileCategory category);

// One recorded scope. Profile::names keeps its strings alive.
struct ProfileEvent {
  absl::string_view name;    // the operator, or the part of the step
  absl::string_view detail;  // the node; may be empty
  ProfileCategory category = ProfileCategory::kStep;
  int64_t start_ns = 0;  // since StartProfile
  int64_t duration_ns = 0;
  int64_t flops = 0;  // of the matrix products within it, on any thread
  int thread = 0;     // numbered in the order of the threads' first events
};

// A finished recording; it owns the texts of its events.
struct Profile {
  std::vector<ProfileEvent> events;  // in the order in which they ended
  int64_t dropped = 0;               // events beyond `max_events`
  int64_t duration_ns = 0;           // from StartProfile to StopProfile

  // Lets a set of strings be searched by a std::string_view without making a string.
  struct NameHash {
    using is_transparent = void;
    size_t operator()(std::string_view name) const { return std::hash<std::string_view>()(name); }
  };
  using Names = std::unordered_set<std::string, NameHash, std::equal_to<>>;
  std::shared_ptr<const Names> names;  // storage of the events' strings
};

// An event takes 48 bytes; a trace of this many is a file of some 150 MB.
inline constexpr int64_t kMaxProfileEvents = 1'000'000;

// Starts recording; discards an earlier recording. Thread-safe.
void StartProfile(int64_t max_events = kMaxProfileEvents);
// Stops recording and returns the events that have begun and ended since StartProfile; an empty
// profile if no recording is running. Thread-safe.
Profile StopProfile();
// Returns whether a recording is running.
bool IsProfiling();

// Adds FLOPs to the current event of this thread, if there is one. Events that enclose it count
// them too when it ends.
void AddProfileFlops(int64_t flops);

// While a ScopedProfileFlops lives, products on this thread count for an event of another thread:
// for helpers of a loop, which the event outlasts. With null they count for none.
// RunningProfileFlops returns the counter of this thread's current event.
std::atomic<int64_t>* RunningProfileFlops();
class ScopedProfileFlops {
 public:
  explicit ScopedProfileFlops(std::atomic<int64_t>* flops);
  ~ScopedProfileFlops();
  ScopedProfileFlops(const ScopedProfileFlops&) = delete;
  ScopedProfileFlops& operator=(const ScopedProfileFlops&) = delete;

 private:
  std::atomic<int64_t>* const before_;
};

namespace profiler_internal {
// The number of the current recording, from 1 on; 0 if there is none.
extern std::atomic<int64_t> session;
}  // namespace profiler_internal

// Records an event from here to the end of the scope. The flops of nested events count for it too.
// The strings must live until then.
class ScopedProfile {
 public:
  ScopedProfile(ProfileCategory category, absl::string_view name, absl::string_view detail = {})
      : session_(profiler_internal::session.load(std::memory_order_relaxed)) {
    if (session_ != 0) Begin(category, name, detail);
  }
  // Rejects temporary strings, which would die before the event ends.
  template <typename Name>
  requires std::same_as<Name, std::string> ScopedProfile(ProfileCategory, Name&&,
                                                         absl::string_view = {})
  = delete;
  ~ScopedProfile() {
    if (session_ != 0) End();
  }
  ScopedProfile(const ScopedProfile&) = delete;
  ScopedProfile& operator=(const ScopedProfile&) = delete;

 private:
  void Begin(ProfileCategory category, absl::string_view name, absl::string_view detail);
  void End();

  const int64_t session_;
  ProfileEvent event_;  // start_ns is the clock's time until the event ends
  std::atomic<int64_t> flops_ = 0;
  std::atomic<int64_t>* outer_flops_ = nullptr;
};

}  // namespace cooper

#endif  // COOPER_NDARRAY_THREADS_PROFILER_H_
