// Implements arithmetic on f16, bf16 and pairs of them. Sums, differences and products are exact
// enough in double that a second rounding changes nothing; fma needs rounding to odd.

#include <cmath>
#include <cstdint>
#include <string_view>

#include "tests/cuda_emulator/ptx/concat.h"
#include "tests/cuda_emulator/ptx/float_ops.h"
#include "tests/cuda_emulator/ptx/handlers.h"

namespace cooper::ptx {
namespace {

template <typename H>
constexpr Format kFormatOf = kHalfFormat;
template <>
constexpr Format kFormatOf<Bfloat> = kBfloatFormat;

template <typename H>
double Input(uint32_t bits, bool ftz) {
  const H value{static_cast<uint16_t>(bits)};
  constexpr uint32_t kExponent = ((1u << kFormatOf<H>.exponent_bits) - 1)
                                 << kFormatOf<H>.fraction_bits;
  if (ftz && (value.bits & kExponent) == 0) return (value.bits & 0x8000) != 0 ? -0.0 : 0.0;
  return static_cast<double>(ToFloat(value));
}

template <typename H>
uint32_t Output(double value, FloatMode mode) {
  if (mode.sat) value = std::isnan(value) ? 0.0 : value < 0 ? 0.0 : value > 1 ? 1.0 : value;
  if (mode.relu && value < 0) value = 0.0;
  const uint32_t bits = RoundTo(kFormatOf<H>, value, mode.rounding);
  constexpr uint32_t kExponent = ((1u << kFormatOf<H>.exponent_bits) - 1)
                                 << kFormatOf<H>.fraction_bits;
  return mode.ftz && (bits & kExponent) == 0 ? bits & 0x8000 : bits;
}

struct FmaHalf {
  double operator()(double a, double b, double c) const { return FmaToOdd(a, b, c); }
};
template <typename F>
struct IgnoreThird {
  double operator()(double a, double b, double) const { return F()(a, b); }
};

// A lane has one number, or two.
template <typename F, typename H, bool kPair>
void HalfOp(Warp& warp, const Instr& in, uint32_t mask) {
  const FloatMode mode = FloatMode::Decode(in.mode);
  uint32_t* d = warp.Lanes<uint32_t>(in.d);
  const uint32_t* a = warp.Lanes<uint32_t>(in.a);
  const uint32_t* b = warp.Lanes<uint32_t>(in.b);
  const uint32_t* c = warp.Lanes<uint32_t>(in.c);
  ForLanes(mask, [&](int l) {
    const auto one = [&](int shift) {
      return Output<H>(F()(Input<H>(a[l] >> shift, mode.ftz), Input<H>(b[l] >> shift, mode.ftz),
                           Input<H>(c[l] >> shift, mode.ftz)),
                       mode);
    };
    d[l] = kPair ? one(0) | one(16) << 16 : one(0);
  });
}

template <typename F>
Handler Choose(Type type) {
  switch (type) {
    case Type::kF16:
      return &HalfOp<F, Half, false>;
    case Type::kBf16:
      return &HalfOp<F, Bfloat, false>;
    case Type::kF16x2:
      return &HalfOp<F, Half, true>;
    default:
      return &HalfOp<F, Bfloat, true>;
  }
}

// neg and abs change only the sign, also of NaNs.
template <bool kNegate>
struct SignOp {
  uint32_t operator()(uint32_t a, uint32_t sign) const { return kNegate ? a ^ sign : a & ~sign; }
};

void DecodeSign(Decoder& decoder, Instr& in, Type type) {
  if (decoder.mods().Take("ftz")) {  // adding zero flushes and keeps the sign of what remains
    FloatMode mode;
    mode.ftz = true;
    in.mode = mode.Encode();
    decoder.Unimplemented("neg.ftz and abs.ftz of halves");
  }
  const bool pair = type == Type::kF16x2 || type == Type::kBf16x2;
  in.run = decoder.mods().base() == "neg" ? &Binary<SignOp<true>, uint32_t, uint32_t>
                                          : &Binary<SignOp<false>, uint32_t, uint32_t>;
  in.d = decoder.Out(0, type);
  in.a = decoder.In(1, type);
  in.b = decoder.Value(pair ? 0x80008000 : 0x8000, Type::kB32);
}

template <typename F>
Handler ChooseMinMax(Modifiers& mods, Type type) {
  const bool nan = mods.Take("NaN");
  if (mods.Take("xorsign")) {
    mods.Take("abs");
    return nan ? Choose<IgnoreThird<XorSign<PassNan<F>>>>(type)
               : Choose<IgnoreThird<XorSign<F>>>(type);
  }
  return nan ? Choose<IgnoreThird<PassNan<F>>>(type) : Choose<IgnoreThird<F>>(type);
}

}  // namespace

bool IsHalf(Type type) {
  return type == Type::kF16 || type == Type::kBf16 || type == Type::kF16x2 || type == Type::kBf16x2;
}

void DecodeHalf(Decoder& decoder, Instr& in, Type type) {
  Modifiers& mods = decoder.mods();
  const std::string_view base = mods.base();
  if (base == "neg" || base == "abs") {
    DecodeSign(decoder, in, type);
    return;
  }
  in.mode = FloatMode::Take(mods).Encode();
  const bool pair = type == Type::kF16x2 || type == Type::kBf16x2;
  in.flops = static_cast<uint8_t>((pair ? 2 : 1) * (base == "fma" ? 2 : 1));
  if (base == "add") {
    in.run = Choose<IgnoreThird<FloatAdd>>(type);
  } else if (base == "sub") {
    in.run = Choose<IgnoreThird<FloatSub>>(type);
  } else if (base == "mul") {
    in.run = Choose<IgnoreThird<FloatMul>>(type);
  } else if (base == "fma") {
    in.run = Choose<FmaHalf>(type);
  } else if (base == "min") {
    in.run = ChooseMinMax<FloatMin>(mods, type);
  } else if (base == "max") {
    in.run = ChooseMinMax<FloatMax>(mods, type);
  } else {
    decoder.Invalid(Concat(base, " has no type ", NameOf(type)));
  }
  in.d = decoder.Out(0, type);
  in.a = decoder.In(1, type);
  in.b = decoder.In(2, type);
  in.c = base == "fma" ? decoder.In(3, type) : in.a;
}

}  // namespace cooper::ptx
