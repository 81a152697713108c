#include "tests/cuda_emulator/ptx/rounding.h"

#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <string_view>

namespace cooper::ptx {

Rounding TakeRounding(Modifiers& mods, Rounding otherwise) {
  const std::string_view name = mods.TakeAny({"rn", "rz", "rm", "rp", "rna"});
  if (name.empty()) return otherwise;
  return name == "rn"   ? Rounding::kNearest
         : name == "rz" ? Rounding::kZero
         : name == "rm" ? Rounding::kDown
         : name == "rp" ? Rounding::kUp
                        : Rounding::kNearestAway;
}

bool TakeIntegerRounding(Modifiers& mods, Rounding& rounding) {
  const std::string_view name = mods.TakeAny({"rni", "rzi", "rmi", "rpi"});
  if (name.empty()) return false;
  rounding = name == "rni"   ? Rounding::kNearest
             : name == "rzi" ? Rounding::kZero
             : name == "rmi" ? Rounding::kDown
                             : Rounding::kUp;
  return true;
}

ScopedRounding::ScopedRounding(Rounding rounding)
    : before_(FE_TONEAREST), changed_(rounding != Rounding::kNearest) {
  if (!changed_) return;  // it is the host's mode
  before_ = std::fegetround();
  const int mode = rounding == Rounding::kZero   ? FE_TOWARDZERO
                   : rounding == Rounding::kDown ? FE_DOWNWARD
                   : rounding == Rounding::kUp   ? FE_UPWARD
                                                 : FE_TONEAREST;
  std::fesetround(mode);
}

ScopedRounding::~ScopedRounding() {
  if (changed_) std::fesetround(before_);
}

double RoundToInteger(double a, Rounding rounding) {
  switch (rounding) {
    case Rounding::kZero:
      return std::trunc(a);
    case Rounding::kDown:
      return std::floor(a);
    case Rounding::kUp:
      return std::ceil(a);
    case Rounding::kNearestAway:
      return std::round(a);
    default:
      return std::nearbyint(a);
  }
}

uint32_t RoundTo(Format format, double value, Rounding rounding) {
  const int fraction = format.fraction_bits;
  const uint32_t infinity = ((1u << format.exponent_bits) - 1) << fraction;
  const uint64_t bits = std::bit_cast<uint64_t>(value);
  const bool negative = bits >> 63 != 0;
  const uint32_t sign = negative ? 1u << (format.exponent_bits + fraction) : 0;
  const int exponent = static_cast<int>(bits >> 52 & 0x7ff);
  uint64_t significand = bits & ((uint64_t{1} << 52) - 1);
  if (exponent == 0x7ff) {
    return significand != 0 ? infinity | ((1u << fraction) - 1) : sign | infinity;
  }
  if (exponent == 0 && significand == 0) return sign;
  if (exponent != 0) significand |= uint64_t{1} << 52;
  const int least = 2 - (1 << (format.exponent_bits - 1));  // exponent of the least normal number
  const int power = exponent == 0 ? -1022 : exponent - 1023;
  int shift = 52 - fraction;
  if (power < least) shift += least - power;
  if (shift > 55) shift = 55;  // far below half of the last digit in any case
  uint64_t kept = significand >> shift;
  const uint64_t rest = significand & ((uint64_t{1} << shift) - 1);
  const uint64_t half = uint64_t{1} << (shift - 1);
  bool up = false;
  switch (rounding) {
    case Rounding::kNearest:
      up = rest > half || (rest == half && (kept & 1) != 0);
      break;
    case Rounding::kNearestAway:
      up = rest >= half;
      break;
    case Rounding::kZero:
      break;
    case Rounding::kDown:
      up = negative && rest != 0;
      break;
    case Rounding::kUp:
      up = !negative && rest != 0;
      break;
  }
  kept += up ? 1 : 0;
  // A carry out of the fraction correctly increments the exponent.
  uint64_t result = kept;
  if (power >= least) {
    result += (static_cast<uint64_t>(power - least + 1) << fraction) - (uint64_t{1} << fraction);
  }
  if (result >= infinity) {
    const bool to_infinity = rounding == Rounding::kNearest || rounding == Rounding::kNearestAway ||
                             (rounding == Rounding::kDown && negative) ||
                             (rounding == Rounding::kUp && !negative);
    result = to_infinity ? infinity : infinity - 1;
  }
  return sign | static_cast<uint32_t>(result);
}

double FmaToOdd(double a, double b, double c) {
  const double product = a * b;  // exact: the operands have few digits
  const double sum = product + c;
  if (!std::isfinite(sum) || !std::isfinite(product)) return sum;
  // The rounding error of the sum (Knuth).
  const double other = sum - product;
  const double error = (product - (sum - other)) + (c - other);
  const uint64_t bits = std::bit_cast<uint64_t>(sum);
  if (error == 0 || (bits & 1) != 0) return sum;
  const bool outward = (error > 0) == (sum > 0);
  return std::bit_cast<double>(outward ? bits + 1 : bits - 1);
}

float ToFloat(Half value) {
  const uint32_t sign = uint32_t{value.bits} >> 15 << 31;
  const uint32_t exponent = value.bits >> 10 & 31;
  const uint32_t fraction = value.bits & 0x3ff;
  if (exponent == 31) {
    return std::bit_cast<float>(sign | 0x7f800000 | fraction << 13);
  }
  if (exponent == 0) {
    const float small = static_cast<float>(fraction) * 0x1p-24f;
    return sign != 0 ? -small : small;
  }
  return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
}

Half HalfOf(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint16_t sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
  const uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude >= 0x38800000 && magnitude < 0x477ff000) {  // normal before and after
    const uint32_t rounded = magnitude + 0xfff + (magnitude >> 13 & 1) - 0x38000000;
    return {static_cast<uint16_t>(sign | rounded >> 13)};
  }
  return {
      static_cast<uint16_t>(RoundTo(kHalfFormat, static_cast<double>(value), Rounding::kNearest))};
}

}  // namespace cooper::ptx
