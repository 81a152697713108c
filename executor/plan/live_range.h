#ifndef COOPER_EXECUTOR_PLAN_LIVE_RANGE_H_
#define COOPER_EXECUTOR_PLAN_LIVE_RANGE_H_

// What a value asks of the arena that its memory is planned in.

#include <cstdint>

namespace cooper {

// The arena begins at a multiple of this, and no offset has to be a multiple of more.
inline constexpr int64_t kArenaAlignment = 64;

// One value's claim: `size` bytes over the steps [first, last], both included.
struct LiveRange {
  int64_t size = 0;
  int first = 0;
  int last = 0;
  // Its offset is a multiple of this: a power of 2, at most kArenaAlignment.
  int64_t alignment = kArenaAlignment;
};

// `offset`, or the next multiple of `alignment` above it.
constexpr int64_t AlignUp(int64_t offset, int64_t alignment) {
  return (offset + alignment - 1) & -alignment;
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PLAN_LIVE_RANGE_H_
