#ifndef COOPER_NDARRAY_THREADS_PROFILER_H_
#define COOPER_NDARRAY_THREADS_PROFILER_H_

// What the time of a run goes into: events, one for each operator that runs and for each part of a
// training step, with the multiplications and additions of its matrix products. As MXNet's profiler
// there is one for the process. profile_report.h writes what it has recorded.
//
// While nothing is recorded, a ScopedProfile costs one relaxed load, and nothing allocates. An
// event is recorded when it ends, in well under a microsecond.

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

enum class ProfileCategory {
  kForward,   // an operator
  kBackward,  // an operator of the gradient
  kStep,      // a part of a training step: "forward", "update"; those of one thread do not overlap
  kBucket,    // what is computed in one bucket
};
// "forward", "backward", "step", "bucket".
const char* ProfileCategoryName(ProfileCategory category);

struct ProfileEvent {
  absl::string_view name;    // what ran: the operator, the part of the step
  absl::string_view detail;  // which one: the node; may be empty
  ProfileCategory category = ProfileCategory::kStep;
  int64_t start_ns = 0;  // since StartProfile
  int64_t duration_ns = 0;
  int64_t flops = 0;  // of the matrix products within it, on whatever thread they ran
  int thread = 0;     // numbers by the order in which threads had their first event
};

struct Profile {
  std::vector<ProfileEvent> events;  // in the order in which they ended
  int64_t dropped = 0;               // events that found `max_events` others
  int64_t duration_ns = 0;           // from StartProfile to StopProfile

  struct NameHash {
    using is_transparent = void;
    size_t operator()(std::string_view name) const { return std::hash<std::string_view>()(name); }
  };
  using Names = std::unordered_set<std::string, NameHash, std::equal_to<>>;
  std::shared_ptr<const Names> names;  // what the events' names point into
};

// 48 bytes each; a trace of so many is a file of some 150 MB.
inline constexpr int64_t kMaxProfileEvents = 1'000'000;

// Begins to record, anew if it did already.
void StartProfile(int64_t max_events = kMaxProfileEvents);
// Ends it: all events that have begun and ended since StartProfile. Empty if nothing was recorded.
Profile StopProfile();
bool IsProfiling();

// Adds to the event that runs on this thread, if there is one.
void AddProfileFlops(int64_t flops);

// Products on this thread count for an event of another one, while it lives: for the parts of a
// loop, which the event outlasts. Null: for none.
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
// Which recording this is, from 1 on; 0: none.
extern std::atomic<int64_t> session;
}  // namespace profiler_internal

// An event from here to the end of the scope. The flops of an event within it are its own too. The
// strings must live as long.
class ScopedProfile {
 public:
  ScopedProfile(ProfileCategory category, absl::string_view name, absl::string_view detail = {})
      : session_(profiler_internal::session.load(std::memory_order_relaxed)) {
    if (session_ != 0) Begin(category, name, detail);
  }
  // A string that dies before the event ends.
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
  ProfileEvent event_;  // start_ns is the clock's
  std::atomic<int64_t> flops_ = 0;
  std::atomic<int64_t>* outer_flops_ = nullptr;
};

}  // namespace cooper

#endif  // COOPER_NDARRAY_THREADS_PROFILER_H_
