// Implements functions of one float: rcp, sqrt, rsqrt, ex2, lg2, sin, cos, tanh, testp, copysign.
// Functions that PTX calls approximate are computed with the host's precision.

#include <bit>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "absl/types/span.h"
#include "tests/cuda_emulator/ptx/concat.h"
#include "tests/cuda_emulator/ptx/decoder.h"
#include "tests/cuda_emulator/ptx/float_ops.h"
#include "tests/cuda_emulator/ptx/handlers.h"
#include "tests/cuda_emulator/ptx/ops.h"
#include "tests/cuda_emulator/ptx/rounding.h"

namespace cooper::ptx {
namespace {

// Computes in the instruction's type, with the host's rounding mode.
struct Rcp {
  template <typename T>
  T operator()(T a) const {
    return T{1} / a;
  }
};
struct Sqrt {
  template <typename T>
  T operator()(T a) const {
    return std::sqrt(a);
  }
};
// Computes in double and rounds once.
struct Rsqrt {
  template <typename T>
  T operator()(T a) const {
    return static_cast<T>(1.0 / std::sqrt(static_cast<double>(a)));
  }
};
struct Ex2 {
  template <typename T>
  T operator()(T a) const {
    return static_cast<T>(std::exp2(static_cast<double>(a)));
  }
};
struct Lg2 {
  template <typename T>
  T operator()(T a) const {
    return static_cast<T>(std::log2(static_cast<double>(a)));
  }
};
struct Sin {
  template <typename T>
  T operator()(T a) const {
    return static_cast<T>(std::sin(static_cast<double>(a)));
  }
};
struct Cos {
  template <typename T>
  T operator()(T a) const {
    return static_cast<T>(std::cos(static_cast<double>(a)));
  }
};
struct Tanh {
  template <typename T>
  T operator()(T a) const {
    return static_cast<T>(std::tanh(static_cast<double>(a)));
  }
};

template <typename F, typename T>
void Function(Warp& warp, const Instr& in, uint32_t mask) {
  const FloatMode mode = FloatMode::Decode(in.mode);
  const ScopedRounding rounding(mode.rounding);
  auto* d = warp.Lanes<T>(in.d);
  const auto* a = warp.Lanes<T>(in.a);
  ForLanes(mask, [&](int l) {
    T x = Unpack<T>(a[l]);
    if constexpr (std::is_same_v<T, float>) {
      if (mode.ftz) x = FlushSubnormal(x);
    }
    T result = Canonical(Opaque(F()(Opaque(x))));
    if constexpr (std::is_same_v<T, float>) {
      if (mode.ftz) result = FlushSubnormal(result);
    }
    d[l] = Pack<T>(result);
  });
}

// rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 read only the upper half of a number, and write only
// the upper half.
template <typename F>
void UpperHalf(Warp& warp, const Instr& in, uint32_t mask) {
  uint64_t* d = warp.Lanes<uint64_t>(in.d);
  const uint64_t* a = warp.Lanes<uint64_t>(in.a);
  constexpr uint64_t kUpper = 0xffffffff00000000u;
  ForLanes(mask, [&](int l) {
    double x = std::bit_cast<double>(a[l] & kUpper);
    if (std::fpclassify(x) == FP_SUBNORMAL) x = std::copysign(0.0, x);
    double result = F()(x);
    if (std::fpclassify(result) == FP_SUBNORMAL) result = std::copysign(0.0, result);
    d[l] = std::isnan(result) ? 0x7fffffff00000000u : std::bit_cast<uint64_t>(result) & kUpper;
  });
}

template <typename F, typename H, bool kPair>
void HalfFunction(Warp& warp, const Instr& in, uint32_t mask) {
  uint32_t* d = warp.Lanes<uint32_t>(in.d);
  const uint32_t* a = warp.Lanes<uint32_t>(in.a);
  constexpr Format kFormat = std::is_same_v<H, Half> ? kHalfFormat : kBfloatFormat;
  ForLanes(mask, [&](int l) {
    const auto one = [&](int shift) {
      const double x = static_cast<double>(ToFloat(H{static_cast<uint16_t>(a[l] >> shift)}));
      return RoundTo(kFormat, F()(x), Rounding::kNearest);
    };
    d[l] = kPair ? one(0) | one(16) << 16 : one(0);
  });
}

template <typename F>
void DecodeFunction(Decoder& decoder, Instr& in) {
  Modifiers& mods = decoder.mods();
  const bool approximate = mods.Take("approx");
  const Type type = mods.TakeType();
  FloatMode mode;
  mode.rounding = TakeRounding(mods);
  mode.ftz = mods.Take("ftz");
  in.mode = mode.Encode();
  in.flops = 1;
  switch (type) {
    case Type::kF32:
      in.run = &Function<F, float>;
      break;
    case Type::kF64:
      in.run = approximate && mode.ftz ? &UpperHalf<F> : &Function<F, double>;
      break;
    case Type::kF16:
      in.run = &HalfFunction<F, Half, false>;
      break;
    case Type::kBf16:
      in.run = &HalfFunction<F, Bfloat, false>;
      break;
    case Type::kF16x2:
      in.run = &HalfFunction<F, Half, true>;
      break;
    case Type::kBf16x2:
      in.run = &HalfFunction<F, Bfloat, true>;
      break;
    default:
      decoder.Invalid(Concat(mods.base(), " has no type ", NameOf(type)));
  }
  in.d = decoder.Out(0, type);
  in.a = decoder.In(1, type);
}

// Returns b with the sign of a.
struct CopySign {
  template <typename T>
  T operator()(T a, T b) const {
    return std::copysign(b, a);
  }
};
void DecodeCopySign(Decoder& decoder, Instr& in) {
  const Type type = decoder.mods().TakeType();
  if (type != Type::kF32 && type != Type::kF64) decoder.Invalid("copysign is for f32 and f64");
  in.run = type == Type::kF64 ? &Binary<CopySign, double, double> : &Binary<CopySign, float, float>;
  in.d = decoder.Out(0, type);
  in.a = decoder.In(1, type);
  in.b = decoder.In(2, type);
}

enum class Test : uint8_t { kFinite, kInfinite, kNumber, kNotANumber, kNormal, kSubnormal };

template <typename T>
bool Holds(Test test, T value) {
  switch (test) {
    case Test::kFinite:
      return std::isfinite(value);
    case Test::kInfinite:
      return std::isinf(value);
    case Test::kNumber:
      return !std::isnan(value);
    case Test::kNotANumber:
      return std::isnan(value);
    case Test::kNormal:
      return std::isnormal(value);
    case Test::kSubnormal:
      return std::fpclassify(value) == FP_SUBNORMAL;
  }
  return false;
}

template <typename T>
void RunTestp(Warp& warp, const Instr& in, uint32_t mask) {
  const auto* a = warp.Lanes<T>(in.a);
  uint32_t bits = 0;
  ForLanes(mask, [&](int l) {
    if (Holds(static_cast<Test>(in.mode), Unpack<T>(a[l]))) bits |= 1u << l;
  });
  warp.Bits(in.d) = (warp.Bits(in.d) & ~mask) | bits;
}

void DecodeTestp(Decoder& decoder, Instr& in) {
  constexpr std::string_view kTests[] = {"finite",     "infinite", "number",
                                         "notanumber", "normal",   "subnormal"};
  bool found = false;
  for (uint8_t i = 0; i < 6 && !found; ++i) {
    found = decoder.mods().Take(kTests[i]);
    in.mode = i;
  }
  if (!found) decoder.Invalid("testp without a test");
  const Type type = decoder.mods().TakeType();
  if (type != Type::kF32 && type != Type::kF64) decoder.Invalid("testp is for f32 and f64");
  in.run = type == Type::kF64 ? &RunTestp<double> : &RunTestp<float>;
  in.d = decoder.Out(0, Type::kPred);
  in.a = decoder.In(1, type);
}

constexpr Op kOps[] = {
    {"rcp", &DecodeFunction<Rcp>},     {"sqrt", &DecodeFunction<Sqrt>},
    {"rsqrt", &DecodeFunction<Rsqrt>}, {"ex2", &DecodeFunction<Ex2>},
    {"lg2", &DecodeFunction<Lg2>},     {"sin", &DecodeFunction<Sin>},
    {"cos", &DecodeFunction<Cos>},     {"tanh", &DecodeFunction<Tanh>},
    {"copysign", &DecodeCopySign},     {"testp", &DecodeTestp},
};

}  // namespace

absl::Span<const Op> MathOps() { return kOps; }

}  // namespace cooper::ptx
