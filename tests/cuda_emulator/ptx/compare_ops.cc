// Implements setp, set, selp and slct.

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <vector>

#include "absl/types/span.h"
#include "tests/cuda_emulator/ptx/concat.h"
#include "tests/cuda_emulator/ptx/decoder.h"
#include "tests/cuda_emulator/ptx/float_ops.h"
#include "tests/cuda_emulator/ptx/handlers.h"
#include "tests/cuda_emulator/ptx/ops.h"
#include "tests/cuda_emulator/ptx/rounding.h"

namespace cooper::ptx {
namespace {

// A comparison is the set of relations that make it true.
constexpr uint8_t kLess = 1;
constexpr uint8_t kEqual = 2;
constexpr uint8_t kGreater = 4;
constexpr uint8_t kUnordered = 8;

struct Comparison {
  std::string_view name;
  uint8_t relations;
  bool integer;
};
constexpr Comparison kComparisons[] = {
    {"eq", kEqual, true},
    {"ne", kLess | kGreater, true},
    {"lt", kLess, true},
    {"le", kLess | kEqual, true},
    {"gt", kGreater, true},
    {"ge", kGreater | kEqual, true},
    {"lo", kLess, true},
    {"ls", kLess | kEqual, true},
    {"hi", kGreater, true},
    {"hs", kGreater | kEqual, true},
    {"equ", kEqual | kUnordered, false},
    {"neu", kLess | kGreater | kUnordered, false},
    {"ltu", kLess | kUnordered, false},
    {"leu", kLess | kEqual | kUnordered, false},
    {"gtu", kGreater | kUnordered, false},
    {"geu", kGreater | kEqual | kUnordered, false},
    {"num", kLess | kEqual | kGreater, false},
    {"nan", kUnordered, false},
};

// Instr::mode holds the relations and ftz.
constexpr uint8_t kFtz = 16;
// Instr::count holds the operation that combines the result with a predicate.
enum class Combine : uint8_t { kNone, kAnd, kOr, kXor };

template <typename T>
bool Compare(uint8_t relations, T a, T b) {
  const uint8_t relation = a < b ? kLess : a == b ? kEqual : a > b ? kGreater : kUnordered;
  return (relations & relation) != 0;
}

template <typename T>
uint32_t CompareLanes(Warp& warp, const Instr& in, uint32_t mask) {
  const auto* a = warp.Lanes<T>(in.a);
  const auto* b = warp.Lanes<T>(in.b);
  uint32_t bits = 0;
  const auto loop = [&](const auto& compare) {
    ForLanes(mask, [&](int l) {
      bits |= static_cast<uint32_t>(compare(Unpack<T>(a[l]), Unpack<T>(b[l]))) << l;
    });
  };
  if constexpr (std::is_same_v<T, float>) {
    if ((in.mode & kFtz) != 0) {
      loop([&](T x, T y) { return Compare(in.mode, FlushSubnormal(x), FlushSubnormal(y)); });
      return bits;
    }
  }
  switch (in.mode) {  // those that loops consist of
    case kEqual:
      loop([](T x, T y) { return x == y; });
      break;
    case kLess:
      loop([](T x, T y) { return x < y; });
      break;
    case kGreater | kEqual:
      loop([](T x, T y) { return x >= y; });
      break;
    default:
      loop([&](T x, T y) { return Compare(in.mode, x, y); });
  }
  return bits;
}

template <typename H>
uint32_t CompareHalves(Warp& warp, const Instr& in, uint32_t mask, int shift) {
  const uint32_t* a = warp.Lanes<uint32_t>(in.a);
  const uint32_t* b = warp.Lanes<uint32_t>(in.b);
  uint32_t bits = 0;
  const auto value = [&](uint32_t x) { return ToFloat(H{static_cast<uint16_t>(x >> shift)}); };
  ForLanes(mask, [&](int l) {
    bits |= static_cast<uint32_t>(Compare(in.mode, value(a[l]), value(b[l]))) << l;
  });
  return bits;
}

using LaneCompare = uint32_t (*)(Warp&, const Instr&, uint32_t);

template <typename H, int kShift>
uint32_t HalfAt(Warp& warp, const Instr& in, uint32_t mask) {
  return CompareHalves<H>(warp, in, mask, kShift);
}

// Returns use.operator()<compare>() for the comparison of a type; null for unknown types.
template <typename Use>
Handler ForComparison(Type type, const Use& use) {
  switch (type) {
    case Type::kF32:
      return use.template operator()<&CompareLanes<float>>();
    case Type::kF64:
      return use.template operator()<&CompareLanes<double>>();
    case Type::kF16:
      return use.template operator()<&HalfAt<Half, 0>>();
    case Type::kBf16:
      return use.template operator()<&HalfAt<Bfloat, 0>>();
    default:
      break;
  }
  return ForInteger(
      type, [&]<typename T>() -> Handler { return use.template operator()<&CompareLanes<T>>(); });
}

uint32_t Combined(Warp& warp, const Instr& in, uint32_t bits) {
  switch (static_cast<Combine>(in.count)) {
    case Combine::kAnd:
      return bits & warp.Bits(in.c);
    case Combine::kOr:
      return bits | warp.Bits(in.c);
    case Combine::kXor:
      return bits ^ warp.Bits(in.c);
    default:
      return bits;
  }
}

void Assign(Warp& warp, uint32_t slot, uint32_t mask, uint32_t bits) {
  warp.Bits(slot) = (warp.Bits(slot) & ~mask) | (bits & mask);
}

template <LaneCompare kCompare>
void Setp(Warp& warp, const Instr& in, uint32_t mask) {
  const uint32_t bits = kCompare(warp, in, mask);
  const uint32_t second = Combined(warp, in, ~bits);
  Assign(warp, in.d, mask, Combined(warp, in, bits));
  if (in.d2 != kNoSlot) Assign(warp, in.d2, mask, second);
}

// setp.f16x2 sets one predicate for each half.
template <typename H>
void SetpPair(Warp& warp, const Instr& in, uint32_t mask) {
  const uint32_t low = CompareHalves<H>(warp, in, mask, 0);
  const uint32_t high = CompareHalves<H>(warp, in, mask, 16);
  Assign(warp, in.d, mask, Combined(warp, in, low));
  if (in.d2 != kNoSlot) Assign(warp, in.d2, mask, Combined(warp, in, high));
}

// Instr::value is the representation of true.
template <LaneCompare kCompare>
void Set(Warp& warp, const Instr& in, uint32_t mask) {
  const uint32_t bits = Combined(warp, in, kCompare(warp, in, mask));
  uint32_t* d = warp.Lanes<uint32_t>(in.d);
  const uint32_t one = static_cast<uint32_t>(in.value);
  ForLanes(mask, [&](int l) { d[l] = (bits >> l & 1) != 0 ? one : 0; });
}

template <typename H>
void SetPair(Warp& warp, const Instr& in, uint32_t mask) {
  const uint32_t low = Combined(warp, in, CompareHalves<H>(warp, in, mask, 0));
  const uint32_t high = Combined(warp, in, CompareHalves<H>(warp, in, mask, 16));
  uint32_t* d = warp.Lanes<uint32_t>(in.d);
  const uint32_t one = static_cast<uint32_t>(in.value);
  ForLanes(mask, [&](int l) {
    d[l] = ((low >> l & 1) != 0 ? one : 0) | ((high >> l & 1) != 0 ? one << 16 : 0);
  });
}

// Takes the comparison, ftz and the boolean operation from the modifiers.
void TakeComparison(Decoder& decoder, Instr& in, bool floating) {
  Modifiers& mods = decoder.mods();
  bool found = false;
  for (const Comparison& comparison : kComparisons) {
    if ((!floating && !comparison.integer) || !mods.Take(comparison.name)) continue;
    in.mode = comparison.relations;
    found = true;
    break;
  }
  if (!found) decoder.Invalid("no comparison for this type");
  if (mods.Take("ftz")) in.mode |= kFtz;
  const std::string_view combine = mods.TakeAny({"and", "or", "xor"});
  if (combine.empty()) return;
  in.count = static_cast<uint8_t>(combine == "and"  ? Combine::kAnd
                                  : combine == "or" ? Combine::kOr
                                                    : Combine::kXor);
  in.c = decoder.In(3, Type::kPred);
}

bool IsPair(Type type) { return type == Type::kF16x2 || type == Type::kBf16x2; }

void DecodeSetp(Decoder& decoder, Instr& in) {
  const Type type = decoder.mods().TakeType();
  TakeComparison(decoder, in, IsFloat(type) || IsPair(type));
  if (IsHalf(type)) in.mode &= static_cast<uint8_t>(~kFtz);
  if (type == Type::kF16x2) {
    in.run = &SetpPair<Half>;
  } else if (type == Type::kBf16x2) {
    in.run = &SetpPair<Bfloat>;
  } else {
    in.run = ForComparison(type, []<LaneCompare kCompare>() -> Handler { return &Setp<kCompare>; });
  }
  if (in.run == nullptr) decoder.Invalid(Concat("setp has no type ", NameOf(type)));
  const Operand& d = decoder.operand(0);
  if (d.kind == Operand::Kind::kVector && d.parts.size() == 2) {
    in.d = decoder.OutOf(d.parts[0], Type::kPred);
    in.d2 = decoder.OutOf(d.parts[1], Type::kPred);
  } else {
    in.d = decoder.Out(0, Type::kPred);
  }
  in.a = decoder.In(1, type);
  in.b = decoder.In(2, type);
}

void DecodeSet(Decoder& decoder, Instr& in) {
  const Type to = decoder.mods().TakeType();
  const Type type = decoder.mods().TakeType();
  TakeComparison(decoder, in, IsFloat(type) || IsPair(type));
  if (IsHalf(type)) in.mode &= static_cast<uint8_t>(~kFtz);
  in.value = to == Type::kF32                           ? 0x3f800000
             : to == Type::kF16 || to == Type::kF16x2   ? 0x3c00
             : to == Type::kBf16 || to == Type::kBf16x2 ? 0x3f80
             : IsPair(type) || SizeOf(to) == 2          ? 0xffff
                                                        : 0xffffffff;
  if (type == Type::kF16x2) {
    in.run = &SetPair<Half>;
  } else if (type == Type::kBf16x2) {
    in.run = &SetPair<Bfloat>;
  } else {
    in.run = ForComparison(type, []<LaneCompare kCompare>() -> Handler { return &Set<kCompare>; });
  }
  if (in.run == nullptr) decoder.Invalid(Concat("set has no type ", NameOf(type)));
  in.d = decoder.Out(0, to);
  in.a = decoder.In(1, type);
  in.b = decoder.In(2, type);
}

template <typename T>
void Selp(Warp& warp, const Instr& in, uint32_t mask) {
  auto* d = warp.Lanes<T>(in.d);
  const auto* a = warp.Lanes<T>(in.a);
  const auto* b = warp.Lanes<T>(in.b);
  const uint32_t bits = warp.Bits(in.c);
  ForLanes(mask, [&](int l) { d[l] = (bits >> l & 1) != 0 ? a[l] : b[l]; });
}

void DecodeSelp(Decoder& decoder, Instr& in) {
  const Type type = decoder.mods().TakeType();
  in.run = SizeOf(type) == 8 ? &Selp<uint64_t> : &Selp<uint32_t>;
  in.d = decoder.Out(0, type);
  in.a = decoder.In(1, type);
  in.b = decoder.In(2, type);
  in.c = decoder.In(3, Type::kPred);
  if (type == Type::kPred || type == Type::kNone) decoder.Invalid("selp needs a type");
}

// Selects a if c >= 0, else b, also for NaN.
template <typename T, typename C>
void Slct(Warp& warp, const Instr& in, uint32_t mask) {
  auto* d = warp.Lanes<T>(in.d);
  const auto* a = warp.Lanes<T>(in.a);
  const auto* b = warp.Lanes<T>(in.b);
  const auto* c = warp.Lanes<C>(in.c);
  ForLanes(mask, [&](int l) {
    C value = Unpack<C>(c[l]);
    if constexpr (std::is_same_v<C, float>) {
      if (in.mode != 0) value = FlushSubnormal(value);
    }
    d[l] = value >= C{0} ? a[l] : b[l];
  });
}

void DecodeSlct(Decoder& decoder, Instr& in) {
  const Type type = decoder.mods().TakeType();
  const Type by = decoder.mods().TakeType();
  in.mode = decoder.mods().Take("ftz") ? 1 : 0;
  const bool wide = SizeOf(type) == 8;
  if (by == Type::kF32) {
    in.run = wide ? &Slct<uint64_t, float> : &Slct<uint32_t, float>;
  } else if (by == Type::kS32) {
    in.run = wide ? &Slct<uint64_t, int32_t> : &Slct<uint32_t, int32_t>;
  } else {
    decoder.Invalid("slct goes by s32 or f32");
  }
  in.d = decoder.Out(0, type);
  in.a = decoder.In(1, type);
  in.b = decoder.In(2, type);
  in.c = decoder.In(3, by);
}

constexpr Op kOps[] = {
    {"setp", &DecodeSetp}, {"set", &DecodeSet}, {"selp", &DecodeSelp}, {"slct", &DecodeSlct}};

}  // namespace

absl::Span<const Op> CompareOps() { return kOps; }

}  // namespace cooper::ptx
