#ifndef COOPER_EXECUTOR_KERNELS_LAUNCH_BLOCK_LIMIT_H_
#define COOPER_EXECUTOR_KERNELS_LAUNCH_BLOCK_LIMIT_H_

// How many blocks a grid has whose threads loop over more work than there are of them. Only work of
// millions of elements makes them loop, which no test has: tests limit the blocks instead.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>

namespace cooper {

inline std::atomic<int64_t> block_limit = std::numeric_limits<int64_t>::max();

// Blocks along one axis of a grid: `work`, but at most `most`.
inline unsigned BlocksFor(int64_t work, int64_t most) {
  const int64_t limit = block_limit.load(std::memory_order_relaxed);
  return static_cast<unsigned>(std::min({work, most, limit}));
}

// While it lives no grid of BlocksFor has more than `blocks` along an axis. For tests, which have
// one at a time.
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
