#ifndef COOPER_TESTS_CUDA_EMULATOR_PTX_ROUNDING_H_
#define COOPER_TESTS_CUDA_EMULATOR_PTX_ROUNDING_H_

// Rounding of floating-point numbers: PTX selects a mode for each instruction, the host for each
// thread.

#include <bit>
#include <cstdint>

#include "tests/cuda_emulator/ptx/modifiers.h"

namespace cooper::ptx {

// The rounding modes of PTX.
enum class Rounding : uint8_t {
  kNearest,  // ties to even
  kZero,
  kDown,
  kUp,
  kNearestAway,  // ties away from zero
};

// Takes rn, rz, rm, rp or rna; returns `otherwise` if there is none.
Rounding TakeRounding(Modifiers& mods, Rounding otherwise = Rounding::kNearest);
// Takes rni, rzi, rmi or rpi; returns false if there is none.
bool TakeIntegerRounding(Modifiers& mods, Rounding& rounding);

// Sets the host's rounding mode during its lifetime. Does not support kNearestAway. Operands and
// results must pass through Opaque(), because compilers assume that operations do not depend on the
// mode.
class ScopedRounding {
 public:
  explicit ScopedRounding(Rounding rounding);
  ~ScopedRounding();
  ScopedRounding(const ScopedRounding&) = delete;
  ScopedRounding& operator=(const ScopedRounding&) = delete;

 private:
  int before_;
  bool changed_;
};

// Returns `value`; the compiler cannot move operations across the call.
template <typename T>
inline T Opaque(T value) {
  asm volatile("" : "+x"(value) : : "memory");
  return value;
}

// Returns a, rounded to an integer.
double RoundToInteger(double a, Rounding rounding);

// A floating-point format smaller than float: the bits of its exponent and of its fraction.
struct Format {
  int exponent_bits = 5;
  int fraction_bits = 10;
};
inline constexpr Format kHalfFormat{5, 10};
inline constexpr Format kBfloatFormat{8, 7};
inline constexpr Format kTf32Format{8, 10};

// Returns the bits of `value` in that format: sign, exponent, fraction. NaNs become the canonical
// NaN, such as 0x7fff.
uint32_t RoundTo(Format format, double value, Rounding rounding);

// Returns a * b + c rounded to odd, which is exact enough for a second rounding to at most half the
// digits.
double FmaToOdd(double a, double b, double c);

// A number of type f16.
struct Half {
  uint16_t bits = 0;
};
// A number of type bf16.
struct Bfloat {
  uint16_t bits = 0;
};

float ToFloat(Half value);
inline float ToFloat(Bfloat value) { return std::bit_cast<float>(uint32_t{value.bits} << 16); }

// Returns the nearest half. Fast.
Half HalfOf(float value);
inline Bfloat BfloatOf(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000) return {0x7fff};
  return {static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
}

// Returns a zero of the same sign for a subnormal number.
inline float FlushSubnormal(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  return (bits & 0x7f800000) == 0 ? std::bit_cast<float>(bits & 0x80000000) : value;
}

// Returns the canonical NaN of GPUs for any NaN.
inline float Canonical(float value) {
  return value != value ? std::bit_cast<float>(0x7fffffffu) : value;
}
inline double Canonical(double value) { return value; }

}  // namespace cooper::ptx

#endif  // COOPER_TESTS_CUDA_EMULATOR_PTX_ROUNDING_H_
