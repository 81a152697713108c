#include "tests/cuda_emulator/ptx/convert.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace cooper::ptx {
namespace {

uint64_t Cut(uint64_t value, int bytes) {
  return bytes >= 8 ? value : value & ((uint64_t{1} << (8 * bytes)) - 1);
}

uint64_t Extend(uint64_t value, Type type) {
  const int shift = 64 - 8 * SizeOf(type);
  if (!IsSigned(type)) return Cut(value, SizeOf(type));
  return static_cast<uint64_t>(static_cast<int64_t>(value << shift) >> shift);
}

// Returns the value of a floating-point number; double holds it exactly.
double FloatValue(Type type, uint64_t bits) {
  switch (type) {
    case Type::kF16:
      return static_cast<double>(ToFloat(Half{static_cast<uint16_t>(bits)}));
    case Type::kBf16:
      return static_cast<double>(ToFloat(Bfloat{static_cast<uint16_t>(bits)}));
    case Type::kF32:
      return static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits)));
    default:
      return std::bit_cast<double>(bits);
  }
}

uint64_t ToInteger(const Conversion& c, double value) {
  const int bits = 8 * SizeOf(c.to);
  if (std::isnan(value)) {
    const bool wide = SizeOf(c.to) == 8 || c.from == Type::kF64;
    return wide ? Extend(uint64_t{1} << (bits - 1), c.to) : 0;
  }
  value = RoundToInteger(value, c.rounding);
  if (IsSigned(c.to)) {
    const double limit = std::ldexp(1.0, bits - 1);
    const uint64_t most = (uint64_t{1} << (bits - 1)) - 1;
    if (value >= limit) return most;
    if (value < -limit) return ~most;
    return static_cast<uint64_t>(static_cast<int64_t>(value));
  }
  if (value <= 0) return 0;
  if (value >= std::ldexp(1.0, bits)) return Cut(~uint64_t{0}, SizeOf(c.to));
  return static_cast<uint64_t>(value);
}

uint64_t FloatBits(const Conversion& c, double value) {
  if (c.to_integer) value = RoundToInteger(value, c.rounding);
  if (c.sat) value = std::isnan(value) ? 0.0 : std::clamp(value, 0.0, 1.0) + 0.0;
  if (c.relu && !(value > 0) && !std::isnan(value)) value = 0.0;
  const auto clamp_finite = [&](double most) {
    if (c.satfinite && !std::isnan(value)) value = std::clamp(value, -most, most);
  };
  switch (c.to) {
    case Type::kF16:
      clamp_finite(65504.0);
      return RoundTo(kHalfFormat, value, c.rounding);
    case Type::kBf16:
      clamp_finite(0x1.fep127);
      return RoundTo(kBfloatFormat, value, c.rounding);
    case Type::kTf32: {
      clamp_finite(0x1.ffcp127);
      return uint64_t{RoundTo(kTf32Format, value, c.rounding)} << 13;
    }
    case Type::kF32: {
      const float result = Canonical(Opaque(static_cast<float>(Opaque(value))));
      return std::bit_cast<uint32_t>(c.ftz ? FlushSubnormal(result) : result);
    }
    default:
      return std::bit_cast<uint64_t>(value);
  }
}

uint64_t FromInteger(const Conversion& c, uint64_t value) {
  const bool has_sign = IsSigned(c.from);
  const int64_t number = static_cast<int64_t>(value);
  if (c.to == Type::kF32) {
    // Converts directly, because an intermediate double would round twice.
    const float result = has_sign ? static_cast<float>(number) : static_cast<float>(value);
    return std::bit_cast<uint32_t>(Opaque(result));
  }
  double result = Opaque(has_sign ? static_cast<double>(number) : static_cast<double>(value));
  if (c.to == Type::kF64) return std::bit_cast<uint64_t>(result);
  // Numbers with more than 53 bits are rounded in double. Halves have so few digits that only ties
  // matter; a sticky bit distinguishes ties from their neighbours.
  if (SizeOf(c.from) == 8) {
    const uint64_t magnitude = has_sign && number < 0 ? uint64_t{0} - value : value;
    const uint64_t low = magnitude & 0xffff;
    const double top = static_cast<double>((magnitude >> 16 << 16) | (low != 0 ? 0x8000 : 0));
    if (magnitude >> 53 != 0) result = has_sign && number < 0 ? -top : top;
  }
  return FloatBits(c, result);
}

uint64_t SaturateInteger(const Conversion& c, uint64_t value) {
  const int bits = 8 * SizeOf(c.to);
  const bool negative = IsSigned(c.from) && static_cast<int64_t>(value) < 0;
  if (IsSigned(c.to)) {
    const uint64_t most = (uint64_t{1} << (bits - 1)) - 1;
    if (negative) return static_cast<int64_t>(value) < static_cast<int64_t>(~most) ? ~most : value;
    return std::min(value, most);
  }
  return negative ? 0 : std::min(value, Cut(~uint64_t{0}, SizeOf(c.to)));
}

}  // namespace

uint64_t ConvertValue(const Conversion& c, uint64_t value) {
  if (IsFloat(c.from)) {
    double number = FloatValue(c.from, value);
    if (c.ftz && c.from == Type::kF32) {
      number = static_cast<double>(FlushSubnormal(static_cast<float>(number)));
    }
    return IsFloat(c.to) || c.to == Type::kTf32 ? FloatBits(c, number) : ToInteger(c, number);
  }
  value = Extend(value, c.from);
  if (IsFloat(c.to)) return FromInteger(c, value);
  return Extend(c.sat ? SaturateInteger(c, value) : value, c.to);
}

}  // namespace cooper::ptx
