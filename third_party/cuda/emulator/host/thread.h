#ifndef COOPER_THIRD_PARTY_CUDA_EMULATOR_HOST_THREAD_H_
#define COOPER_THIRD_PARTY_CUDA_EMULATOR_HOST_THREAD_H_

// What the running thread of a kernel sees and calls: what CUDA's words in device_code.h stand for.

#include <cstdint>
#include <source_location>

#include "vector_types.h"

namespace cooper::cuda_emulator {

// Of the launch, the same for all its threads.
extern dim3 g_block_shape;
extern dim3 g_grid_shape;

uint3 ThreadIndex();
uint3 BlockIndex();
int LaneIndex();  // in its warp

// Of the launch, for the running block; 0xFF at first, a NaN in every floating-point type.
void* DynamicShared();

// Waits for all threads of the block that have not ended; they have to wait at one place.
void WaitForBlock(std::source_location where);

// Gives `value` to the lanes of `mask`, and waits for theirs. Element i of what is returned is what
// lane i gave; valid until the thread's second call from here.
const uint64_t* ExchangeInWarp(unsigned mask, uint64_t value, std::source_location where);

// Ends the program with a message that names kernel, block, thread and line.
[[noreturn]] void FailThread(const char* why, std::source_location where);

}  // namespace cooper::cuda_emulator

#endif  // COOPER_THIRD_PARTY_CUDA_EMULATOR_HOST_THREAD_H_
