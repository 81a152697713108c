#include "ndarray/parallel.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <utility>
#include <vector>

#include "absl/container/fixed_array.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "ndarray/available_cpus.h"
#include "ndarray/helper_balance.h"
#include "ndarray/in_loop.h"
#include "ndarray/profiler.h"
#include "ndarray/thread_tasks.h"
#include "oneapi/tbb/task_arena.h"
#include "oneapi/tbb/task_group.h"

namespace cooper {

namespace internal_parallel {
thread_local bool in_loop = false;
}  // namespace internal_parallel

namespace {

using internal_parallel::HelperBalance;
using internal_parallel::in_loop;

// More pieces lose more by starting than they gain by evening out.
constexpr int64_t kMaxPiecesPerThread = 4;
// A loop of more threads allocates.
constexpr int64_t kThreadsOnStack = 64;

// MXNet's users set this; every other library that shares the machine reads it, too.
int DefaultThreads() {
  const char* text = std::getenv("OMP_NUM_THREADS");
  if (text == nullptr) return AvailableCpus();
  // A list says what loops within loops get, which is nothing here.
  const std::vector<absl::string_view> levels = absl::StrSplit(text, ',');
  int threads = 0;
  return absl::SimpleAtoi(levels[0], &threads) && threads > 0 ? threads : AvailableCpus();
}

int& ThreadsOfThisThread() {
  static const int default_threads = DefaultThreads();
  thread_local int threads = default_threads;
  return threads;
}

// The next of a thread's own pieces; on a cache line of its own.
struct alignas(64) PieceCounter {
  std::atomic<int64_t> next{0};
};

// A loop that is being run. It lives on the caller's stack: no task outlives Run.
class Loop {
 public:
  Loop(int64_t n, int64_t parts, int64_t own, absl::FunctionRef<void(int64_t, int64_t)> fn)
      : n_(n), parts_(parts), own_(own), fn_(fn), counters_(parts) {}

  void Run() {
    HelperBalance& balance = HelperBalance::OfThisThread();
    const int64_t start = HelperBalance::Now();
    if (!balance.Shares(start)) {
      RunPieces(0);
      return;
    }
    int64_t worked = 0;
    group_ = &internal_parallel::TasksOfThisThread();
    ready_.store(true, std::memory_order_release);
    // Isolated: the caller may be a task of oneTBB's itself, and waiting must not begin another of
    // its kind, which would run another kernel in the middle of this one.
    tbb::this_task_arena::isolate([this, start, &worked] {
      Enter(0);
      worked = HelperBalance::Now() - start;
      // Runs the tasks that no worker has begun, which find nothing to do, and waits for the
      // others.
      group_->wait();
    });
    // They are none by now, but the race detector does not know what wait() has ensured.
    while (running_.load(std::memory_order_acquire) > 0) {
    }
    const int64_t end = HelperBalance::Now();
    balance.Add({.own_pieces = own_pieces_,
                 .own_time = worked,
                 .others_pieces = parts_ * own_ - own_pieces_,
                 .others_time = others_time_.load(std::memory_order_relaxed),
                 .waited = end - start - worked},
                end);
  }

 private:
  // Lets two more threads in before it works, so that many are there soon.
  void Enter(int64_t self) {
    for (int64_t other : {2 * self + 1, 2 * self + 2}) {
      if (other >= parts_) break;
      running_.fetch_add(1, std::memory_order_relaxed);
      group_->run(Task{this, other});
    }
    RunPieces(self);
  }

  // A piece that throws ends the program: helpers are in the loop, which is on the caller's stack.
  void RunPieces(int64_t self) noexcept {
    const ScopedProfileFlops scope(flops_);
    const bool was_in_loop = std::exchange(in_loop, true);
    int64_t pieces = 0;
    // A thread's own pieces first, which it had the last time as well: their data may be near it.
    for (int64_t i = 0; i < parts_; ++i) pieces += RunPiecesOf((self + i) % parts_);
    in_loop = was_in_loop;
    if (self == 0) own_pieces_ = pieces;
  }

  // Returns how many were left.
  int64_t RunPiecesOf(int64_t owner) {
    std::atomic<int64_t>& next = counters_[owner].next;
    const int64_t pieces = parts_ * own_;
    int64_t run = 0;
    // Looked at before it is written: mostly there is nothing left.
    while (next.load(std::memory_order_relaxed) < own_) {
      const int64_t k = next.fetch_add(1, std::memory_order_relaxed);
      if (k >= own_) break;
      const int64_t at = owner * own_ + k;
      fn_(n_ * at / pieces, n_ * (at + 1) / pieces);
      ++run;
    }
    return run;
  }

  // The race detector does not see how oneTBB, which it has not instrumented, hands a task over:
  // neither looks at it here, and Join says what is ordered by what.
  struct Task {
    Loop* loop;
    int64_t self;
    __attribute__((no_sanitize("thread"))) void operator()() const { loop->Join(self); }
  };

  __attribute__((noinline)) void Join(int64_t self) {
    if (!ready_.load(std::memory_order_acquire)) return;  // never
    const int64_t start = HelperBalance::Now();
    Enter(self);
    others_time_.fetch_add(HelperBalance::Now() - start, std::memory_order_relaxed);
    running_.fetch_sub(1, std::memory_order_release);
  }

  const int64_t n_;
  const int64_t parts_;
  const int64_t own_;  // pieces of each thread
  const absl::FunctionRef<void(int64_t, int64_t)> fn_;
  std::atomic<int64_t>* const flops_ = RunningProfileFlops();
  absl::FixedArray<PieceCounter, kThreadsOnStack> counters_;
  int64_t own_pieces_ = 0;  // that the caller has run
  tbb::task_group* group_ = nullptr;
  std::atomic<bool> ready_ = false;
  std::atomic<int64_t> running_ = 0;
  std::atomic<int64_t> others_time_ = 0;  // nanoseconds
};

}  // namespace

#ifdef __SANITIZE_THREAD__
// What oneTBB's headers share with its library, which the race detector does not look into, and
// what the library itself fills with memset. Where its functions are inlined only their path tells
// them, for which a build needs numbers of lines (-g1).
extern "C" const char* __tsan_default_suppressions() {
  return "race_top:oneapi/tbb/\nrace_top:tbb::detail::\ncalled_from_lib:libtbb.so\n";
}
#endif

int NumThreads() { return ThreadsOfThisThread(); }

void SetNumThreads(int threads) { ThreadsOfThisThread() = threads < 1 ? AvailableCpus() : threads; }

void ParallelForPieces(int64_t n, int64_t grain, int64_t piece,
                       absl::FunctionRef<void(int64_t, int64_t)> fn) {
  if (n <= 0) return;
  const int64_t parts =
      in_loop ? 1 : std::min<int64_t>(NumThreads(), n / std::max<int64_t>(grain, 1));
  if (parts <= 1) {
    fn(0, n);
    return;
  }
  const int64_t own =
      std::clamp<int64_t>(n / (parts * std::max<int64_t>(piece, 1)), 1, kMaxPiecesPerThread);
  Loop(n, parts, own, fn).Run();
}

void ParallelForPlain(int64_t n, int64_t grain, absl::FunctionRef<void(int64_t, int64_t)> fn) {
  ParallelForPieces(n, grain, n, fn);
}

}  // namespace cooper
