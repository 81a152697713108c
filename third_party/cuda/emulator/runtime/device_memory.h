#ifndef COOPER_THIRD_PARTY_CUDA_EMULATOR_RUNTIME_DEVICE_MEMORY_H_
#define COOPER_THIRD_PARTY_CUDA_EMULATOR_RUNTIME_DEVICE_MEMORY_H_

// Where the memory of devices lies. The emulator gives each device a range of addresses of its own
// (device_memory.cc), the host shim takes blocks of the heap, which sanitizers guard
// (../host/device_memory.cc). Callers hold the ApiLock.

#include <cstdint>

#include "third_party/cuda/emulator/runtime/allocation.h"

namespace cooper::cuda_emulator {

// The first address of `bytes` > 0 for `device`; 0 where there is no room.
uint64_t TakeDeviceMemory(int device, uint64_t bytes);

// Of kind kDevice, and taken before.
void ReturnDeviceMemory(const Allocation& allocation);

// Whether no memory of the host can be at `address`. False where that is not known.
bool IsDeviceAddress(uint64_t address);

// What was there and has been returned, or null where that is not known.
const Allocation* FindReturned(uint64_t address);

// Lets the host touch the memory of all devices, or no longer. It may not at first.
void OpenDeviceMemory(bool open);

}  // namespace cooper::cuda_emulator

#endif  // COOPER_THIRD_PARTY_CUDA_EMULATOR_RUNTIME_DEVICE_MEMORY_H_
