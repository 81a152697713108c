#ifndef COOPER_NDARRAY_THREADS_HELPER_BALANCE_H_
#define COOPER_NDARRAY_THREADS_HELPER_BALANCE_H_

// Whether other threads are of help to the loops of this one. On a machine that is not alone, one
// of them may be stopped in the middle of a piece for as long as the scheduler gives another
// process, and the caller waits. What that has cost is weighed against what the others have done:
// while they cost, the caller runs its loops alone, and idle workers go to sleep.

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace cooper::internal_parallel {

// A loop that was shared. Times are in nanoseconds, on one steady clock.
struct SharedLoop {
  int64_t own_pieces = 0, own_time = 0;        // of the caller
  int64_t others_pieces = 0, others_time = 0;  // of all others together
  int64_t waited = 0;                          // the caller, for the others

  // The time that the caller would have needed for the others' pieces.
  int64_t gained() const {
    if (own_pieces == 0) return others_time;
    // Much more than as many pieces have taken the caller, and by a slice of the scheduler or so,
    // is the time of somebody who was stopped. Pieces that differ that much seem so, too; a
    // thread's CPU time, which tells them apart, takes as long to read as a small piece.
    constexpr int64_t kStopped = 2'000'000;
    const int64_t expected = own_time * others_pieces / own_pieces;
    const bool stopped = others_time > std::max(2 * expected, expected + kStopped);
    return stopped ? expected : others_time;
  }
};

// While one lives, every loop is shared: for tests of what several threads do.
class ShareAll {
 public:
  ShareAll() { ++Count(); }
  ~ShareAll() { --Count(); }
  ShareAll(const ShareAll&) = delete;
  ShareAll& operator=(const ShareAll&) = delete;

  static std::atomic<int>& Count();
};

class HelperBalance {
 public:
  // Of the calling thread.
  static HelperBalance& OfThisThread();
  // The time of the clock.
  static int64_t Now();

  // Whether a loop that starts now is to be shared.
  bool Shares(int64_t now) {
    if (ShareAll::Count().load(std::memory_order_relaxed) > 0) return true;
    if (now < alone_until_) return false;
    if (alone_until_ > 0) recent_ = total_ = alone_until_ = 0;
    return true;
  }

  void Add(const SharedLoop& loop, int64_t now) {
    const int64_t net = loop.gained() - loop.waited;
    total_ += net;
    recent_ = std::min(recent_ + net, kMostCredit);
    if (recent_ > -kMostDebt) return;
    // Longer than the last time, if all the time since then was lost on the whole.
    pause_ =
        total_ < 0 ? std::min(4 * pause_, kLongestPause) : std::max(pause_ / 4, kShortestPause);
    alone_until_ = now + pause_;
  }

  // A slice of the scheduler is some milliseconds: to have lost one is a sign, whatever was gained
  // long before.
  static constexpr int64_t kMostCredit = 1'000'000;
  static constexpr int64_t kMostDebt = 1'500'000;
  // oneTBB's workers look for work a hundred times before they sleep, and where somebody else wants
  // their core they lose a slice each time.
  static constexpr int64_t kShortestPause = 4'000'000;
  static constexpr int64_t kLongestPause = 2'048'000'000;

 private:
  int64_t recent_ = 0;  // gained less lost, without what is too long ago
  int64_t total_ = 0;   // since the caller was alone
  int64_t pause_ = kShortestPause / 4;
  int64_t alone_until_ = 0;  // 0: it is not
};

}  // namespace cooper::internal_parallel

#endif  // COOPER_NDARRAY_THREADS_HELPER_BALANCE_H_
