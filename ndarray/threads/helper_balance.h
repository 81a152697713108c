#ifndef COOPER_NDARRAY_THREADS_HELPER_BALANCE_H_
#define COOPER_NDARRAY_THREADS_HELPER_BALANCE_H_

// Decides whether a thread shares its loops with other threads. A loop is cut into pieces, which
// the caller and its helpers take one by one. On a busy machine the scheduler may preempt a helper
// in the middle of a piece, and the caller waits for it. HelperBalance compares such waits with the
// work that helpers have done: while helpers cost more than they gain, the caller runs its loops
// alone and idle workers sleep.

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace cooper::internal_parallel {

// Statistics of one shared loop. A range is a piece of the loop. Times are in nanoseconds of one
// steady clock.
struct SharedLoop {
  int64_t own_ranges = 0, own_time = 0;        // the caller's
  int64_t others_ranges = 0, others_time = 0;  // of all other threads together
  int64_t waited = 0;                          // the time that the caller waited for the others
  // Whether one of the others had page faults and took kStopped or longer.
  bool has_faults = false;

  // The time from which on a piece may have been preempted, about a scheduler slice.
  static constexpr int64_t kStopped = 2'000'000;

  // Returns the time that the caller would have needed for the others' pieces, as an estimate.
  int64_t gained() const {
    if (own_ranges == 0) return others_time;
    // The caller would have had these page faults itself: a first write to huge pages takes as long
    // as a scheduler slice on some virtual machines.
    if (has_faults) return others_time;
    // If the others took much longer than the caller for as many pieces, by about a scheduler
    // slice, one of them was preempted. Pieces of very different cost look the same; a thread's CPU
    // time would tell them apart, but reading it takes as long as a small piece.
    const int64_t expected = own_time * others_ranges / own_ranges;
    const bool stopped = others_time > std::max(2 * expected, expected + kStopped);
    return stopped ? expected : others_time;
  }
};

// While an instance lives, every loop of the process is shared: for tests of several threads.
class ShareAll {
 public:
  ShareAll() { ++Count(); }
  ~ShareAll() { --Count(); }
  ShareAll(const ShareAll&) = delete;
  ShareAll& operator=(const ShareAll&) = delete;

  static std::atomic<int>& Count();
};

// Sums the gain and the loss from the helpers of one thread, and decides when that thread runs
// alone. Not thread-safe.
class HelperBalance {
 public:
  // Returns the balance of the calling thread.
  static HelperBalance& OfThisThread();
  // Returns the time of the steady clock in nanoseconds.
  static int64_t Now();

  // Returns whether a loop that starts at `now` is to be shared.
  bool Shares(int64_t now) {
    if (ShareAll::Count().load(std::memory_order_relaxed) > 0) return true;
    if (now < alone_until_) return false;
    if (alone_until_ > 0) recent_ = total_ = alone_until_ = 0;
    return true;
  }

  // Accounts for a shared loop that ended at `now`.
  void Add(const SharedLoop& loop, int64_t now) {
    const int64_t net = loop.gained() - loop.waited;
    total_ += net;
    recent_ = std::min(recent_ + net, kMaxCredit);
    if (recent_ > -kMaxDebt) return;
    // The pause grows if the time since the last pause was a loss as a whole.
    pause_ = total_ < 0 ? std::min(4 * pause_, kMaxPause) : std::max(pause_ / 4, kMinPause);
    alone_until_ = now + pause_;
  }

  // Bounds of recent_ in nanoseconds. A scheduler slice is some milliseconds: the loss of one is a
  // signal regardless of earlier gains, so the credit is bounded.
  static constexpr int64_t kMaxCredit = 1'000'000;
  static constexpr int64_t kMaxDebt = 1'500'000;
  // Bounds of a pause. A pause should be long enough for oneTBB's workers to sleep: they look for
  // work a hundred times before that, and lose a slice each time that another process wants their
  // core.
  static constexpr int64_t kMinPause = 4'000'000;
  static constexpr int64_t kMaxPause = 2'048'000'000;

 private:
  int64_t recent_ = 0;  // gain minus loss, with earlier gains bounded by kMaxCredit
  int64_t total_ = 0;   // gain minus loss since the last pause
  int64_t pause_ = kMinPause / 4;
  int64_t alone_until_ = 0;  // end of the current pause; 0 if there is none
};

}  // namespace cooper::internal_parallel

#endif  // COOPER_NDARRAY_THREADS_HELPER_BALANCE_H_
