#ifndef COOPER_NDARRAY_THREADS_PARALLEL_H_
#define COOPER_NDARRAY_THREADS_PARALLEL_H_

// Loops over several threads: the caller's, and workers that all loops of the process share.
//
//   ParallelFor(rows, 16, [&](int64_t begin, int64_t end) { ... });
//
// A loop is cut into ranges. Whoever runs takes the next one, the caller too, and the loop ends
// when all ranges are done: not when all threads have come. So a core that has other things to do
// makes a loop no slower than it is without that core, but for the range that was begun there;
// where that costs more than it gains, a thread runs its loops alone for a while
// (helper_balance.h). The workers are oneTBB's, one per core but the caller's; several threads that
// run loops at the same time share them.

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "ndarray/threads/cpu_level.h"

namespace cooper {

// The most threads that loops and products of this thread use, itself among them. At least 1; until
// it is set, $OMP_NUM_THREADS or else AvailableCpus().
int NumThreads();
// For loops that start later on this thread. `threads` < 1 means one per core: AvailableCpus().
void SetNumThreads(int threads);

// Calls fn(begin, end) for disjoint ranges that cover [0, n), on several threads if each then gets
// at least `grain` items, else on this one. The ranges depend on n, grain and NumThreads() alone,
// not on who runs them or how busy the machine is; within a loop there is one. `fn` is compiled
// once, for any processor: it moves elements rather than computes with them, or calls what
// RunAtCpuLevel runs.
void ParallelForPlain(int64_t n, int64_t grain, absl::FunctionRef<void(int64_t, int64_t)> fn);

// The same for what takes long: each thread's range is cut into a few of at least `piece` items,
// which a thread that is done with its own takes over from a slower one. The ranges depend on
// `piece`, too.
void ParallelForPieces(int64_t n, int64_t grain, int64_t piece,
                       absl::FunctionRef<void(int64_t, int64_t)> fn);

// ParallelForPlain with `fn` compiled for each CpuLevel: for loops that compute.
template <typename Fn>
void ParallelFor(int64_t n, int64_t grain, const Fn& fn) {
  ParallelForPlain(n, grain, [&fn](int64_t begin, int64_t end) {
    RunAtCpuLevel([&fn, begin, end] { fn(begin, end); });
  });
}

namespace internal_parallel {

// How many threads a loop is cut for: up to `most`, up to NumThreads(), and one within a loop.
// Rounding may depend on the ranges of a loop, so nothing that changes from run to run decides.
int64_t LoopThreads(int64_t most);

// Whether a loop of several threads that starts now is to let others in. If not, the caller runs
// all of its ranges within an InLoop.
bool SharesLoops();

}  // namespace internal_parallel

}  // namespace cooper

#endif  // COOPER_NDARRAY_THREADS_PARALLEL_H_
