#include "ndarray/parallel_steps.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>

#include "absl/container/fixed_array.h"
#include "ndarray/in_loop.h"
#include "ndarray/parallel.h"
#include "ndarray/profiler.h"
#include "oneapi/tbb/task_arena.h"
#include "oneapi/tbb/task_group.h"

namespace cooper {

namespace {

using internal_parallel::in_loop;

// Steps of more threads allocate.
constexpr int64_t kThreadsOnStack = 64;

// The next step of a part; on a cache line of its own.
struct alignas(64) StepCounter {
  std::atomic<int64_t> next{0};
};

// Steps that are being run. It lives on the caller's stack: no task outlives Run.
class StepLoop {
 public:
  StepLoop(int64_t steps, int64_t n, int64_t parts,
           absl::FunctionRef<void(int64_t, int64_t, int64_t)> fn)
      : steps_(steps), n_(n), parts_(parts), fn_(fn), next_step_(parts) {}

  void Run() {
    // Kept, since making one takes as long as some steps. Steps of a thread do not overlap.
    thread_local tbb::task_group group;
    ready_.store(true, std::memory_order_release);
    // Isolated, as a loop's wait is (parallel.cc).
    tbb::this_task_arena::isolate([this, &group = group] {
      for (int64_t self = 1; self < parts_; ++self) {
        running_.fetch_add(1, std::memory_order_relaxed);
        group.run(Task{this, self});
      }
      Work(0);
      group.wait();
    });
    // They are none by now, but the race detector does not know what wait() has ensured.
    while (running_.load(std::memory_order_acquire) > 0) {
    }
  }

 private:
  // Looks so often in vain, some microseconds, before it yields.
  static constexpr int kMostLooks = 256;
  // A thread that is not the caller leaves after so many yields: whoever was to open the next step
  // does not run.
  static constexpr int kMostYields = 64;

  void Work(int64_t self) {
    const ScopedProfileFlops scope(flops_);
    const bool was_in_loop = std::exchange(in_loop, true);
    int looks = 0, yields = 0;
    while (done_.load(std::memory_order_acquire) < steps_ * parts_) {
      // Its own range first, which it had in the step before as well: the data may be near it.
      bool any = false;
      for (int64_t i = 0; i < parts_ && !any; ++i) any = RunPart((self + i) % parts_);
      if (any) {
        looks = yields = 0;
      } else if (++looks < kMostLooks) {
        Pause();
      } else if (self == 0 || ++yields < kMostYields) {
        std::this_thread::yield();
      } else {
        break;
      }
    }
    in_loop = was_in_loop;
  }

  // Runs a part in its next step, if that has begun and nobody has taken it.
  bool RunPart(int64_t part) {
    std::atomic<int64_t>& next = next_step_[part].next;
    int64_t step = next.load(std::memory_order_relaxed);
    if (step == steps_ || done_.load(std::memory_order_acquire) < step * parts_) return false;
    if (!next.compare_exchange_strong(step, step + 1, std::memory_order_relaxed)) return false;
    fn_(step, n_ * part / parts_, n_ * (part + 1) / parts_);
    done_.fetch_add(1, std::memory_order_acq_rel);
    return true;
  }

  static void Pause() {
#ifdef __x86_64__
    __builtin_ia32_pause();
#endif
  }

  // The race detector does not see how oneTBB, which it has not instrumented, hands a task over:
  // neither looks at it here, and Join says what is ordered by what.
  struct Task {
    StepLoop* loop;
    int64_t self;
    __attribute__((no_sanitize("thread"))) void operator()() const { loop->Join(self); }
  };

  __attribute__((noinline)) void Join(int64_t self) {
    if (!ready_.load(std::memory_order_acquire)) return;  // never
    Work(self);
    running_.fetch_sub(1, std::memory_order_release);
  }

  const int64_t steps_;
  const int64_t n_;
  const int64_t parts_;
  const absl::FunctionRef<void(int64_t, int64_t, int64_t)> fn_;
  std::atomic<int64_t>* const flops_ = RunningProfileFlops();
  absl::FixedArray<StepCounter, kThreadsOnStack> next_step_;  // of each part
  alignas(64) std::atomic<int64_t> done_ = 0;                 // parts of all steps together
  alignas(64) std::atomic<bool> ready_ = false;
  std::atomic<int64_t> running_ = 0;
};

}  // namespace

void ParallelSteps(int64_t steps, int64_t n, int64_t grain,
                   absl::FunctionRef<void(int64_t, int64_t, int64_t)> fn) {
  if (n <= 0) return;
  const int64_t parts =
      in_loop ? 1 : std::min<int64_t>(NumThreads(), n / std::max<int64_t>(grain, 1));
  if (parts > 1) return StepLoop(steps, n, parts, fn).Run();
  for (int64_t step = 0; step < steps; ++step) fn(step, 0, n);
}

}  // namespace cooper
