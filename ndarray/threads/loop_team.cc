#include "ndarray/threads/loop_team.h"

#include <thread>
#include <utility>

#include "ndarray/threads/helper_balance.h"
#include "ndarray/threads/run_shared.h"

namespace cooper::internal_parallel {
namespace {

// The number of unsuccessful polls, some microseconds, before a thread yields.
constexpr int kMaxLooks = 256;
// A helper leaves after this many yields: the thread that would make the next piece ready is not
// running.
constexpr int kMaxYields = 64;

void Pause() {
#ifdef __x86_64__
  __builtin_ia32_pause();
#endif
}

}  // namespace

void RunTeam(int64_t threads, absl::FunctionRef<bool(int64_t)> run_one,
             absl::FunctionRef<bool()> is_done) {
  RunShared(threads, [&](int64_t self) {
    Share share;
    int looks = 0, yields = 0;
    int64_t waits_since = 0;
    const auto stop_waiting = [&] {
      if (waits_since > 0) share.waited += HelperBalance::Now() - std::exchange(waits_since, 0);
    };
    while (!is_done()) {
      if (run_one(self)) {
        ++share.pieces;
        stop_waiting();
        looks = yields = 0;
      } else if (++looks < kMaxLooks) {
        Pause();
      } else if (self == 0 || ++yields < kMaxYields) {
        // Only here: reading the clock takes long in comparison with a poll.
        if (waits_since == 0) waits_since = HelperBalance::Now();
        std::this_thread::yield();
      } else {
        break;
      }
    }
    stop_waiting();
    return share;
  });
}

}  // namespace cooper::internal_parallel
