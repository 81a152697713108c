#ifndef COOPER_EXECUTOR_KERNELS_LAUNCH_PRODUCT_GRAIN_H_
#define COOPER_EXECUTOR_KERNELS_LAUNCH_PRODUCT_GRAIN_H_

#include <algorithm>
#include <cstdint>

#include "ndarray/threads/parallel.h"

namespace cooper {

// Returns the grain of ParallelForPlain over `count` matrix products of `multiplications`
// multiplications each, at least 1. Many small products are shared between threads; few or large
// ones run one after the other, each on all threads.
inline int64_t ProductGrain(int64_t count, int64_t multiplications) {
  const int64_t grain = count < NumThreads() ? count : 1 + 65536 / (multiplications + 1);
  return std::max<int64_t>(grain, 1);
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LAUNCH_PRODUCT_GRAIN_H_
