#include "ndarray/loop_team.h"

#include <atomic>
#include <thread>
#include <utility>

#include "ndarray/helper_balance.h"
#include "ndarray/in_loop.h"
#include "ndarray/profiler.h"
#include "ndarray/thread_tasks.h"
#include "oneapi/tbb/task_arena.h"
#include "oneapi/tbb/task_group.h"

namespace cooper::internal_parallel {
namespace {

void Pause() {
#ifdef __x86_64__
  __builtin_ia32_pause();
#endif
}

// It lives on the caller's stack: no task outlives Run.
class Team {
 public:
  Team(absl::FunctionRef<bool(int64_t)> run_one, absl::FunctionRef<bool()> is_done)
      : run_one_(run_one), is_done_(is_done) {}

  void Run(int64_t threads) {
    HelperBalance& balance = HelperBalance::OfThisThread();
    const int64_t start = HelperBalance::Now();
    if (!balance.Shares(start)) {
      Work(0);
      return;
    }
    tbb::task_group& group = TasksOfThisThread();
    ready_.store(true, std::memory_order_release);
    // Isolated, as a loop's wait is (parallel.cc).
    int64_t worked = 0;
    tbb::this_task_arena::isolate([this, threads, start, &worked, &group] {
      for (int64_t self = 1; self < threads; ++self) {
        running_.fetch_add(1, std::memory_order_relaxed);
        group.run(Task{this, self});
      }
      Work(0);
      worked = HelperBalance::Now() - start;
      group.wait();
    });
    // They are none by now, but the race detector does not know what wait() has ensured.
    while (running_.load(std::memory_order_acquire) > 0) {
    }
    const int64_t end = HelperBalance::Now();
    balance.Add({.own_pieces = own_pieces_,
                 .own_time = worked - waited_,
                 .others_pieces = others_pieces_.load(std::memory_order_relaxed),
                 .others_time = others_time_.load(std::memory_order_relaxed),
                 .waited = end - start - worked + waited_},
                end);
  }

 private:
  // Looks so often in vain, some microseconds, before it yields.
  static constexpr int kMostLooks = 256;
  // A thread that is not the caller leaves after so many yields: whoever was to make the next piece
  // ready does not run.
  static constexpr int kMostYields = 64;

  // A piece that throws ends the program: the others wait for it.
  void Work(int64_t self) noexcept {
    const ScopedProfileFlops scope(flops_);
    const bool was_in_loop = std::exchange(in_loop, true);
    int looks = 0, yields = 0;
    int64_t pieces = 0, waited = 0, waits_since = 0;
    const auto stop_waiting = [&] {
      if (waits_since > 0) waited += HelperBalance::Now() - std::exchange(waits_since, 0);
    };
    const int64_t start = self == 0 ? 0 : HelperBalance::Now();
    while (!is_done_()) {
      if (run_one_(self)) {
        ++pieces;
        stop_waiting();
        looks = yields = 0;
      } else if (++looks < kMostLooks) {
        Pause();
      } else if (self == 0 || ++yields < kMostYields) {
        // Reading the clock would take long beside the looks.
        if (waits_since == 0) waits_since = HelperBalance::Now();
        std::this_thread::yield();
      } else {
        break;
      }
    }
    in_loop = was_in_loop;
    stop_waiting();
    if (self == 0) {
      own_pieces_ = pieces;
      waited_ = waited;
    } else {
      others_pieces_.fetch_add(pieces, std::memory_order_relaxed);
      others_time_.fetch_add(HelperBalance::Now() - start - waited, std::memory_order_relaxed);
    }
  }

  // The race detector does not see how oneTBB, which it has not instrumented, hands a task over:
  // neither looks at it here, and Join says what is ordered by what.
  struct Task {
    Team* team;
    int64_t self;
    __attribute__((no_sanitize("thread"))) void operator()() const { team->Join(self); }
  };

  __attribute__((noinline)) void Join(int64_t self) {
    if (!ready_.load(std::memory_order_acquire)) return;  // never
    Work(self);
    running_.fetch_sub(1, std::memory_order_release);
  }

  const absl::FunctionRef<bool(int64_t)> run_one_;
  const absl::FunctionRef<bool()> is_done_;
  std::atomic<int64_t>* const flops_ = RunningProfileFlops();
  // The caller's: pieces that it has run, and nanoseconds that it has yielded for want of one.
  int64_t own_pieces_ = 0, waited_ = 0;
  alignas(64) std::atomic<bool> ready_ = false;
  std::atomic<int64_t> running_ = 0;
  std::atomic<int64_t> others_pieces_ = 0, others_time_ = 0;
};

}  // namespace

void RunTeam(int64_t threads, absl::FunctionRef<bool(int64_t)> run_one,
             absl::FunctionRef<bool()> is_done) {
  Team(run_one, is_done).Run(threads);
}

}  // namespace cooper::internal_parallel
