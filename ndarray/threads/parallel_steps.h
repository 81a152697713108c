#ifndef COOPER_NDARRAY_THREADS_PARALLEL_STEPS_H_
#define COOPER_NDARRAY_THREADS_PARALLEL_STEPS_H_

// Loops that follow each other quickly, over the threads of parallel.h.

#include <cstdint>

#include "absl/functional/function_ref.h"

namespace cooper {

// `steps` loops, each of which begins when the one before is done: calls fn(step, begin, end) for
// disjoint ranges that cover [0, n) in each step. For steps of microseconds, for which starting a
// loop each would take too long: threads that have come look for the next step's ranges themselves,
// for a few microseconds, before they let others run. The caller waits for nobody that has not
// come, and a thread that finds nothing for long does not come back. The ranges are as those of
// ParallelFor.
void ParallelSteps(int64_t steps, int64_t n, int64_t grain,
                   absl::FunctionRef<void(int64_t step, int64_t begin, int64_t end)> fn);

}  // namespace cooper

#endif  // COOPER_NDARRAY_THREADS_PARALLEL_STEPS_H_
