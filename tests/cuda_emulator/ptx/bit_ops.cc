// Implements logic, shifts, bit fields, permutations and dot products of bytes.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "absl/types/span.h"
#include "tests/cuda_emulator/ptx/bit_functions.h"
#include "tests/cuda_emulator/ptx/concat.h"
#include "tests/cuda_emulator/ptx/decoder.h"
#include "tests/cuda_emulator/ptx/handlers.h"
#include "tests/cuda_emulator/ptx/ops.h"

namespace cooper::ptx {
namespace {

template <typename F>
void Predicates(Warp& warp, const Instr& in, uint32_t mask) {
  const uint32_t value = F()(warp.Bits(in.a), warp.Bits(in.b));
  warp.Bits(in.d) = (warp.Bits(in.d) & ~mask) | (value & mask);
}

template <typename F>
void DecodeLogic(Decoder& decoder, Instr& in) {
  const Type type = decoder.mods().TakeType();
  in.run = type == Type::kPred
               ? &Predicates<F>
               : ForBits(type, []<typename T>() -> Handler { return &Binary<F, T, T>; });
  if (in.run == nullptr) decoder.Invalid("logic needs a type of bits");
  in.d = decoder.Out(0, type);
  in.a = decoder.In(1, type);
  in.b = type == Type::kNone || decoder.operands() < 3 ? in.a : decoder.In(2, type);
}

template <typename F>
void DecodeUnaryBits(Decoder& decoder, Instr& in) {
  const Type type = decoder.mods().TakeType();
  in.run = ForBits(type, []<typename T>() -> Handler { return &Unary<F, T, T>; });
  if (in.run == nullptr) decoder.Invalid("a type of bits is expected");
  in.d = decoder.Out(0, type);
  in.a = decoder.In(1, type);
}

// Decodes instructions with 32-bit results: popc, clz.
template <typename F>
void DecodeCount(Decoder& decoder, Instr& in) {
  const Type type = decoder.mods().TakeType();
  in.run = ForBits(type, []<typename T>() -> Handler { return &Unary<F, uint32_t, T>; });
  if (in.run == nullptr) decoder.Invalid("a type of bits is expected");
  in.d = decoder.Out(0, Type::kU32);
  in.a = decoder.In(1, type);
}

void DecodeBfind(Decoder& decoder, Instr& in) {
  const bool shift = decoder.mods().Take("shiftamt");
  const Type type = decoder.mods().TakeType();
  in.run =
      shift ? ForInteger(type,
                         []<typename T>() -> Handler { return &Unary<BfindShift, uint32_t, T>; })
            : ForInteger(type, []<typename T>() -> Handler { return &Unary<Bfind, uint32_t, T>; });
  if (in.run == nullptr) decoder.Invalid("an integer type is expected");
  in.d = decoder.Out(0, Type::kU32);
  in.a = decoder.In(1, type);
}

template <typename F>
void DecodeShift(Decoder& decoder, Instr& in) {
  const Type type = decoder.mods().TakeType();
  in.run = ForInteger(type, []<typename T>() -> Handler { return &Binary<F, T, T, uint32_t>; });
  if (in.run == nullptr) decoder.Invalid("an integer type is expected");
  in.d = decoder.Out(0, type);
  in.a = decoder.In(1, type);
  in.b = decoder.In(2, Type::kU32);
}

void DecodeBfe(Decoder& decoder, Instr& in) {
  const Type type = decoder.mods().TakeType();
  if (SizeOf(type) >= 4) {
    in.run = ForInteger(
        type, []<typename T>() -> Handler { return &Ternary<Bfe, T, T, uint32_t, uint32_t>; });
  }
  if (in.run == nullptr) decoder.Invalid("an integer type is expected");
  in.d = decoder.Out(0, type);
  in.a = decoder.In(1, type);
  in.b = decoder.In(2, Type::kU32);
  in.c = decoder.In(3, Type::kU32);
}

template <typename T>
void RunBfi(Warp& warp, const Instr& in, uint32_t mask) {
  auto* d = warp.Lanes<T>(in.d);
  const auto* a = warp.Lanes<T>(in.a);
  const auto* b = warp.Lanes<T>(in.b);
  const uint32_t* c = warp.Lanes<uint32_t>(in.c);
  const uint32_t* e = warp.Lanes<uint32_t>(in.e);
  ForLanes(mask, [&](int l) { d[l] = Bfi()(a[l], b[l], c[l], e[l]); });
}

void DecodeBfi(Decoder& decoder, Instr& in) {
  const Type type = decoder.mods().TakeType();
  if (type != Type::kB32 && type != Type::kB64) decoder.Invalid("bfi is for b32 and b64");
  in.run = type == Type::kB64 ? &RunBfi<uint64_t> : &RunBfi<uint32_t>;
  in.d = decoder.Out(0, type);
  in.a = decoder.In(1, type);
  in.b = decoder.In(2, type);
  in.c = decoder.In(3, Type::kU32);
  in.e = decoder.In(4, Type::kU32);
}

// Takes three 32-bit operands.
void TakeThree(Decoder& decoder, Instr& in) {
  in.d = decoder.Out(0, Type::kB32);
  in.a = decoder.In(1, Type::kB32);
  in.b = decoder.In(2, Type::kB32);
  in.c = decoder.In(3, Type::kB32);
}

void DecodePrmt(Decoder& decoder, Instr& in) {
  decoder.mods().Take("b32");
  const std::string_view mode = decoder.mods().TakeAny({"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"});
  in.value = static_cast<uint64_t>(PrmtModeOf(mode));
  in.run = &TernaryWithValue<Prmt, uint32_t, uint32_t>;
  TakeThree(decoder, in);
}

void DecodeLop3(Decoder& decoder, Instr& in) {
  decoder.mods().Take("b32");
  const Operand& table = decoder.operand(4);
  if (table.kind != Operand::Kind::kInteger || table.value > 255) {
    decoder.Invalid("lop3 needs a table of 8 bits");
  }
  in.value = table.value;
  in.run = &TernaryWithValue<Lop3, uint32_t, uint32_t>;
  TakeThree(decoder, in);
}

void DecodeShf(Decoder& decoder, Instr& in) {
  const bool left = decoder.mods().Take("l");
  if (!left && !decoder.mods().Take("r")) decoder.Invalid("shf without l or r");
  const bool clamp = decoder.mods().Take("clamp");
  if (!clamp && !decoder.mods().Take("wrap")) decoder.Invalid("shf without clamp or wrap");
  decoder.mods().Take("b32");
  in.value = (left ? 1u : 0u) | (clamp ? 2u : 0u);
  in.run = &TernaryWithValue<Shf, uint32_t, uint32_t>;
  TakeThree(decoder, in);
}

void DecodeBmsk(Decoder& decoder, Instr& in) {
  const bool clamp = decoder.mods().Take("clamp");
  if (!clamp) decoder.mods().Take("wrap");
  decoder.mods().Take("b32");
  in.run =
      clamp ? &Binary<Bmsk<true>, uint32_t, uint32_t> : &Binary<Bmsk<false>, uint32_t, uint32_t>;
  in.d = decoder.Out(0, Type::kB32);
  in.a = decoder.In(1, Type::kU32);
  in.b = decoder.In(2, Type::kU32);
}

void DecodeSzext(Decoder& decoder, Instr& in) {
  const bool clamp = decoder.mods().Take("clamp");
  if (!clamp) decoder.mods().Take("wrap");
  const Type type = decoder.mods().TakeType();
  if (type == Type::kS32) {
    in.run = clamp ? &Binary<Szext<true>, int32_t, int32_t, uint32_t>
                   : &Binary<Szext<false>, int32_t, int32_t, uint32_t>;
  } else {
    in.run = clamp ? &Binary<Szext<true>, uint32_t, uint32_t>
                   : &Binary<Szext<false>, uint32_t, uint32_t>;
  }
  in.d = decoder.Out(0, Type::kB32);
  in.a = decoder.In(1, Type::kB32);
  in.b = decoder.In(2, Type::kB32);
}

void DecodeSad(Decoder& decoder, Instr& in) {
  const Type type = decoder.mods().TakeType();
  in.run = ForInteger(type, []<typename T>() -> Handler { return &Ternary<Sad, T, T>; });
  if (in.run == nullptr) decoder.Invalid("an integer type is expected");
  in.d = decoder.Out(0, type);
  in.a = decoder.In(1, type);
  in.b = decoder.In(2, type);
  in.c = decoder.In(3, type);
}

void DecodeMul24(Decoder& decoder, Instr& in) {
  const bool mad = decoder.mods().base() == "mad24";
  const bool high = decoder.mods().Take("hi");
  if (!high) decoder.mods().Take("lo");
  const bool has_sign = decoder.mods().TakeType() == Type::kS32;
  in.value = (high ? 1u : 0u) | (has_sign ? 2u : 0u);
  in.run = &TernaryWithValue<Mad24, uint32_t, uint32_t>;
  in.d = decoder.Out(0, Type::kB32);
  in.a = decoder.In(1, Type::kB32);
  in.b = decoder.In(2, Type::kB32);
  in.c = mad ? decoder.In(3, Type::kB32) : decoder.Value(0, Type::kB32);
}

// Decodes dp4a.atype.btype and dp2a.mode.atype.btype.
void DecodeDot(Decoder& decoder, Instr& in) {
  const bool four = decoder.mods().base() == "dp4a";
  const bool high = !four && decoder.mods().Take("hi");
  if (!four && !high) decoder.mods().Take("lo");
  const bool a_sign = decoder.mods().TakeType() == Type::kS32;
  const bool b_sign = decoder.mods().TakeType() == Type::kS32;
  in.value = (a_sign ? 1u : 0u) | (b_sign ? 2u : 0u) | (four ? 4u : 0u) | (high ? 8u : 0u);
  in.run = &TernaryWithValue<Dot, uint32_t, uint32_t>;
  TakeThree(decoder, in);
}

constexpr Op kOps[] = {
    {"and", &DecodeLogic<And>},
    {"or", &DecodeLogic<Or>},
    {"xor", &DecodeLogic<Xor>},
    {"not", &DecodeLogic<NotFirst>},
    {"cnot", &DecodeUnaryBits<Cnot>},
    {"brev", &DecodeUnaryBits<Brev>},
    {"popc", &DecodeCount<Popc>},
    {"clz", &DecodeCount<Clz>},
    {"bfind", &DecodeBfind},
    {"shl", &DecodeShift<Shl>},
    {"shr", &DecodeShift<Shr>},
    {"bfe", &DecodeBfe},
    {"bfi", &DecodeBfi},
    {"prmt", &DecodePrmt},
    {"lop3", &DecodeLop3},
    {"shf", &DecodeShf},
    {"bmsk", &DecodeBmsk},
    {"szext", &DecodeSzext},
    {"sad", &DecodeSad},
    {"mul24", &DecodeMul24},
    {"mad24", &DecodeMul24},
    {"dp4a", &DecodeDot},
    {"dp2a", &DecodeDot},
};

}  // namespace

absl::Span<const Op> BitOps() { return kOps; }

}  // namespace cooper::ptx
