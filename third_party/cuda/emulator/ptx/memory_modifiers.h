#ifndef COOPER_THIRD_PARTY_CUDA_EMULATOR_PTX_MEMORY_MODIFIERS_H_
#define COOPER_THIRD_PARTY_CUDA_EMULATOR_PTX_MEMORY_MODIFIERS_H_

// The modifiers that ld, st, atom and red share: space, ordering, scope, caches.

#include "third_party/cuda/emulator/ptx/decoder.h"
#include "third_party/cuda/emulator/ptx/program.h"

namespace cooper::ptx {

// Takes them and sets use.space and use.strong. For an address that names a parameter or an array
// of the thread, in operand `address`, the space is the one where that lies.
void TakeMemoryModifiers(Decoder& decoder, size_t address, MemoryUse& use);

}  // namespace cooper::ptx

#endif  // COOPER_THIRD_PARTY_CUDA_EMULATOR_PTX_MEMORY_MODIFIERS_H_
