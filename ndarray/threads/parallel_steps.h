#ifndef COOPER_NDARRAY_THREADS_PARALLEL_STEPS_H_
#define COOPER_NDARRAY_THREADS_PARALLEL_STEPS_H_

// Runs short loops that follow each other, over the threads of parallel.h.

#include <cstdint>

#include "absl/functional/function_ref.h"

namespace cooper {

// Runs `steps` loops, each of which begins when the previous one is done: calls fn(step, begin,
// end) for disjoint ranges that cover [0, n) in each step. For steps of microseconds, where
// starting a loop for each would take too long: participating threads poll for the next step's
// ranges for a few microseconds before they yield. The caller never waits for a thread that has not
// arrived, and a thread that finds nothing for long leaves for good. The ranges are those of
// ParallelFor.
void ParallelSteps(int64_t steps, int64_t n, int64_t grain,
                   absl::FunctionRef<void(int64_t step, int64_t begin, int64_t end)> fn);

}  // namespace cooper

#endif  // COOPER_NDARRAY_THREADS_PARALLEL_STEPS_H_
