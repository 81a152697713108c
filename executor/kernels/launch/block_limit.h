#ifndef COOPER_EXECUTOR_KERNELS_LAUNCH_BLOCK_LIMIT_H_
#define COOPER_EXECUTOR_KERNELS_LAUNCH_BLOCK_LIMIT_H_

// Sizes of grids whose threads loop over more work than there are threads. Only work on millions of
// elements makes them loop, so tests limit the number of blocks instead.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>

namespace cooper {

// The limit of BlocksFor. Tests change it by ScopedBlockLimit.
inline std::atomic<int64_t> block_limit = std::numeric_limits<int64_t>::max();

// Returns the number of blocks along one axis of a grid: `work`, but at most `most` and
// block_limit.
inline unsigned BlocksFor(int64_t work, int64_t most) {
  const int64_t limit = block_limit.load(std::memory_order_relaxed);
  return static_cast<unsigned>(std::min({work, most, limit}));
}

// Limits the grids of BlocksFor to `blocks` per axis during its lifetime. For tests, which may have
// one instance at a time.
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
