#include "ndarray/threads/profiler.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <utility>

namespace cooper {
namespace profiler_internal {

std::atomic<int64_t> session = 0;

}  // namespace profiler_internal

namespace {

using profiler_internal::session;

thread_local std::atomic<int64_t>* running_flops = nullptr;

int64_t NowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

int ThisThread() {
  static std::atomic<int> threads = 0;
  thread_local const int number = threads++;
  return number;
}

class Recorder {
 public:
  void Start(int64_t max_events) {
    std::lock_guard<std::mutex> lock(mutex_);
    events_.clear();
    events_.reserve(std::min<int64_t>(max_events, 1 << 14));
    names_ = std::make_shared<Profile::Names>();
    dropped_ = 0;
    max_events_ = max_events;
    start_ns_ = NowNs();
    session.store(++last_session_, std::memory_order_relaxed);
  }

  Profile Stop() {
    std::lock_guard<std::mutex> lock(mutex_);
    Profile profile;
    if (session.exchange(0, std::memory_order_relaxed) == 0) return profile;
    profile.events = std::exchange(events_, {});
    profile.dropped = dropped_;
    profile.duration_ns = NowNs() - start_ns_;
    profile.names = std::exchange(names_, nullptr);
    return profile;
  }

  void Record(int64_t begun_in, ProfileEvent event) {
    std::lock_guard<std::mutex> lock(mutex_);
    // Recording may have been stopped and restarted since the event began.
    if (begun_in != session.load(std::memory_order_relaxed)) return;
    if (static_cast<int64_t>(events_.size()) >= max_events_) {
      ++dropped_;
      return;
    }
    event.name = Keep(event.name);
    event.detail = Keep(event.detail);
    event.start_ns -= start_ns_;
    events_.push_back(event);
  }

 private:
  // Copies the strings into the profile: nodes may be destroyed before it.
  absl::string_view Keep(absl::string_view text) {
    const std::string_view key(text.data(), text.size());
    auto it = names_->find(key);
    if (it == names_->end()) it = names_->emplace(key).first;
    return *it;
  }

  std::mutex mutex_;
  std::vector<ProfileEvent> events_;
  std::shared_ptr<Profile::Names> names_;
  int64_t dropped_ = 0;
  int64_t max_events_ = 0;
  int64_t start_ns_ = 0;
  int64_t last_session_ = 0;
};

Recorder& TheRecorder() {
  static auto* recorder = new Recorder;  // events may end while the program does
  return *recorder;
}

}  // namespace

const char* ProfileCategoryName(ProfileCategory category) {
  switch (category) {
    case ProfileCategory::kForward:
      return "forward";
    case ProfileCategory::kBackward:
      return "backward";
    case ProfileCategory::kStep:
      return "step";
    case ProfileCategory::kBucket:
      return "bucket";
  }
  return "";
}

void StartProfile(int64_t max_events) { TheRecorder().Start(max_events); }
Profile StopProfile() { return TheRecorder().Stop(); }
bool IsProfiling() { return session.load(std::memory_order_relaxed) != 0; }

void AddProfileFlops(int64_t flops) {
  if (running_flops != nullptr) running_flops->fetch_add(flops, std::memory_order_relaxed);
}

std::atomic<int64_t>* RunningProfileFlops() { return running_flops; }

ScopedProfileFlops::ScopedProfileFlops(std::atomic<int64_t>* flops)
    : before_(std::exchange(running_flops, flops)) {}
ScopedProfileFlops::~ScopedProfileFlops() { running_flops = before_; }

void ScopedProfile::Begin(ProfileCategory category, absl::string_view name,
                          absl::string_view detail) {
  outer_flops_ = std::exchange(running_flops, &flops_);
  event_ = {.name = name, .detail = detail, .category = category, .start_ns = NowNs()};
}

void ScopedProfile::End() {
  event_.duration_ns = NowNs() - event_.start_ns;
  event_.flops = flops_.load(std::memory_order_relaxed);
  event_.thread = ThisThread();
  running_flops = outer_flops_;
  AddProfileFlops(event_.flops);
  TheRecorder().Record(session_, event_);
}

}  // namespace cooper
