#ifndef COOPER_TESTS_CUDA_EMULATOR_PTX_LANES_H_
#define COOPER_TESTS_CUDA_EMULATOR_PTX_LANES_H_

// Iterates over the lanes of a warp. program.h describes the layout of registers in a frame.

#include <bit>
#include <cstdint>
#include <type_traits>

namespace cooper::ptx {

inline constexpr int kLanes = 32;
inline constexpr uint32_t kAllLanes = 0xffffffffu;

// The type that stores a lane of type T in a slot.
template <typename T>
using SlotOf = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

// Returns the value of a lane from its slot.
template <typename T>
T Unpack(SlotOf<T> slot) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(slot);
  } else if constexpr (sizeof(T) == 2) {
    return std::bit_cast<T>(static_cast<uint16_t>(slot));
  } else {
    return std::bit_cast<T>(slot);
  }
}

// Returns the slot content for a lane's value.
template <typename T>
SlotOf<T> Pack(T value) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<SlotOf<T>>(value);  // sign-extends
  } else if constexpr (sizeof(T) == 2) {
    return std::bit_cast<uint16_t>(value);
  } else {
    return std::bit_cast<SlotOf<T>>(value);
  }
}

// Calls f(lane) for the lanes of `mask`; in a plain loop, which can vectorise, if these are all
// lanes.
template <typename F>
inline void ForLanes(uint32_t mask, const F& f) {
  if (mask == kAllLanes) {
    for (int lane = 0; lane < kLanes; ++lane) f(lane);
    return;
  }
  for (; mask != 0; mask &= mask - 1) f(std::countr_zero(mask));
}

}  // namespace cooper::ptx

#endif  // COOPER_TESTS_CUDA_EMULATOR_PTX_LANES_H_
