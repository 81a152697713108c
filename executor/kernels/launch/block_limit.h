#ifndef COOPER_EXECUTOR_KERNELS_LAUNCH_BLOCK_LIMIT_H_
#define COOPER_EXECUTOR_KERNELS_LAUNCH_BLOCK_LIMIT_H_

// Sizes of grids whose threads loop over more work than there are threads. Only work on millions of
// elements makes them loop, so tests limit the number of blocks instead. launch.h and launch_rows.h
// call BlocksFor for the usual grids; kernels with grids of their own call it directly. RunKernelOn
// (run_kernel.h) sets the limit, so every test that compares devices covers the loops. Host code
// only.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>

namespace cooper {

// The limit of BlocksFor, in blocks per axis of a grid. By default there is none. It is global to
// the process, because kernels choose their grids on whichever thread runs the program. Tests
// change it by ScopedBlockLimit; product code only reads it.
inline std::atomic<int64_t> block_limit = std::numeric_limits<int64_t>::max();

// Returns the number of blocks along one axis of a grid: the least of `work`, `most` and
// block_limit. `work` is the number of blocks that would make a loop unnecessary, and `most` is the
// limit of the axis or of the device. The result is 0 if `work` is 0, which CUDA rejects as a grid,
// so callers return before they launch nothing. A kernel whose grid comes from here must loop until
// all work is done: `for (item = blockIdx.x; item < work; item += gridDim.x)`. Thread-safe.
inline unsigned BlocksFor(int64_t work, int64_t most) {
  const int64_t limit = block_limit.load(std::memory_order_relaxed);
  return static_cast<unsigned>(std::min({work, most, limit}));
}

// Limits the grids of BlocksFor to `blocks` per axis during its lifetime, and restores the previous
// limit at its end. For tests, which may have one instance at a time. `blocks` is at least 1.
// Kernels that are launched before or after its lifetime keep the grids that they were launched
// with.
class ScopedBlockLimit {
 public:
  explicit ScopedBlockLimit(int64_t blocks) : before_(block_limit.exchange(blocks)) {}
  ~ScopedBlockLimit() { block_limit = before_; }
  ScopedBlockLimit(const ScopedBlockLimit&) = delete;
  ScopedBlockLimit& operator=(const ScopedBlockLimit&) = delete;

 private:
  const int64_t before_;
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LAUNCH_BLOCK_LIMIT_H_
