#include "tests/cuda_emulator/ptx/integer_ops.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "tests/cuda_emulator/ptx/concat.h"
#include "tests/cuda_emulator/ptx/handlers.h"

namespace cooper::ptx {
namespace {

template <typename T>
using Unsigned = std::make_unsigned_t<T>;

// A type twice as wide as T, with its signedness.
template <typename T>
using Wide = std::conditional_t<
    sizeof(T) == 2, std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>,
    std::conditional_t<sizeof(T) == 4, std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>,
                       std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>>>;

// An unsigned type of at least 32 bits for arithmetic on T: signed overflow is undefined in C++,
// and small types are promoted to int.
template <typename T>
using Safe = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

struct Add {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(static_cast<Safe<T>>(a) + static_cast<Safe<T>>(b));
  }
};
struct Sub {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(static_cast<Safe<T>>(a) - static_cast<Safe<T>>(b));
  }
};
struct AddSat {
  int32_t operator()(int32_t a, int32_t b) const {
    return static_cast<int32_t>(std::clamp<int64_t>(int64_t{a} + b, INT32_MIN, INT32_MAX));
  }
};
struct SubSat {
  int32_t operator()(int32_t a, int32_t b) const {
    return static_cast<int32_t>(std::clamp<int64_t>(int64_t{a} - b, INT32_MIN, INT32_MAX));
  }
};
struct MulLo {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(static_cast<Safe<T>>(a) * static_cast<Safe<T>>(b));
  }
};
struct MulHi {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(static_cast<Wide<T>>(a) * static_cast<Wide<T>>(b) >> (8 * sizeof(T)));
  }
};
struct MulWide {
  template <typename T>
  Wide<T> operator()(T a, T b) const {
    return static_cast<Wide<T>>(a) * static_cast<Wide<T>>(b);
  }
};
struct MadLo {
  template <typename T>
  T operator()(T a, T b, T c) const {
    return Add()(MulLo()(a, b), c);
  }
};
struct MadHi {
  template <typename T>
  T operator()(T a, T b, T c) const {
    return Add()(MulHi()(a, b), c);
  }
};
struct MadHiSat {
  int32_t operator()(int32_t a, int32_t b, int32_t c) const { return AddSat()(MulHi()(a, b), c); }
};
struct MadWide {
  template <typename T>
  Wide<T> operator()(T a, T b, Wide<T> c) const {
    return Add()(MulWide()(a, b), c);
  }
};
// PTX leaves division by zero undefined; GPUs return all ones, and the dividend as the remainder.
struct Div {
  template <typename T>
  T operator()(T a, T b) const {
    if (b == 0) return static_cast<T>(~T{0});
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return Sub()(T{0}, a);
    }
    return static_cast<T>(a / b);
  }
};
struct Rem {
  template <typename T>
  T operator()(T a, T b) const {
    if (b == 0) return a;
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return 0;
    }
    return static_cast<T>(a % b);
  }
};
struct Min {
  template <typename T>
  T operator()(T a, T b) const {
    return b < a ? b : a;
  }
};
struct Max {
  template <typename T>
  T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};
template <typename F>
struct Relu {
  template <typename T>
  T operator()(T a, T b) const {
    return std::max<T>(F()(a, b), 0);
  }
};
struct Neg {
  template <typename T>
  T operator()(T a) const {
    return Sub()(T{0}, a);
  }
};
struct Abs {
  template <typename T>
  T operator()(T a) const {
    return a < 0 ? Sub()(T{0}, a) : a;
  }
};

template <typename F, typename T>
struct Packed {
  uint32_t operator()(uint32_t a, uint32_t b) const {
    const uint16_t low = static_cast<uint16_t>(F()(static_cast<T>(a), static_cast<T>(b)));
    const uint16_t high =
        static_cast<uint16_t>(F()(static_cast<T>(a >> 16), static_cast<T>(b >> 16)));
    return uint32_t{high} << 16 | low;
  }
};

template <typename F>
Handler BinaryOf(Type type) {
  return ForInteger(type, []<typename T>() -> Handler { return &Binary<F, T, T>; });
}
template <typename F>
Handler UnaryOf(Type type) {
  return ForInteger(type, []<typename T>() -> Handler { return &Unary<F, T, T>; });
}
template <typename F>
Handler WideOf(Type type) {
  return SizeOf(type) == 8 ? nullptr : ForInteger(type, []<typename T>() -> Handler {
    if constexpr (sizeof(T) == 8)
      return nullptr;
    else
      return &Binary<F, Wide<T>, T>;
  });
}

Type Widened(Type type) {
  switch (type) {
    case Type::kU16:
      return Type::kU32;
    case Type::kS16:
      return Type::kS32;
    case Type::kU32:
      return Type::kU64;
    default:
      return Type::kS64;
  }
}

void Check(Decoder& decoder, const Instr& in, Type type) {
  if (in.run == nullptr) {
    decoder.Invalid(Concat(decoder.mods().base(), " has no type ", NameOf(type)));
  }
}

void TakeBinary(Decoder& decoder, Instr& in, Type type) {
  in.d = decoder.Out(0, type);
  in.a = decoder.In(1, type);
  in.b = decoder.In(2, type);
}

}  // namespace

void DecodeIntegerAddSub(Decoder& decoder, Instr& in, Type type) {
  const bool add = decoder.mods().base() == "add";
  if (decoder.mods().Take("sat")) {
    if (type == Type::kS32) {
      in.run = add ? &Binary<AddSat, int32_t, int32_t> : &Binary<SubSat, int32_t, int32_t>;
    }
  } else {
    in.run = add ? BinaryOf<Add>(type) : BinaryOf<Sub>(type);
  }
  Check(decoder, in, type);
  TakeBinary(decoder, in, type);
}

void DecodeIntegerMul(Decoder& decoder, Instr& in, Type type) {
  if (decoder.mods().Take("wide")) {
    in.run = WideOf<MulWide>(type);
    Check(decoder, in, type);
    in.d = decoder.Out(0, Widened(type));
    in.a = decoder.In(1, type);
    in.b = decoder.In(2, type);
    return;
  }
  const bool high = decoder.mods().Take("hi");
  if (!high && !decoder.mods().Take("lo")) decoder.Invalid("mul of integers without lo, hi, wide");
  in.run = high ? BinaryOf<MulHi>(type) : BinaryOf<MulLo>(type);
  Check(decoder, in, type);
  TakeBinary(decoder, in, type);
}

void DecodeIntegerMad(Decoder& decoder, Instr& in, Type type) {
  if (decoder.mods().Take("wide")) {
    if (SizeOf(type) < 8) {
      in.run = ForInteger(type, []<typename T>() -> Handler {
        if constexpr (sizeof(T) == 8)
          return nullptr;
        else
          return &Ternary<MadWide, Wide<T>, T, T, Wide<T>>;
      });
    }
    Check(decoder, in, type);
    in.d = decoder.Out(0, Widened(type));
    in.a = decoder.In(1, type);
    in.b = decoder.In(2, type);
    in.c = decoder.In(3, Widened(type));
    return;
  }
  const bool high = decoder.mods().Take("hi");
  if (!high && !decoder.mods().Take("lo")) decoder.Invalid("mad of integers without lo, hi, wide");
  if (decoder.mods().Take("sat")) {
    if (high && type == Type::kS32) in.run = &Ternary<MadHiSat, int32_t, int32_t>;
  } else if (high) {
    in.run = ForInteger(type, []<typename T>() -> Handler { return &Ternary<MadHi, T, T>; });
  } else {
    in.run = ForInteger(type, []<typename T>() -> Handler { return &Ternary<MadLo, T, T>; });
  }
  Check(decoder, in, type);
  TakeBinary(decoder, in, type);
  in.c = decoder.In(3, type);
}

void DecodeIntegerDivRem(Decoder& decoder, Instr& in, Type type) {
  in.run = decoder.mods().base() == "div" ? BinaryOf<Div>(type) : BinaryOf<Rem>(type);
  Check(decoder, in, type);
  TakeBinary(decoder, in, type);
}

void DecodeIntegerMinMax(Decoder& decoder, Instr& in, Type type) {
  const bool min = decoder.mods().base() == "min";
  if (decoder.mods().Take("relu")) {
    if (type == Type::kS32) {
      in.run = min ? &Binary<Relu<Min>, int32_t, int32_t> : &Binary<Relu<Max>, int32_t, int32_t>;
    }
  } else {
    in.run = min ? BinaryOf<Min>(type) : BinaryOf<Max>(type);
  }
  Check(decoder, in, type);
  TakeBinary(decoder, in, type);
}

void DecodeIntegerNegAbs(Decoder& decoder, Instr& in, Type type) {
  if (IsSigned(type)) {
    in.run = decoder.mods().base() == "neg" ? UnaryOf<Neg>(type) : UnaryOf<Abs>(type);
  }
  Check(decoder, in, type);
  in.d = decoder.Out(0, type);
  in.a = decoder.In(1, type);
}

void DecodePackedInteger(Decoder& decoder, Instr& in, Type type) {
  const bool has_sign = type == Type::kS16x2;
  const bool relu = decoder.mods().Take("relu");
  const auto choose = [&]<typename F>(F) -> Handler {
    if (relu) {
      return has_sign ? &Binary<Packed<Relu<F>, int16_t>, uint32_t, uint32_t> : Handler{nullptr};
    }
    return has_sign ? &Binary<Packed<F, int16_t>, uint32_t, uint32_t>
                    : &Binary<Packed<F, uint16_t>, uint32_t, uint32_t>;
  };
  if (decoder.mods().base() == "add" && !relu) in.run = choose(Add());
  if (decoder.mods().base() == "min") in.run = choose(Min());
  if (decoder.mods().base() == "max") in.run = choose(Max());
  Check(decoder, in, type);
  TakeBinary(decoder, in, type);
}

}  // namespace cooper::ptx
