#include "tests/cuda_emulator/ptx/float_ops.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "tests/cuda_emulator/ptx/concat.h"
#include "tests/cuda_emulator/ptx/handlers.h"

namespace cooper::ptx {
namespace {

float Flush(float value, bool ftz) { return ftz ? FlushSubnormal(value) : value; }
double Flush(double value, bool) { return value; }

template <bool kFtz, typename T>
T Input(T value) {
  return Flush(value, kFtz);
}

// Rounds to the nearest without saturation, as most instructions do.
template <typename F, typename T, bool kFtz>
void Fast(Warp& warp, const Instr& in, uint32_t mask) {
  auto* d = warp.Lanes<T>(in.d);
  const auto* a = warp.Lanes<T>(in.a);
  const auto* b = warp.Lanes<T>(in.b);
  ForLanes(mask, [&](int l) {
    const T result = F()(Input<kFtz>(Unpack<T>(a[l])), Input<kFtz>(Unpack<T>(b[l])));
    d[l] = Pack<T>(Input<kFtz>(Canonical(result)));
  });
}

template <typename T>
T Finish(T value, FloatMode mode) {
  if (mode.sat) return std::isnan(value) ? T{0} : std::clamp(value, T{0}, T{1}) + T{0};
  if (mode.relu && value < 0) return T{0};
  return Flush(Canonical(value), mode.ftz);
}

template <typename F, typename T>
void Slow(Warp& warp, const Instr& in, uint32_t mask) {
  const FloatMode mode = FloatMode::Decode(in.mode);
  const ScopedRounding rounding(mode.rounding);
  auto* d = warp.Lanes<T>(in.d);
  const auto* a = warp.Lanes<T>(in.a);
  const auto* b = warp.Lanes<T>(in.b);
  ForLanes(mask, [&](int l) {
    const T x = Opaque(Flush(Unpack<T>(a[l]), mode.ftz));
    const T y = Opaque(Flush(Unpack<T>(b[l]), mode.ftz));
    d[l] = Pack<T>(Finish(Opaque(F()(x, y)), mode));
  });
}

template <typename T>
void Fma(Warp& warp, const Instr& in, uint32_t mask) {
  const FloatMode mode = FloatMode::Decode(in.mode);
  const ScopedRounding rounding(mode.rounding);
  auto* d = warp.Lanes<T>(in.d);
  const auto* a = warp.Lanes<T>(in.a);
  const auto* b = warp.Lanes<T>(in.b);
  const auto* c = warp.Lanes<T>(in.c);
  ForLanes(mask, [&](int l) {
    const T x = Opaque(Flush(Unpack<T>(a[l]), mode.ftz));
    const T y = Opaque(Flush(Unpack<T>(b[l]), mode.ftz));
    const T z = Opaque(Flush(Unpack<T>(c[l]), mode.ftz));
    d[l] = Pack<T>(Finish(Opaque(std::fma(x, y, z)), mode));
  });
}

// Computes min and max of three operands.
template <typename F>
void Three(Warp& warp, const Instr& in, uint32_t mask) {
  const FloatMode mode = FloatMode::Decode(in.mode);
  auto* d = warp.Lanes<float>(in.d);
  const auto* a = warp.Lanes<float>(in.a);
  const auto* b = warp.Lanes<float>(in.b);
  const auto* c = warp.Lanes<float>(in.c);
  ForLanes(mask, [&](int l) {
    const float x = Flush(Unpack<float>(a[l]), mode.ftz);
    const float y = Flush(Unpack<float>(b[l]), mode.ftz);
    const float z = Flush(Unpack<float>(c[l]), mode.ftz);
    d[l] = Pack<float>(Canonical(F()(F()(x, y), z)));
  });
}

template <typename F>
Handler Choose(Type type, FloatMode mode) {
  const bool plain = mode.rounding == Rounding::kNearest && !mode.sat && !mode.relu;
  if (type == Type::kF64) {
    return plain ? &Fast<F, double, false> : &Slow<F, double>;
  }
  if (!plain) return &Slow<F, float>;
  return mode.ftz ? &Fast<F, float, true> : &Fast<F, float, false>;
}

struct Negate {
  template <typename T>
  T operator()(T a) const {
    return -a;
  }
};
struct Magnitude {
  template <typename T>
  T operator()(T a) const {
    return std::fabs(a);
  }
};
template <typename F, typename T, bool kFtz>
void One(Warp& warp, const Instr& in, uint32_t mask) {
  auto* d = warp.Lanes<T>(in.d);
  const auto* a = warp.Lanes<T>(in.a);
  ForLanes(mask, [&](int l) { d[l] = Pack<T>(F()(Input<kFtz>(Unpack<T>(a[l])))); });
}
template <typename F>
Handler ChooseOne(Type type, bool ftz) {
  if (type == Type::kF64) return &One<F, double, false>;
  return ftz ? &One<F, float, true> : &One<F, float, false>;
}

void TakeOperands(Decoder& decoder, Instr& in, Type type) {
  in.d = decoder.Out(0, type);
  in.a = decoder.In(1, type);
  in.b = decoder.In(2, type);
}

template <typename F>
Handler ChooseMinMax(Modifiers& mods, Type type, FloatMode mode, bool three) {
  const bool nan = mods.Take("NaN");
  if (mods.Take("xorsign")) {
    mods.Take("abs");
    return nan ? Choose<XorSign<PassNan<F>>>(type, mode) : Choose<XorSign<F>>(type, mode);
  }
  if (three) return nan ? &Three<PassNan<F>> : &Three<F>;
  return nan ? Choose<PassNan<F>>(type, mode) : Choose<F>(type, mode);
}

}  // namespace

void DecodeFloatBinary(Decoder& decoder, Instr& in, Type type) {
  Modifiers& mods = decoder.mods();
  // div.approx and div.full are exact here.
  mods.TakeAny({"approx", "full"});
  const FloatMode mode = FloatMode::Take(mods);
  in.mode = mode.Encode();
  in.flops = 1;
  if (mods.base() == "add") {
    in.run = Choose<FloatAdd>(type, mode);
  } else if (mods.base() == "sub") {
    in.run = Choose<FloatSub>(type, mode);
  } else if (mods.base() == "mul") {
    in.run = Choose<FloatMul>(type, mode);
  } else {
    in.run = Choose<FloatDiv>(type, mode);
  }
  TakeOperands(decoder, in, type);
}

void DecodeFloatFma(Decoder& decoder, Instr& in, Type type) {
  in.mode = FloatMode::Take(decoder.mods()).Encode();
  in.flops = 2;
  in.run = type == Type::kF64 ? &Fma<double> : &Fma<float>;
  TakeOperands(decoder, in, type);
  in.c = decoder.In(3, type);
}

void DecodeFloatMinMax(Decoder& decoder, Instr& in, Type type) {
  FloatMode mode;
  mode.ftz = decoder.mods().Take("ftz");
  in.mode = mode.Encode();
  in.flops = 1;
  const bool three = decoder.operands() == 4 && type == Type::kF32;
  in.run = decoder.mods().base() == "min"
               ? ChooseMinMax<FloatMin>(decoder.mods(), type, mode, three)
               : ChooseMinMax<FloatMax>(decoder.mods(), type, mode, three);
  TakeOperands(decoder, in, type);
  if (three) in.c = decoder.In(3, type);
}

void DecodeFloatNegAbs(Decoder& decoder, Instr& in, Type type) {
  const bool ftz = decoder.mods().Take("ftz");
  in.run = decoder.mods().base() == "neg" ? ChooseOne<Negate>(type, ftz)
                                          : ChooseOne<Magnitude>(type, ftz);
  in.d = decoder.Out(0, type);
  in.a = decoder.In(1, type);
}

}  // namespace cooper::ptx
