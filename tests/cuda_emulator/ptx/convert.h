#ifndef COOPER_TESTS_CUDA_EMULATOR_PTX_CONVERT_H_
#define COOPER_TESTS_CUDA_EMULATOR_PTX_CONVERT_H_

// The conversion of one value by cvt.

#include <cstdint>

#include "tests/cuda_emulator/ptx/rounding.h"
#include "tests/cuda_emulator/ptx/types.h"

namespace cooper::ptx {

// Types, rounding and saturation of a conversion.
struct Conversion {
  Type to = Type::kNone;
  Type from = Type::kNone;
  Rounding rounding = Rounding::kNearest;
  bool to_integer = false;  // between floats: to an integral value
  bool ftz = false;
  bool sat = false;
  bool relu = false;
  bool satfinite = false;

  // Packs the conversion into Instr::value.
  uint64_t Encode() const {
    return static_cast<uint64_t>(to) | static_cast<uint64_t>(from) << 8 |
           static_cast<uint64_t>(rounding) << 16 | uint64_t{to_integer} << 24 |
           uint64_t{ftz} << 25 | uint64_t{sat} << 26 | uint64_t{relu} << 27 |
           uint64_t{satfinite} << 28;
  }
  // Returns the conversion that Encode() packed.
  static Conversion Decode(uint64_t bits) {
    const auto flag = [bits](int at) { return (bits >> at & 1) != 0; };
    return {static_cast<Type>(bits & 0xff),
            static_cast<Type>(bits >> 8 & 0xff),
            static_cast<Rounding>(bits >> 16 & 0xff),
            flag(24),
            flag(25),
            flag(26),
            flag(27),
            flag(28)};
  }
};

// Returns the bits of the result, extended to 64 bits. The upper bits of `value` are ignored. The
// host's rounding mode must be the conversion's (nearest for kNearestAway).
//
// From floats to integers, numbers out of range are clamped. NaN becomes 0, or the highest bit
// alone if either type has 64 bits.
uint64_t ConvertValue(const Conversion& conversion, uint64_t value);

}  // namespace cooper::ptx

#endif  // COOPER_TESTS_CUDA_EMULATOR_PTX_CONVERT_H_
