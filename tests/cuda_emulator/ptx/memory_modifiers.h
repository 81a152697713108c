#ifndef COOPER_TESTS_CUDA_EMULATOR_PTX_MEMORY_MODIFIERS_H_
#define COOPER_TESTS_CUDA_EMULATOR_PTX_MEMORY_MODIFIERS_H_

// Decodes the modifiers that ld, st, atom and red share: space, ordering, scope, caches.

#include "tests/cuda_emulator/ptx/decoder.h"
#include "tests/cuda_emulator/ptx/program.h"

namespace cooper::ptx {

// Takes the modifiers and sets use.space and use.strong. If operand `address` names a parameter or
// an array of the thread, the space is that of the operand.
void TakeMemoryModifiers(Decoder& decoder, size_t address, MemoryUse& use);

}  // namespace cooper::ptx

#endif  // COOPER_TESTS_CUDA_EMULATOR_PTX_MEMORY_MODIFIERS_H_
