#ifndef COOPER_THIRD_PARTY_CUDA_EMULATOR_PTX_FLOAT_OPS_H_
#define COOPER_THIRD_PARTY_CUDA_EMULATOR_PTX_FLOAT_OPS_H_

// Arithmetic on floating-point numbers: f32 and f64 here, f16, bf16 and pairs of them in
// half_ops.cc. Results that are no numbers are the NaN that GPUs give: 0x7fffffff, 0x7fff.

#include <bit>
#include <cmath>
#include <cstdint>

#include "third_party/cuda/emulator/ptx/decoder.h"
#include "third_party/cuda/emulator/ptx/program.h"
#include "third_party/cuda/emulator/ptx/rounding.h"
#include "third_party/cuda/emulator/ptx/types.h"

namespace cooper::ptx {

struct FloatAdd {
  template <typename T>
  T operator()(T a, T b) const {
    return a + b;
  }
};
struct FloatSub {
  template <typename T>
  T operator()(T a, T b) const {
    return a - b;
  }
};
struct FloatMul {
  template <typename T>
  T operator()(T a, T b) const {
    return a * b;
  }
};
struct FloatDiv {
  template <typename T>
  T operator()(T a, T b) const {
    return a / b;
  }
};
// The number, if one of both is NaN; -0 is below +0.
struct FloatMin {
  template <typename T>
  T operator()(T a, T b) const {
    if (std::isnan(a)) return b;
    if (std::isnan(b)) return a;
    if (a == b) return std::signbit(a) ? a : b;
    return a < b ? a : b;
  }
};
struct FloatMax {
  template <typename T>
  T operator()(T a, T b) const {
    if (std::isnan(a)) return b;
    if (std::isnan(b)) return a;
    if (a == b) return std::signbit(a) ? b : a;
    return a > b ? a : b;
  }
};
// min.NaN, max.NaN
template <typename F>
struct PassNan {
  template <typename T>
  T operator()(T a, T b) const {
    return std::isnan(a) || std::isnan(b) ? a + b : F()(a, b);
  }
};
// min.xorsign.abs, max.xorsign.abs
template <typename F>
struct XorSign {
  template <typename T>
  T operator()(T a, T b) const {
    const T magnitude = F()(std::fabs(a), std::fabs(b));
    return std::signbit(a) != std::signbit(b) ? -magnitude : magnitude;
  }
};

// Instr::mode of a floating-point instruction.
struct FloatMode {
  Rounding rounding = Rounding::kNearest;
  bool ftz = false;   // subnormal operands and results are zeros
  bool sat = false;   // into [0, 1]; NaN becomes 0
  bool relu = false;  // negative results become 0

  uint8_t Encode() const {
    return static_cast<uint8_t>(static_cast<int>(rounding) | (ftz ? 8 : 0) | (sat ? 16 : 0) |
                                (relu ? 32 : 0));
  }
  static FloatMode Decode(uint8_t mode) {
    return {static_cast<Rounding>(mode & 7), (mode & 8) != 0, (mode & 16) != 0, (mode & 32) != 0};
  }
  static FloatMode Take(Modifiers& mods) {
    FloatMode mode;
    mode.rounding = TakeRounding(mods);
    mode.ftz = mods.Take("ftz");
    mode.sat = mods.Take("sat");
    mode.relu = mods.Take("relu");
    return mode;
  }
};

// Each decodes the instruction of its name for f32 and f64.
void DecodeFloatBinary(Decoder& decoder, Instr& in, Type type);  // add, sub, mul, div
void DecodeFloatFma(Decoder& decoder, Instr& in, Type type);
void DecodeFloatMinMax(Decoder& decoder, Instr& in, Type type);
void DecodeFloatNegAbs(Decoder& decoder, Instr& in, Type type);

// The same for f16, bf16, f16x2 and bf16x2: add, sub, mul, fma, min, max, neg, abs.
bool IsHalf(Type type);
void DecodeHalf(Decoder& decoder, Instr& in, Type type);

}  // namespace cooper::ptx

#endif  // COOPER_THIRD_PARTY_CUDA_EMULATOR_PTX_FLOAT_OPS_H_
