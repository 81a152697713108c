#ifndef COOPER_THIRD_PARTY_CUDA_EMULATOR_PTX_INTEGER_OPS_H_
#define COOPER_THIRD_PARTY_CUDA_EMULATOR_PTX_INTEGER_OPS_H_

// Arithmetic on integers, which wraps around. arithmetic_ops.cc decides between these and floats.

#include "third_party/cuda/emulator/ptx/decoder.h"
#include "third_party/cuda/emulator/ptx/program.h"
#include "third_party/cuda/emulator/ptx/types.h"

namespace cooper::ptx {

// Each decodes the instruction of its name for an integer type, or refuses it.
void DecodeIntegerAddSub(Decoder& decoder, Instr& in, Type type);
void DecodeIntegerMul(Decoder& decoder, Instr& in, Type type);
void DecodeIntegerMad(Decoder& decoder, Instr& in, Type type);
void DecodeIntegerDivRem(Decoder& decoder, Instr& in, Type type);
void DecodeIntegerMinMax(Decoder& decoder, Instr& in, Type type);
void DecodeIntegerNegAbs(Decoder& decoder, Instr& in, Type type);
// Of two numbers of 16 bits each: add, min, max.
void DecodePackedInteger(Decoder& decoder, Instr& in, Type type);

}  // namespace cooper::ptx

#endif  // COOPER_THIRD_PARTY_CUDA_EMULATOR_PTX_INTEGER_OPS_H_
