#ifndef COOPER_TESTS_CUDA_EMULATOR_PTX_FLOAT_OPS_H_
#define COOPER_TESTS_CUDA_EMULATOR_PTX_FLOAT_OPS_H_

// Floating-point arithmetic: f32 and f64 here; f16, bf16 and pairs of them in half_ops.cc. NaN
// results are the canonical NaNs of GPUs: 0x7fffffff, 0x7fff.

#include <bit>
#include <cmath>
#include <cstdint>

#include "tests/cuda_emulator/ptx/decoder.h"
#include "tests/cuda_emulator/ptx/program.h"
#include "tests/cuda_emulator/ptx/rounding.h"
#include "tests/cuda_emulator/ptx/types.h"

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
// Returns the number if one operand is NaN; -0 is less than +0.
struct FloatMin {
  template <typename T>
  T operator()(T a, T b) const {
    if (std::isnan(a)) return b;
    if (std::isnan(b)) return a;
    if (a == b) return std::signbit(a) ? a : b;
    return a < b ? a : b;
  }
};
// Returns the number if one operand is NaN; +0 is greater than -0.
struct FloatMax {
  template <typename T>
  T operator()(T a, T b) const {
    if (std::isnan(a)) return b;
    if (std::isnan(b)) return a;
    if (a == b) return std::signbit(a) ? b : a;
    return a > b ? a : b;
  }
};
// Implements min.NaN and max.NaN.
template <typename F>
struct PassNan {
  template <typename T>
  T operator()(T a, T b) const {
    return std::isnan(a) || std::isnan(b) ? a + b : F()(a, b);
  }
};
// Implements min.xorsign.abs and max.xorsign.abs.
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
  bool ftz = false;   // subnormal operands and results become zeros
  bool sat = false;   // clamps to [0, 1]; NaN becomes 0
  bool relu = false;  // negative results become 0

  // Packs the mode into Instr::mode.
  uint8_t Encode() const {
    return static_cast<uint8_t>(static_cast<int>(rounding) | (ftz ? 8 : 0) | (sat ? 16 : 0) |
                                (relu ? 32 : 0));
  }
  static FloatMode Decode(uint8_t mode) {
    return {static_cast<Rounding>(mode & 7), (mode & 8) != 0, (mode & 16) != 0, (mode & 32) != 0};
  }
  // Takes rounding, ftz, sat and relu from the modifiers.
  static FloatMode Take(Modifiers& mods) {
    FloatMode mode;
    mode.rounding = TakeRounding(mods);
    mode.ftz = mods.Take("ftz");
    mode.sat = mods.Take("sat");
    mode.relu = mods.Take("relu");
    return mode;
  }
};

// Each function decodes the instructions of its name for f32 and f64.
void DecodeFloatBinary(Decoder& decoder, Instr& in, Type type);  // add, sub, mul, div
void DecodeFloatFma(Decoder& decoder, Instr& in, Type type);
void DecodeFloatMinMax(Decoder& decoder, Instr& in, Type type);
void DecodeFloatNegAbs(Decoder& decoder, Instr& in, Type type);

// Decode the same instructions for f16, bf16, f16x2 and bf16x2: add, sub, mul, fma, min, max, neg,
// abs.
bool IsHalf(Type type);
void DecodeHalf(Decoder& decoder, Instr& in, Type type);

}  // namespace cooper::ptx

#endif  // COOPER_TESTS_CUDA_EMULATOR_PTX_FLOAT_OPS_H_
