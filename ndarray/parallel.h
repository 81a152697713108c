#ifndef COOPER_NDARRAY_PARALLEL_H_
#define COOPER_NDARRAY_PARALLEL_H_

// Loops over several threads. The threads are OpenMP's, the same that oneDNN's products use, so
// that one pool serves both.

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "ndarray/cpu_level.h"

namespace cooper {

// Threads that loops and products may use, the caller among them. At least 1.
int NumThreads();
// `threads` < 1 means one per core. Takes effect on loops that start later on the calling thread.
void SetNumThreads(int threads);

// Calls fn(begin, end) for disjoint ranges that cover [0, n), on several threads if each then gets
// at least `grain` items, else on this one. The ranges depend on n, grain and NumThreads() only; a
// thread that starts late may find that another has taken over its range.
// `fn` is compiled once, for any processor: it moves elements rather than computes with them, or
// calls what RunAtCpuLevel runs.
void ParallelForPlain(int64_t n, int64_t grain, absl::FunctionRef<void(int64_t, int64_t)> fn);

// The same for what takes long: each thread's range is cut into a few of at least `piece` items,
// which a thread that is done with its own takes over from a slower one, whose core has other
// things to do as well. The ranges depend on n, grain, piece and NumThreads() only.
void ParallelForPieces(int64_t n, int64_t grain, int64_t piece,
                       absl::FunctionRef<void(int64_t, int64_t)> fn);

// ParallelForPlain with `fn` compiled for each CpuLevel: for loops that compute.
template <typename Fn>
void ParallelFor(int64_t n, int64_t grain, const Fn& fn) {
  ParallelForPlain(n, grain, [&fn](int64_t begin, int64_t end) {
    RunAtCpuLevel([&fn, begin, end] { fn(begin, end); });
  });
}

// Runs the parts of loops somewhere else than on OpenMP's threads: on those of a program that has
// threads of its own running, beside which OpenMP's would only be in the way.
class LoopRunner {
 public:
  // The most parts that are run at the same time.
  virtual int max_parts() const = 0;
  // Calls part(i) for each i in [0, parts), where parts <= max_parts(), and returns when all are
  // done.
  virtual void RunParts(int parts, absl::FunctionRef<void(int)> part) = 0;

 protected:
  ~LoopRunner() = default;
};

// While one lives, the loops of this thread go to `runner` (not owned).
class ScopedLoopRunner {
 public:
  explicit ScopedLoopRunner(LoopRunner* runner);
  ~ScopedLoopRunner();
  ScopedLoopRunner(const ScopedLoopRunner&) = delete;
  ScopedLoopRunner& operator=(const ScopedLoopRunner&) = delete;

 private:
  LoopRunner* const before_;
};

}  // namespace cooper

#endif  // COOPER_NDARRAY_PARALLEL_H_
