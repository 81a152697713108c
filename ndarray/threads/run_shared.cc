#include "ndarray/threads/run_shared.h"

#include <sys/resource.h>

#include <atomic>
#include <utility>

#include "ndarray/threads/helper_balance.h"
#include "ndarray/threads/profiler.h"
#include "ndarray/threads/subnormals.h"
#include "oneapi/tbb/task_arena.h"
#include "oneapi/tbb/task_group.h"

namespace cooper::internal_parallel {

thread_local bool in_loop = false;

namespace {

// Returns the task group of the calling thread. It is kept, since creating a group takes as long as
// a small loop, and loops of one thread do not overlap. The context is isolated: if it were bound
// to that of a caller that is itself a oneTBB task, it would be cancelled with that task, and the
// helpers that a loop waits for would never run.
tbb::task_group& TasksOfThisThread() {
  thread_local tbb::task_group_context context(tbb::task_group_context::isolated);
  thread_local tbb::task_group group(context);
  return group;
}

// Returns whether the calling thread has had page faults since its last call, or since it started.
bool HadPageFaults() {
  thread_local int64_t known = 0;
  rusage usage;
  if (getrusage(RUSAGE_THREAD, &usage) != 0) return false;
  const int64_t faults = usage.ru_minflt + usage.ru_majflt;
  return std::exchange(known, faults) != faults;
}

// One shared call of `work`. Lives on the caller's stack: no task outlives Run.
class SharedRun {
 public:
  SharedRun(int64_t threads, absl::FunctionRef<Share(int64_t)> work)
      : threads_(threads), work_(work) {}

  void Run() {
    const int64_t start = HelperBalance::Now();
    Share own;
    int64_t worked = 0;
    ready_.store(true, std::memory_order_release);
    // Isolated: the caller may itself be a oneTBB task. While it waits, it must not start an
    // unrelated oneTBB task, which would run another kernel in the middle of this one.
    tbb::this_task_arena::isolate([&] {
      own = Enter(0);
      worked = HelperBalance::Now() - start;
      // Runs the tasks that no worker has begun, which find no work, and waits for the others.
      group_.wait();
    });
    // No task is running here, but the race detector does not see the synchronization of wait().
    while (running_.load(std::memory_order_acquire) > 0) {
    }
    const int64_t end = HelperBalance::Now();
    HelperBalance::OfThisThread().Add(
        {.own_ranges = own.pieces,
         .own_time = worked - own.waited,
         .others_ranges = others_ranges_.load(std::memory_order_relaxed),
         .others_time = others_time_.load(std::memory_order_relaxed),
         .waited = end - start - worked + own.waited,
         .has_faults = has_faults_.load(std::memory_order_relaxed)},
        end);
  }

 private:
  // Starts two more threads before it works, so that the number of threads doubles quickly.
  Share Enter(int64_t self) noexcept {
    for (int64_t other : {2 * self + 1, 2 * self + 2}) {
      if (other >= threads_) break;
      running_.fetch_add(1, std::memory_order_relaxed);
      group_.run(Task{this, other});
    }
    const ScopedProfileFlops scope(flops_);
    const InLoop scope_of_loop;
    return work_(self);
  }

  // The race detector does not see how oneTBB, which is not instrumented, hands over a task. So
  // this function is excluded from its checks, and Join synchronizes explicitly.
  struct Task {
    SharedRun* run;
    int64_t self;
    __attribute__((no_sanitize("thread"))) void operator()() const { run->Join(self); }
  };

  __attribute__((noinline)) void Join(int64_t self) {
    if (!ready_.load(std::memory_order_acquire)) return;  // never taken: synchronizes with Run
    const int64_t start = HelperBalance::Now();
    const ScopedSubnormals subnormals(flush_bits_);
    const Share share = Enter(self);
    const int64_t time = HelperBalance::Now() - start - share.waited;
    others_ranges_.fetch_add(share.pieces, std::memory_order_relaxed);
    others_time_.fetch_add(time, std::memory_order_relaxed);
    // Asks the kernel only where the answer matters: it takes as long as a small piece.
    if (time >= SharedLoop::kStopped && HadPageFaults()) {
      has_faults_.store(true, std::memory_order_relaxed);
    }
    running_.fetch_sub(1, std::memory_order_release);
  }

  const int64_t threads_;
  const absl::FunctionRef<Share(int64_t)> work_;
  std::atomic<int64_t>* const flops_ = RunningProfileFlops();
  const uint32_t flush_bits_ = internal_subnormals::ThreadFlushBits();
  tbb::task_group& group_ = TasksOfThisThread();
  alignas(64) std::atomic<bool> ready_ = false;
  std::atomic<int64_t> running_ = 0;
  std::atomic<int64_t> others_ranges_ = 0, others_time_ = 0;
  std::atomic<bool> has_faults_ = false;
};

}  // namespace

void RunShared(int64_t threads, absl::FunctionRef<Share(int64_t)> work) {
  SharedRun(threads, work).Run();
}

#ifdef __SANITIZE_THREAD__
// Suppresses the memory that oneTBB's headers share with its uninstrumented library, and that the
// library fills with memset. Inlined functions are recognised only by the path of their source, for
// which a build needs line numbers (-g1).
extern "C" const char* __tsan_default_suppressions() {
  return "race_top:oneapi/tbb/\nrace_top:tbb::detail::\ncalled_from_lib:libtbb.so\n";
}
#endif

}  // namespace cooper::internal_parallel
