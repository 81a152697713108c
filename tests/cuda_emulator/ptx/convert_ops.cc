// Implements cvt between integers, floating-point numbers and both.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>

#include "absl/types/span.h"
#include "tests/cuda_emulator/ptx/concat.h"
#include "tests/cuda_emulator/ptx/convert.h"
#include "tests/cuda_emulator/ptx/decoder.h"
#include "tests/cuda_emulator/ptx/float_ops.h"
#include "tests/cuda_emulator/ptx/handlers.h"
#include "tests/cuda_emulator/ptx/ops.h"
#include "tests/cuda_emulator/ptx/rounding.h"

namespace cooper::ptx {
namespace {

// Converts one value at a time, for all types. in.count and in.mode index the types; in.value holds
// the Conversion.
template <typename To, typename From>
void Convert(Warp& warp, const Instr& in, uint32_t mask) {
  const Conversion conversion = Conversion::Decode(in.value);
  const ScopedRounding rounding(
      conversion.rounding == Rounding::kNearestAway ? Rounding::kNearest : conversion.rounding);
  auto* d = warp.Lanes<To>(in.d);
  const auto* a = warp.Lanes<From>(in.a);
  ForLanes(mask, [&](int l) {
    d[l] = static_cast<SlotOf<To>>(ConvertValue(conversion, uint64_t{a[l]}));
  });
}

// Converts between integers without saturation, the most common case.
struct Cast {
  template <typename T>
  T operator()(T a) const {
    return a;
  }
};
template <typename To, typename From>
void CastLanes(Warp& warp, const Instr& in, uint32_t mask) {
  auto* d = warp.Lanes<To>(in.d);
  const auto* a = warp.Lanes<From>(in.a);
  ForLanes(mask, [&](int l) { d[l] = Pack<To>(static_cast<To>(Unpack<From>(a[l]))); });
}

template <typename To>
Handler CastFrom(Type from) {
  switch (from) {
    case Type::kU8:
    case Type::kB8:
      return &CastLanes<To, uint8_t>;
    case Type::kS8:
      return &CastLanes<To, int8_t>;
    default:
      return ForInteger(from, []<typename T>() -> Handler { return &CastLanes<To, T>; });
  }
}

Handler CastOf(Type to, Type from) {
  switch (to) {
    case Type::kU8:
      return CastFrom<uint8_t>(from);
    case Type::kS8:
      return CastFrom<int8_t>(from);
    case Type::kU16:
      return CastFrom<uint16_t>(from);
    case Type::kS16:
      return CastFrom<int16_t>(from);
    case Type::kU32:
      return CastFrom<uint32_t>(from);
    case Type::kS32:
      return CastFrom<int32_t>(from);
    case Type::kU64:
      return CastFrom<uint64_t>(from);
    case Type::kS64:
      return CastFrom<int64_t>(from);
    default:
      return nullptr;
  }
}

Handler ConvertHandler(Type to, Type from) {
  const bool wide_to = SizeOf(to) == 8;
  const bool wide_from = SizeOf(from) == 8;
  if (wide_to) {
    return wide_from ? &Convert<uint64_t, uint64_t> : &Convert<uint64_t, uint32_t>;
  }
  return wide_from ? &Convert<uint32_t, uint64_t> : &Convert<uint32_t, uint32_t>;
}

bool IsInteger(Type type) { return type >= Type::kU8 && type <= Type::kS64; }

// cvt.rn.f16x2.f32 d, a, b: a goes to the upper half.
template <typename H>
void PackHalves(Warp& warp, const Instr& in, uint32_t mask) {
  constexpr Format kFormat = std::is_same_v<H, Half> ? kHalfFormat : kBfloatFormat;
  const FloatMode mode = FloatMode::Decode(in.mode);
  uint32_t* d = warp.Lanes<uint32_t>(in.d);
  const uint32_t* a = warp.Lanes<uint32_t>(in.a);
  const uint32_t* b = warp.Lanes<uint32_t>(in.b);
  const auto one = [&](uint32_t bits) {
    double value = static_cast<double>(std::bit_cast<float>(bits));
    if (mode.relu && value < 0) value = 0;
    if (mode.sat) {  // to the largest finite number
      const double most = std::is_same_v<H, Half> ? 65504.0 : 0x1.fep127;
      if (!std::isnan(value)) value = std::clamp(value, -most, most);
    }
    return RoundTo(kFormat, value, mode.rounding);
  };
  ForLanes(mask, [&](int l) { d[l] = one(a[l]) << 16 | one(b[l]); });
}

void DecodePackHalves(Decoder& decoder, Instr& in, Type to) {
  if (decoder.mods().TakeType() != Type::kF32) {
    decoder.Unimplemented("this conversion");
    return;
  }
  FloatMode mode = FloatMode::Take(decoder.mods());
  if (decoder.mods().Take("satfinite")) mode.sat = true;
  in.mode = mode.Encode();
  in.run = to == Type::kF16x2 ? &PackHalves<Half> : &PackHalves<Bfloat>;
  in.d = decoder.Out(0, to);
  in.a = decoder.In(1, Type::kF32);
  in.b = decoder.In(2, Type::kF32);
}

// cvt.pack.sat.type.s32{.b32} d, a, b{, c}: saturates a and b and stores them below the bits of c.
void PackIntegers(Warp& warp, const Instr& in, uint32_t mask) {
  uint32_t* d = warp.Lanes<uint32_t>(in.d);
  const uint32_t* a = warp.Lanes<uint32_t>(in.a);
  const uint32_t* b = warp.Lanes<uint32_t>(in.b);
  const uint32_t* c = warp.Lanes<uint32_t>(in.c);
  const Type to = static_cast<Type>(in.mode);
  const int bits = 8 * SizeOf(to);
  const int64_t most = (int64_t{1} << (IsSigned(to) ? bits - 1 : bits)) - 1;
  const int64_t least = IsSigned(to) ? -most - 1 : 0;
  const uint32_t ones = static_cast<uint32_t>((uint64_t{1} << bits) - 1);
  const auto one = [&](uint32_t value) {
    return static_cast<uint32_t>(std::clamp<int64_t>(static_cast<int32_t>(value), least, most)) &
           ones;
  };
  ForLanes(mask, [&](int l) {
    const uint32_t upper = bits == 16 ? 0 : c[l] << (2 * bits);
    d[l] = upper | one(a[l]) << bits | one(b[l]);
  });
}

void DecodePack(Decoder& decoder, Instr& in) {
  Modifiers& mods = decoder.mods();
  mods.Take("sat");
  const Type to = mods.TakeType();
  const Type from = mods.TakeType();
  const bool third = mods.Take("b32");
  if (from != Type::kS32 || !IsInteger(to) || SizeOf(to) > 2) {
    decoder.Unimplemented("this conversion");
    return;
  }
  in.mode = static_cast<uint8_t>(to);
  in.run = &PackIntegers;
  in.d = decoder.Out(0, Type::kB32);
  in.a = decoder.In(1, Type::kB32);
  in.b = decoder.In(2, Type::kB32);
  in.c = third ? decoder.In(3, Type::kB32) : decoder.Value(0, Type::kB32);
}

void DecodeCvt(Decoder& decoder, Instr& in) {
  Modifiers& mods = decoder.mods();
  if (mods.Take("pack")) {
    DecodePack(decoder, in);
    return;
  }
  const Type to = mods.TakeType();
  if (to == Type::kF16x2 || to == Type::kBf16x2) {
    DecodePackHalves(decoder, in, to);
    return;
  }
  const Type from = mods.TakeType();
  const auto convertible = [](Type type) { return IsInteger(type) || IsFloat(type); };
  if ((!convertible(to) && to != Type::kTf32) || !convertible(from)) {
    decoder.Unimplemented("this conversion");
    return;
  }
  Conversion conversion;
  conversion.to = to;
  conversion.from = from;
  conversion.to_integer = TakeIntegerRounding(mods, conversion.rounding);
  if (!conversion.to_integer) {
    const Rounding otherwise =
        IsInteger(to) && IsFloat(from) ? Rounding::kZero : Rounding::kNearest;
    conversion.rounding = TakeRounding(mods, otherwise);
  }
  conversion.ftz = mods.Take("ftz");
  conversion.sat = mods.Take("sat");
  conversion.relu = mods.Take("relu");
  conversion.satfinite = mods.Take("satfinite");
  in.value = conversion.Encode();
  if (IsInteger(to) && IsInteger(from) && !conversion.sat) in.run = CastOf(to, from);
  if (in.run == nullptr) in.run = ConvertHandler(to, from);
  in.d = decoder.OutAny(decoder.operand(0), to);
  in.a = decoder.InAny(decoder.operand(1), from);
}

constexpr Op kOps[] = {{"cvt", &DecodeCvt}};

}  // namespace

absl::Span<const Op> ConvertOps() { return kOps; }

}  // namespace cooper::ptx
