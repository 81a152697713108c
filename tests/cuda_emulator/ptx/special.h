#ifndef COOPER_TESTS_CUDA_EMULATOR_PTX_SPECIAL_H_
#define COOPER_TESTS_CUDA_EMULATOR_PTX_SPECIAL_H_

// Special registers of PTX: what a thread can read about itself, its block and the machine.

#include <cstdint>
#include <optional>
#include <string_view>

namespace cooper::ptx {

// The special registers that the interpreter supports.
enum class Special : uint8_t {
  kTidX,
  kTidY,
  kTidZ,
  kNtidX,
  kNtidY,
  kNtidZ,
  kCtaidX,
  kCtaidY,
  kCtaidZ,
  kNctaidX,
  kNctaidY,
  kNctaidZ,
  kLaneid,
  kWarpid,
  kNwarpid,
  kLanemaskEq,
  kLanemaskLt,
  kLanemaskLe,
  kLanemaskGt,
  kLanemaskGe,
  kSmid,
  kNsmid,
  kGridid,
  kDynamicSharedBytes,
  kTotalSharedBytes,
  kClusterRank,  // one cluster per block: 0
  kClusterSize,  // 1
  kClock,        // instructions so far
  kClockHi,
  kClock64,  // 64 bits, as are those below
  kGlobaltimer,
  kGlobaltimerLo,
  kGlobaltimerHi,
};

// Returns the register of that name ("%tid.x").
std::optional<Special> SpecialOfName(std::string_view name);
int SizeOf(Special special);
// Returns whether it changes while a thread runs.
bool IsClock(Special special);

}  // namespace cooper::ptx

#endif  // COOPER_TESTS_CUDA_EMULATOR_PTX_SPECIAL_H_
