#ifndef COOPER_TESTS_CUDA_EMULATOR_HOST_DEVICE_WARP_H_
#define COOPER_TESTS_CUDA_EMULATOR_HOST_DEVICE_WARP_H_

// Shuffles and votes of a warp. All lanes of a mask must call with the same mask.

#include <cstdint>
#include <cstring>
#include <source_location>

#include "tests/cuda_emulator/host/thread.h"

namespace cooper::cuda_emulator {

// Returns the value of lane `from`, or the caller's own value if that lane is not `in_range`.
template <typename T>
T Shuffle(unsigned mask, T value, int from, bool in_range, std::source_location where) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "CUDA shuffles 4 or 8 bytes");
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  const uint64_t* all = ExchangeInWarp(mask, bits, where);
  if (!in_range) return value;
  if ((mask >> from & 1) == 0) FailThread("a shuffle from a lane that the mask leaves out", where);
  std::memcpy(&value, &all[from], sizeof(T));
  return value;
}

// Returns the lanes of the mask whose value is not zero.
inline unsigned Ballot(unsigned mask, bool value, std::source_location where) {
  const uint64_t* all = ExchangeInWarp(mask, value, where);
  unsigned lanes = 0;
  for (int lane = 0; lane < 32; ++lane) {
    if ((mask >> lane & 1) != 0 && all[lane] != 0) lanes |= 1u << lane;
  }
  return lanes;
}

}  // namespace cooper::cuda_emulator

inline void __syncwarp(unsigned mask = ~0u,
                       std::source_location where = std::source_location::current()) {
  ::cooper::cuda_emulator::ExchangeInWarp(mask, 0, where);
}

// Shuffles within each group of `width` lanes, a power of two.
template <typename T>
T __shfl_sync(unsigned mask, T value, int lane, int width = 32,
              std::source_location where = std::source_location::current()) {
  const int own = ::cooper::cuda_emulator::LaneIndex();
  const int from = (own & ~(width - 1)) | (lane & (width - 1));
  return ::cooper::cuda_emulator::Shuffle(mask, value, from, true, where);
}

template <typename T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32,
                 std::source_location where = std::source_location::current()) {
  const int own = ::cooper::cuda_emulator::LaneIndex();
  const int from = own - static_cast<int>(delta);
  return ::cooper::cuda_emulator::Shuffle(mask, value, from, from >= (own & ~(width - 1)), where);
}

template <typename T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32,
                   std::source_location where = std::source_location::current()) {
  const int own = ::cooper::cuda_emulator::LaneIndex();
  const int from = own + static_cast<int>(delta);
  return ::cooper::cuda_emulator::Shuffle(mask, value, from, from <= (own | (width - 1)), where);
}

template <typename T>
T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32,
                  std::source_location where = std::source_location::current()) {
  const int own = ::cooper::cuda_emulator::LaneIndex();
  const int from = own ^ lanes;
  return ::cooper::cuda_emulator::Shuffle(mask, value, from, from <= (own | (width - 1)), where);
}

inline unsigned __ballot_sync(unsigned mask, int value,
                              std::source_location where = std::source_location::current()) {
  return ::cooper::cuda_emulator::Ballot(mask, value != 0, where);
}

inline int __any_sync(unsigned mask, int value,
                      std::source_location where = std::source_location::current()) {
  return ::cooper::cuda_emulator::Ballot(mask, value != 0, where) != 0 ? 1 : 0;
}

inline int __all_sync(unsigned mask, int value,
                      std::source_location where = std::source_location::current()) {
  return ::cooper::cuda_emulator::Ballot(mask, value == 0, where) == 0 ? 1 : 0;
}

#endif  // COOPER_TESTS_CUDA_EMULATOR_HOST_DEVICE_WARP_H_
