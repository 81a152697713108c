// Decodes add, sub, mul, mad, fma, div, rem, min, max, neg and abs: the type selects the file that
// implements the instruction.

#include <string_view>

#include "absl/types/span.h"
#include "tests/cuda_emulator/ptx/carry_ops.h"
#include "tests/cuda_emulator/ptx/concat.h"
#include "tests/cuda_emulator/ptx/decoder.h"
#include "tests/cuda_emulator/ptx/float_ops.h"
#include "tests/cuda_emulator/ptx/integer_ops.h"
#include "tests/cuda_emulator/ptx/ops.h"
#include "tests/cuda_emulator/ptx/program.h"
#include "tests/cuda_emulator/ptx/types.h"

namespace cooper::ptx {
namespace {

bool IsPackedInteger(Type type) { return type == Type::kU16x2 || type == Type::kS16x2; }

using DecodeTyped = void (*)(Decoder&, Instr&, Type);

// The decoders for each kind of type. Null if there is no such instruction.
struct ByType {
  DecodeTyped integer = nullptr;
  DecodeTyped floating = nullptr;  // f32, f64
  DecodeTyped half = nullptr;
  DecodeTyped packed_integer = nullptr;
};

void Decode(Decoder& decoder, Instr& in, const ByType& by_type) {
  const Type type = decoder.mods().TakeType();
  DecodeTyped decode = by_type.integer;
  if (IsHalf(type)) {
    decode = by_type.half;
  } else if (IsFloat(type)) {
    decode = by_type.floating;
  } else if (IsPackedInteger(type)) {
    decode = by_type.packed_integer;
  }
  if (decode == nullptr) {
    decoder.Unimplemented(Concat(decoder.mods().base(), " of type ", NameOf(type)));
    return;
  }
  decode(decoder, in, type);
}

void DecodeAddSub(Decoder& decoder, Instr& in) {
  if (decoder.mods().Take("cc")) {
    DecodeCarryAddSub(decoder, in, false, true);
    return;
  }
  Decode(decoder, in,
         {&DecodeIntegerAddSub, &DecodeFloatBinary, &DecodeHalf, &DecodePackedInteger});
}

void DecodeMul(Decoder& decoder, Instr& in) {
  Decode(decoder, in, {&DecodeIntegerMul, &DecodeFloatBinary, &DecodeHalf});
}

void DecodeMad(Decoder& decoder, Instr& in) {
  if (decoder.mods().Take("cc")) {
    DecodeCarryMad(decoder, in, false, true);
    return;
  }
  Decode(decoder, in, {&DecodeIntegerMad, &DecodeFloatFma});
}

void DecodeFma(Decoder& decoder, Instr& in) {
  Decode(decoder, in, {nullptr, &DecodeFloatFma, &DecodeHalf});
}

void DecodeDiv(Decoder& decoder, Instr& in) {
  Decode(decoder, in, {&DecodeIntegerDivRem, &DecodeFloatBinary});
}

void DecodeRem(Decoder& decoder, Instr& in) { Decode(decoder, in, {&DecodeIntegerDivRem}); }

void DecodeMinMax(Decoder& decoder, Instr& in) {
  Decode(decoder, in,
         {&DecodeIntegerMinMax, &DecodeFloatMinMax, &DecodeHalf, &DecodePackedInteger});
}

void DecodeNegAbs(Decoder& decoder, Instr& in) {
  Decode(decoder, in, {&DecodeIntegerNegAbs, &DecodeFloatNegAbs, &DecodeHalf});
}

constexpr Op kOps[] = {
    {"add", &DecodeAddSub}, {"sub", &DecodeAddSub}, {"mul", &DecodeMul},    {"mad", &DecodeMad},
    {"fma", &DecodeFma},    {"div", &DecodeDiv},    {"rem", &DecodeRem},    {"min", &DecodeMinMax},
    {"max", &DecodeMinMax}, {"neg", &DecodeNegAbs}, {"abs", &DecodeNegAbs},
};

}  // namespace

absl::Span<const Op> ArithmeticOps() { return kOps; }

}  // namespace cooper::ptx
