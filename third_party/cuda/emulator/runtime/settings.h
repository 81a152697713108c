#ifndef COOPER_THIRD_PARTY_CUDA_EMULATOR_RUNTIME_SETTINGS_H_
#define COOPER_THIRD_PARTY_CUDA_EMULATOR_RUNTIME_SETTINGS_H_

// What the environment asks of the emulated runtime. Each member is read, once, from the variable
// COOPER_CUDA_EMULATOR_ and its name in capitals: COOPER_CUDA_EMULATOR_RACE_CHECK=1.

#include <cstdint>

namespace cooper::cuda_emulator {

struct Settings {
  int devices = 1;                // at most 16
  uint64_t memory = 80ull << 30;  // bytes of each device, after which allocations fail
  uint32_t seed = 0;              // another order of streams, blocks, warps, threads; 0: lock step
  bool race_check = false;        // accesses of one block that no barrier orders are an error
  bool unset_check = false;       // so is a read of shared memory that was not written
  uint64_t slice = 0;             // a warp gives way after so many instructions; 0: chosen
  uint64_t max_instructions = 0;  // of one launch, after which it fails; 0: no limit
  bool pageable_access = false;   // devices reach memory of the host that is not pinned
  bool strict_capture = false;    // work that a thread that captures puts elsewhere is an error
  bool lazy = false;              // work runs only when something waits for it
  bool launch_blocking = false;   // CUDA_LAUNCH_BLOCKING: each call waits for what it puts in
  bool trace = false;             // a line on stderr for each launch
  bool counters = false;          // what was done, on stderr, when the program ends
};

// Prints and ignores what is no number.
const Settings& GetSettings();

}  // namespace cooper::cuda_emulator

#endif  // COOPER_THIRD_PARTY_CUDA_EMULATOR_RUNTIME_SETTINGS_H_
