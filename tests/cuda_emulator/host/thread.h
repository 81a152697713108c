#ifndef COOPER_TESTS_CUDA_EMULATOR_HOST_THREAD_H_
#define COOPER_TESTS_CUDA_EMULATOR_HOST_THREAD_H_

// The built-in variables and functions of a kernel's running thread, to which device_code.h maps
// CUDA's keywords.

#include <cstdint>
#include <source_location>

#include "vector_types.h"

namespace cooper::cuda_emulator {

// The shapes of the launch, the same for all its threads.
extern dim3 g_block_shape;
extern dim3 g_grid_shape;

uint3 ThreadIndex();
uint3 BlockIndex();
int LaneIndex();  // in its warp

// Returns the launch's dynamic shared memory for the running block. It is initialised to 0xFF
// bytes, a NaN in every floating-point type.
void* DynamicShared();

// Waits for all threads of the block that have not ended. They must all wait at the same source
// location.
void WaitForBlock(std::source_location where);

// Exchanges `value` with the lanes of `mask`, and waits for all of them. Element i of the result is
// lane i's value; valid until the thread's second call after this one.
const uint64_t* ExchangeInWarp(unsigned mask, uint64_t value, std::source_location where);

// Ends the program with a message that names kernel, block, thread and line.
[[noreturn]] void FailThread(const char* why, std::source_location where);

}  // namespace cooper::cuda_emulator

#endif  // COOPER_TESTS_CUDA_EMULATOR_HOST_THREAD_H_
