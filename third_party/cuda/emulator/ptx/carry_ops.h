#ifndef COOPER_THIRD_PARTY_CUDA_EMULATOR_PTX_CARRY_OPS_H_
#define COOPER_THIRD_PARTY_CUDA_EMULATOR_PTX_CARRY_OPS_H_

// Additions, subtractions and products of long numbers: add.cc, addc, sub.cc, subc, mad.cc, madc.
// The flag is a slot of the frame.

#include "third_party/cuda/emulator/ptx/decoder.h"
#include "third_party/cuda/emulator/ptx/program.h"

namespace cooper::ptx {

// `take`: the flag is added. `give`: it is set.
void DecodeCarryAddSub(Decoder& decoder, Instr& in, bool take, bool give);
void DecodeCarryMad(Decoder& decoder, Instr& in, bool take, bool give);

}  // namespace cooper::ptx

#endif  // COOPER_THIRD_PARTY_CUDA_EMULATOR_PTX_CARRY_OPS_H_
