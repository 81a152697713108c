#ifndef COOPER_NDARRAY_PARALLEL_H_
#define COOPER_NDARRAY_PARALLEL_H_

// Loops over several threads. The threads are OpenMP's, the same that oneDNN's products use, so
// that one pool serves both.

#include <cstdint>

#include "absl/functional/function_ref.h"

namespace cooper {

// Threads that loops and products may use, the caller among them. At least 1.
int NumThreads();
// `threads` < 1 means one per core. Takes effect on loops that start later on the calling thread.
void SetNumThreads(int threads);

// Calls fn(begin, end) for disjoint ranges that cover [0, n), on several threads if each then gets
// at least `grain` items, else on this one. The ranges depend on n, grain and NumThreads() only.
void ParallelFor(int64_t n, int64_t grain, absl::FunctionRef<void(int64_t, int64_t)> fn);

}  // namespace cooper

#endif  // COOPER_NDARRAY_PARALLEL_H_
