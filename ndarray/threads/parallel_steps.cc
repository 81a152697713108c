#include "ndarray/threads/parallel_steps.h"

#include <algorithm>
#include <atomic>

#include "absl/container/fixed_array.h"
#include "ndarray/threads/loop_team.h"
#include "ndarray/threads/parallel.h"
#include "ndarray/threads/run_shared.h"

namespace cooper {

namespace {

// Loops of more threads allocate their counters.
constexpr int64_t kThreadsOnStack = 64;

// The next step of a part, on a cache line of its own.
struct alignas(64) StepCounter {
  std::atomic<int64_t> next{0};
};

// The state of running steps.
class StepLoop {
 public:
  StepLoop(int64_t steps, int64_t n, int64_t parts,
           absl::FunctionRef<void(int64_t, int64_t, int64_t)> fn)
      : steps_(steps), n_(n), parts_(parts), fn_(fn), next_step_(parts) {}

  void Run() {
    internal_parallel::RunTeam(
        parts_, [this](int64_t self) { return RunOne(self); },
        [this] { return done_.load(std::memory_order_acquire) == steps_ * parts_; });
  }
  void RunAlone() {
    const internal_parallel::InLoop scope;
    for (int64_t step = 0; step < steps_; ++step) {
      for (int64_t part = 0; part < parts_; ++part) RunRange(step, part);
    }
  }

 private:
  // A thread begins with its own range, which it had in the previous step: the data may be in its
  // cache.
  bool RunOne(int64_t self) {
    for (int64_t i = 0; i < parts_; ++i) {
      if (RunPart((self + i) % parts_)) return true;
    }
    return false;
  }

  // Runs a part in its next step, if that step has begun and no other thread has claimed the part.
  bool RunPart(int64_t part) {
    std::atomic<int64_t>& next = next_step_[part].next;
    int64_t step = next.load(std::memory_order_relaxed);
    if (step == steps_ || done_.load(std::memory_order_acquire) < step * parts_) return false;
    if (!next.compare_exchange_strong(step, step + 1, std::memory_order_relaxed)) return false;
    RunRange(step, part);
    done_.fetch_add(1, std::memory_order_acq_rel);
    return true;
  }

  void RunRange(int64_t step, int64_t part) {
    fn_(step, n_ * part / parts_, n_ * (part + 1) / parts_);
  }

  const int64_t steps_;
  const int64_t n_;
  const int64_t parts_;
  const absl::FunctionRef<void(int64_t, int64_t, int64_t)> fn_;
  absl::FixedArray<StepCounter, kThreadsOnStack> next_step_;  // of each part
  alignas(64) std::atomic<int64_t> done_ = 0;                 // parts of all steps together
};

}  // namespace

void ParallelSteps(int64_t steps, int64_t n, int64_t grain,
                   absl::FunctionRef<void(int64_t, int64_t, int64_t)> fn) {
  if (n <= 0) return;
  const int64_t parts = internal_parallel::LoopThreads(n / std::max<int64_t>(grain, 1));
  if (parts == 1) {
    for (int64_t step = 0; step < steps; ++step) fn(step, 0, n);
    return;
  }
  StepLoop loop(steps, n, parts, fn);
  internal_parallel::SharesLoops() ? loop.Run() : loop.RunAlone();
}

}  // namespace cooper
