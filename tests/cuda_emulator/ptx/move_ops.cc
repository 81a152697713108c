// Implements mov, with packing and unpacking of vectors and clocks, cvta and isspacep.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "tests/cuda_emulator/ptx/concat.h"
#include "tests/cuda_emulator/ptx/decoder.h"
#include "tests/cuda_emulator/ptx/handlers.h"
#include "tests/cuda_emulator/ptx/memory.h"
#include "tests/cuda_emulator/ptx/ops.h"
#include "tests/cuda_emulator/ptx/special.h"

namespace cooper::ptx {
namespace {

template <typename T>
void Move(Warp& warp, const Instr& in, uint32_t mask) {
  auto* d = warp.Lanes<T>(in.d);
  const auto* a = warp.Lanes<T>(in.a);
  ForLanes(mask, [&](int l) { d[l] = a[l]; });
}

void MovePredicate(Warp& warp, const Instr& in, uint32_t mask) {
  warp.Bits(in.d) = (warp.Bits(in.d) & ~mask) | (warp.Bits(in.a) & mask);
}

// Packs {a, b, ...} into one value: part i has in.mode bits, at bit i * in.mode.
template <typename To, typename Part>
void PackParts(Warp& warp, const Instr& in, uint32_t mask) {
  auto* d = warp.Lanes<To>(in.d);
  const uint32_t* slots = warp.code().lists.data() + in.list;
  const uint64_t ones = (uint64_t{1} << in.mode) - 1;
  ForLanes(mask, [&](int l) {
    uint64_t value = 0;
    for (int i = 0; i < in.count; ++i) {
      value |= (uint64_t{warp.Lanes<Part>(slots[i])[l]} & ones) << (i * in.mode);
    }
    d[l] = static_cast<SlotOf<To>>(value);
  });
}

// Unpacks one value into {a, b, ...}.
template <typename From, typename Part>
void UnpackParts(Warp& warp, const Instr& in, uint32_t mask) {
  const auto* a = warp.Lanes<From>(in.a);
  const uint32_t* slots = warp.code().lists.data() + in.list;
  const uint64_t ones = (uint64_t{1} << in.mode) - 1;
  ForLanes(mask, [&](int l) {
    const uint64_t value = a[l];
    for (int i = 0; i < in.count; ++i) {
      warp.Lanes<Part>(slots[i])[l] = static_cast<SlotOf<Part>>(value >> (i * in.mode) & ones);
    }
  });
}

// Returns the instructions of the launch so far, which only grow.
void Clock(Warp& warp, const Instr& in, uint32_t mask) {
  Counters& counters = warp.launch().counters;
  const uint64_t now =
      static_cast<uint64_t>(++warp.launch().clock_reads * 16 + counters.warp_instructions);
  warp.Spend(16);  // the caller may poll the clock
  const Special special = static_cast<Special>(in.mode);
  const bool high = special == Special::kClockHi || special == Special::kGlobaltimerHi;
  const uint64_t value = high ? now >> 32 : now;
  if (SizeOf(special) == 8) {
    ForLanes(mask, [&](int l) { warp.Lanes<uint64_t>(in.d)[l] = value; });
  } else {
    ForLanes(mask, [&](int l) { warp.Lanes<uint32_t>(in.d)[l] = static_cast<uint32_t>(value); });
  }
}

Type BitsOf(int bytes) {
  return bytes == 8 ? Type::kB64 : bytes == 4 ? Type::kB32 : bytes == 2 ? Type::kB16 : Type::kB8;
}

// Decodes mov.b64 {%r1, %r2}, %rd1 and similar.
void DecodeVectorMove(Decoder& decoder, Instr& in, Type type, bool pack) {
  const Operand& vector = decoder.operand(pack ? 1 : 0);
  const int count = static_cast<int>(vector.parts.size());
  if (SizeOf(type) > 8) {
    decoder.Unimplemented("mov of 128 bits");
    return;
  }
  if ((count != 2 && count != 4) || SizeOf(type) % count != 0) {
    decoder.Invalid("a vector that does not fit");
    return;
  }
  const Type part = BitsOf(SizeOf(type) / count);
  std::vector<uint32_t> slots;
  for (const Operand& operand : vector.parts) {
    slots.push_back(pack ? decoder.InOf(operand, part) : decoder.OutOf(operand, part));
  }
  in.list = decoder.List(slots);
  in.count = static_cast<uint8_t>(count);
  in.mode = static_cast<uint8_t>(8 * SizeOf(part));
  if (pack) {
    in.run = SizeOf(type) == 8 ? &PackParts<uint64_t, uint32_t> : &PackParts<uint32_t, uint32_t>;
    in.d = decoder.Out(0, type);
  } else {
    in.run =
        SizeOf(type) == 8 ? &UnpackParts<uint64_t, uint32_t> : &UnpackParts<uint32_t, uint32_t>;
    in.a = decoder.In(1, type);
  }
}

void DecodeMov(Decoder& decoder, Instr& in) {
  const Type type = decoder.mods().TakeType();
  const Operand& to = decoder.operand(0);
  const Operand& from = decoder.operand(1);
  if (to.kind == Operand::Kind::kVector || from.kind == Operand::Kind::kVector) {
    DecodeVectorMove(decoder, in, type, from.kind == Operand::Kind::kVector);
    return;
  }
  if (SizeOf(type) > 8) {
    decoder.Unimplemented("mov of 128 bits");
    return;
  }
  in.d = decoder.Out(0, type);
  if (from.kind == Operand::Kind::kSpecial && IsClock(static_cast<Special>(from.index))) {
    in.run = &Clock;
    in.mode = static_cast<uint8_t>(from.index);
    if (SizeOf(static_cast<Special>(from.index)) != SizeOf(type)) {
      decoder.Invalid("a clock of another width");
    }
    return;
  }
  in.run = type == Type::kPred ? &MovePredicate
           : SizeOf(type) == 8 ? &Move<uint64_t>
                               : &Move<uint32_t>;
  in.a = decoder.In(1, type);
}

uint64_t WindowOf(Space space) {
  return space == Space::kShared  ? kSharedWindow
         : space == Space::kLocal ? kLocalWindow
         : space == Space::kParam ? kParamWindow
                                  : 0;
}

Space TakeSpace(Modifiers& mods) {
  const std::string_view name =
      mods.TakeAny({"global", "shared", "shared::cta", "local", "const", "param", "param::entry"});
  if (name.substr(0, 6) == "shared") return Space::kShared;
  if (name == "local") return Space::kLocal;
  if (name.substr(0, 5) == "param") return Space::kParam;
  return name == "const" ? Space::kConst : name == "global" ? Space::kGlobal : Space::kGeneric;
}

// cvta.space.u64 d, a: in.value is the window.
void ToGeneric(Warp& warp, const Instr& in, uint32_t mask) {
  uint64_t* d = warp.Lanes<uint64_t>(in.d);
  const uint64_t* a = warp.Lanes<uint64_t>(in.a);
  ForLanes(mask, [&](int l) { d[l] = a[l] + in.value; });
}

void DecodeCvta(Decoder& decoder, Instr& in) {
  Modifiers& mods = decoder.mods();
  const bool to = mods.Take("to");
  const Space space = TakeSpace(mods);
  const Type type = mods.TakeType();
  if (type != Type::kU64 || space == Space::kGeneric) decoder.Invalid("cvta.space.u64 is expected");
  in.value = to ? 0 - WindowOf(space) : WindowOf(space);
  in.run = &ToGeneric;
  in.d = decoder.Out(0, type);
  in.a = decoder.InAny(decoder.operand(1), type);
}

void IsSpace(Warp& warp, const Instr& in, uint32_t mask) {
  const uint64_t* a = warp.Lanes<uint64_t>(in.a);
  uint32_t bits = 0;
  const uint64_t window = WindowOf(static_cast<Space>(in.mode));
  ForLanes(mask, [&](int l) {
    const bool inside = window != 0 ? InWindow(a[l], window) : a[l] >> 60 == 0;
    if (inside) bits |= 1u << l;
  });
  warp.Bits(in.d) = (warp.Bits(in.d) & ~mask) | bits;
}

void DecodeIsspacep(Decoder& decoder, Instr& in) {
  const Space space = TakeSpace(decoder.mods());
  if (space == Space::kGeneric) decoder.Invalid("isspacep without a space");
  in.mode = static_cast<uint8_t>(space);
  in.run = &IsSpace;
  in.d = decoder.Out(0, Type::kPred);
  in.a = decoder.In(1, Type::kU64);
}

constexpr Op kOps[] = {{"mov", &DecodeMov}, {"cvta", &DecodeCvta}, {"isspacep", &DecodeIsspacep}};

}  // namespace

absl::Span<const Op> MoveOps() { return kOps; }

}  // namespace cooper::ptx
