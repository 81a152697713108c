#ifndef COOPER_EXECUTOR_RUN_RANDOM_STATE_H_
#define COOPER_EXECUTOR_RUN_RANDOM_STATE_H_

#include <cstdint>

namespace cooper {

// Runs below this draw different numbers.
inline constexpr uint64_t kMaxRuns = uint64_t{1} << 40;

// What random operators draw from. Runs that share one continue each other's stream.
struct RandomState {
  uint64_t seed = 0;
  uint64_t runs = 0;  // forward runs so far, over all that share it
  // Which of several devices draws: those that work on parts of one batch draw different numbers.
  uint64_t replica = 0;
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_RUN_RANDOM_STATE_H_
