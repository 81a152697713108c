#ifndef COOPER_EXECUTOR_RUN_RANDOM_STATE_H_
#define COOPER_EXECUTOR_RUN_RANDOM_STATE_H_

#include <cstdint>

namespace cooper {

// Runs below this draw different numbers.
inline constexpr uint64_t kMaxRuns = uint64_t{1} << 40;

// The state from which random operators draw. All forward runs that share a state draw different
// numbers.
struct RandomState {
  uint64_t seed = 0;
  uint64_t runs = 0;  // forward runs so far, over all that share it
  // Which of several devices draws: those that work on parts of one batch draw different numbers.
  uint64_t replica = 0;
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_RUN_RANDOM_STATE_H_
