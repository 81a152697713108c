#ifndef COOPER_EXECUTOR_KERNELS_LAUNCH_PRODUCT_GRAIN_H_
#define COOPER_EXECUTOR_KERNELS_LAUNCH_PRODUCT_GRAIN_H_

// The grain of loops over batches of matrix products on the CPU, for dot and attention. row_grain.h
// has that of loops over rows.

#include <algorithm>
#include <cstdint>

#include "ndarray/threads/parallel.h"

namespace cooper {

// Returns the grain of ParallelForPlain over `count` matrix products of `multiplications`
// multiplications each, at least 1. If there are at least as many products as threads, the threads
// share them, at least about 65536 multiplications each. Fewer products run one after the other on
// the calling thread, so that each product can use all threads: within a parallel loop it would use
// one.
inline int64_t ProductGrain(int64_t count, int64_t multiplications) {
  const int64_t grain = count < NumThreads() ? count : 1 + 65536 / (multiplications + 1);
  return std::max<int64_t>(grain, 1);
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LAUNCH_PRODUCT_GRAIN_H_
