#ifndef COOPER_THIRD_PARTY_CUDA_EMULATOR_PTX_ROUNDING_H_
#define COOPER_THIRD_PARTY_CUDA_EMULATOR_PTX_ROUNDING_H_

// Rounding of floating-point numbers: PTX chooses it for each instruction, the host for a thread.

#include <bit>
#include <cstdint>

#include "third_party/cuda/emulator/ptx/modifiers.h"

namespace cooper::ptx {

enum class Rounding : uint8_t {
  kNearest,  // ties to even
  kZero,
  kDown,
  kUp,
  kNearestAway,  // ties away from zero
};

// Takes rn, rz, rm, rp or rna; `otherwise` if there is none.
Rounding TakeRounding(Modifiers& mods, Rounding otherwise = Rounding::kNearest);
// Takes rni, rzi, rmi or rpi; false if there is none.
bool TakeIntegerRounding(Modifiers& mods, Rounding& rounding);

// The host's rounding while it lives. Not for kNearestAway. Operands and results have to go through
// Opaque(): compilers take operations for independent of it.
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

template <typename T>
inline T Opaque(T value) {
  asm volatile("" : "+x"(value) : : "memory");
  return value;
}

// A rounded to an integer.
double RoundToInteger(double a, Rounding rounding);

// A floating-point format below float: the bits of its exponent and of its fraction.
struct Format {
  int exponent_bits = 5;
  int fraction_bits = 10;
};
inline constexpr Format kHalfFormat{5, 10};
inline constexpr Format kBfloatFormat{8, 7};
inline constexpr Format kTf32Format{8, 10};

// The bits of `value` in that format: sign, exponent, fraction. NaNs become 0x7fff and the like.
uint32_t RoundTo(Format format, double value, Rounding rounding);

// a * b + c rounded to odd: exact for what is rounded to half the digits or fewer afterwards.
double FmaToOdd(double a, double b, double c);

struct Half {
  uint16_t bits = 0;
};
struct Bfloat {
  uint16_t bits = 0;
};

float ToFloat(Half value);
inline float ToFloat(Bfloat value) { return std::bit_cast<float>(uint32_t{value.bits} << 16); }

// To the nearest, which is fast.
Half HalfOf(float value);
inline Bfloat BfloatOf(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000) return {0x7fff};
  return {static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
}

// A subnormal number as a zero of its sign.
inline float FlushSubnormal(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  return (bits & 0x7f800000) == 0 ? std::bit_cast<float>(bits & 0x80000000) : value;
}

// The NaN that GPUs give, for any other.
inline float Canonical(float value) {
  return value != value ? std::bit_cast<float>(0x7fffffffu) : value;
}
inline double Canonical(double value) { return value; }

}  // namespace cooper::ptx

#endif  // COOPER_THIRD_PARTY_CUDA_EMULATOR_PTX_ROUNDING_H_
