#ifndef COOPER_TESTS_CUDA_EMULATOR_PTX_CARRY_OPS_H_
#define COOPER_TESTS_CUDA_EMULATOR_PTX_CARRY_OPS_H_

// Decodes additions, subtractions and products of long numbers: add.cc, addc, sub.cc, subc, mad.cc,
// madc. The carry flag is a slot of the frame.

#include "tests/cuda_emulator/ptx/decoder.h"
#include "tests/cuda_emulator/ptx/program.h"

namespace cooper::ptx {

// `take`: the instruction adds the flag. `give`: it sets the flag.
void DecodeCarryAddSub(Decoder& decoder, Instr& in, bool take, bool give);
void DecodeCarryMad(Decoder& decoder, Instr& in, bool take, bool give);

}  // namespace cooper::ptx

#endif  // COOPER_TESTS_CUDA_EMULATOR_PTX_CARRY_OPS_H_
