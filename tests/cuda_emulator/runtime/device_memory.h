#ifndef COOPER_TESTS_CUDA_EMULATOR_RUNTIME_DEVICE_MEMORY_H_
#define COOPER_TESTS_CUDA_EMULATOR_RUNTIME_DEVICE_MEMORY_H_

// Allocates the addresses of device memory. The emulator gives each device its own address range
// (device_memory.cc); the host shim uses heap blocks, which sanitizers guard
// (../host/device_memory.cc). Callers hold the ApiLock.

#include <cstdint>

#include "tests/cuda_emulator/runtime/allocation.h"

namespace cooper::cuda_emulator {

// Returns the address of `bytes` > 0 on `device`; 0 if there is no room.
uint64_t TakeDeviceMemory(int device, uint64_t bytes);

// Frees an allocation of kind kDevice that TakeDeviceMemory returned.
void ReturnDeviceMemory(const Allocation& allocation);

// Returns whether `address` cannot be host memory. False if that is not known.
bool IsDeviceAddress(uint64_t address);

// Returns the freed allocation that was at `address`, or null if that is not known.
const Allocation* FindReturned(uint64_t address);

// Opens the memory of all devices to the host, or closes it. It is closed at first.
void OpenDeviceMemory(bool open);

}  // namespace cooper::cuda_emulator

#endif  // COOPER_TESTS_CUDA_EMULATOR_RUNTIME_DEVICE_MEMORY_H_
