#ifndef COOPER_NDARRAY_THREADS_PARALLEL_H_
#define COOPER_NDARRAY_THREADS_PARALLEL_H_

// Runs loops over several threads: the caller's, and workers that all loops of the process share.
//
//   ParallelFor(rows, 16, [&](int64_t begin, int64_t end) { ... });
//
// A loop is cut into ranges. Each participating thread, the caller included, takes the next range,
// and the loop ends when all ranges are done, not when all threads have arrived. So a busy core
// delays a loop at most by the range that it has begun; where that costs more than helpers gain, a
// thread runs its loops alone for a while (helper_balance.h). The workers are oneTBB's, one per
// core except the caller's; several threads that run loops concurrently share them.

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "ndarray/threads/cpu_level.h"

namespace cooper {

// Returns the maximum number of threads, including itself, that loops and products of this thread
// use. At least 1. The default is $OMP_NUM_THREADS, or AvailableCpus() if that is not set.
int NumThreads();
// Sets NumThreads() for loops that start later on this thread. `threads` < 1 means AvailableCpus().
void SetNumThreads(int threads);

// Calls fn(begin, end) for disjoint ranges that cover [0, n), on several threads if each gets at
// least `grain` items, else on this one. The ranges depend only on n, grain and NumThreads(), not
// on the load of the machine; within a loop there is a single range. `fn` is compiled once, for any
// processor: use it to move elements rather than compute, or to call code that RunAtCpuLevel runs.
void ParallelForPlain(int64_t n, int64_t grain, absl::FunctionRef<void(int64_t, int64_t)> fn);

// Runs a loop as ParallelForPlain does, for expensive items: each thread's range is cut into a few
// pieces of at least `piece` items, which threads that have finished take over from slower ones.
// The ranges also depend on `piece`.
void ParallelForRanges(int64_t n, int64_t grain, int64_t piece,
                       absl::FunctionRef<void(int64_t, int64_t)> fn);

// Runs a loop as ParallelForPlain does, with `fn` compiled for each CpuLevel: for loops that
// compute.
template <typename Fn>
void ParallelFor(int64_t n, int64_t grain, const Fn& fn) {
  ParallelForPlain(n, grain, [&fn](int64_t begin, int64_t end) {
    RunAtCpuLevel([&fn, begin, end] { fn(begin, end); });
  });
}

namespace internal_parallel {

// Returns the number of threads for which a loop is cut: the smaller of `most` and NumThreads(),
// and 1 within a loop. The result does not depend on the load of the machine: rounding may depend
// on the ranges of a loop, and results must be equal in all runs.
int64_t LoopThreads(int64_t most);

// Returns whether a loop of several threads that starts now may use helpers. If not, the caller
// runs all of its ranges within an InLoop.
bool SharesLoops();

}  // namespace internal_parallel

}  // namespace cooper

#endif  // COOPER_NDARRAY_THREADS_PARALLEL_H_
