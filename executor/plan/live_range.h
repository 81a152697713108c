#ifndef COOPER_EXECUTOR_PLAN_LIVE_RANGE_H_
#define COOPER_EXECUTOR_PLAN_LIVE_RANGE_H_

// The live range of a value: the bytes, steps and alignment that the memory planner needs.

#include <cstdint>

namespace cooper {

// Alignment of the arena itself, and the largest alignment of an offset. In bytes.
inline constexpr int64_t kArenaAlignment = 64;

// A value that takes `size` bytes over the steps [first, last], both included. Two ranges may share
// memory if the steps of one end before those of the other begin. Steps are positions in the
// execution order.
struct LiveRange {
  int64_t size = 0;
  int first = 0;
  int last = 0;
  // The offset must be a multiple of this: a power of 2, at most kArenaAlignment.
  int64_t alignment = kArenaAlignment;
};

// Returns the smallest multiple of `alignment`, a power of 2, that is not below `offset`.
constexpr int64_t AlignUp(int64_t offset, int64_t alignment) {
  return (offset + alignment - 1) & -alignment;
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PLAN_LIVE_RANGE_H_
