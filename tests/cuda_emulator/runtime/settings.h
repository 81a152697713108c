#ifndef COOPER_TESTS_CUDA_EMULATOR_RUNTIME_SETTINGS_H_
#define COOPER_TESTS_CUDA_EMULATOR_RUNTIME_SETTINGS_H_

// Settings of the emulated runtime. Each member is read, once, from the environment variable
// COOPER_CUDA_EMULATOR_ plus its name in capitals: COOPER_CUDA_EMULATOR_RACE_CHECK=1.

#include <cstdint>

namespace cooper::cuda_emulator {

// The values of the settings. The emulator's README.md describes each variable.
struct Settings {
  int devices = 1;                // at most 16
  uint64_t memory = 80ull << 30;  // bytes of each device; further allocations fail
  uint32_t seed = 0;              // order of streams, blocks, warps, threads; 0: lock step
  bool race_check = false;        // report accesses of one block that no barrier orders
  bool unset_check = false;       // report reads of shared memory that was not written
  uint64_t slice = 0;             // instructions after which a warp yields; 0: default
  uint64_t max_instructions = 0;  // of one launch, which then fails; 0: no limit
  bool pageable_access = false;   // devices access pageable host memory
  bool strict_capture = false;    // report work that a capturing thread queues on another stream
  bool lazy = false;              // run work only when something waits for it
  bool launch_blocking =
      false;              // CUDA_LAUNCH_BLOCKING: each call waits for the work that it queues
  bool trace = false;     // print a line to stderr for each launch
  bool counters = false;  // print counters to stderr when the program ends
};

// Returns the settings. Prints a message for a value that is not a number, and ignores it.
const Settings& GetSettings();

}  // namespace cooper::cuda_emulator

#endif  // COOPER_TESTS_CUDA_EMULATOR_RUNTIME_SETTINGS_H_
