#ifndef COOPER_EXECUTOR_RUN_RANDOM_STATE_H_
#define COOPER_EXECUTOR_RUN_RANDOM_STATE_H_

#include <cstdint>

namespace cooper {

// The number of forward runs of one seed. Up to this number, all runs draw different numbers.
inline constexpr uint64_t kMaxRuns = uint64_t{1} << 40;

// The state from which random operators draw. Forward runs that share a state draw different
// numbers. Not thread-safe. Equal states give equal numbers: saving seed and runs is enough to
// continue a training with the same draws.
struct RandomState {
  uint64_t seed = 0;
  uint64_t runs = 0;  // forward runs so far, over all that share it
  // The number of the device among those that work on parts of one batch, so that each draws
  // different numbers.
  uint64_t replica = 0;
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_RUN_RANDOM_STATE_H_
