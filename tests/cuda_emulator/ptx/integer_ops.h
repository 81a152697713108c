#ifndef COOPER_TESTS_CUDA_EMULATOR_PTX_INTEGER_OPS_H_
#define COOPER_TESTS_CUDA_EMULATOR_PTX_INTEGER_OPS_H_

// Integer arithmetic, which wraps around. arithmetic_ops.cc selects between these functions and
// those for floats.

#include "tests/cuda_emulator/ptx/decoder.h"
#include "tests/cuda_emulator/ptx/program.h"
#include "tests/cuda_emulator/ptx/types.h"

namespace cooper::ptx {

// Each function decodes the instructions of its name for an integer type, or reports an error.
void DecodeIntegerAddSub(Decoder& decoder, Instr& in, Type type);
void DecodeIntegerMul(Decoder& decoder, Instr& in, Type type);
void DecodeIntegerMad(Decoder& decoder, Instr& in, Type type);
void DecodeIntegerDivRem(Decoder& decoder, Instr& in, Type type);
void DecodeIntegerMinMax(Decoder& decoder, Instr& in, Type type);
void DecodeIntegerNegAbs(Decoder& decoder, Instr& in, Type type);
// Decodes add, min and max of two 16-bit numbers each.
void DecodePackedInteger(Decoder& decoder, Instr& in, Type type);

}  // namespace cooper::ptx

#endif  // COOPER_TESTS_CUDA_EMULATOR_PTX_INTEGER_OPS_H_
