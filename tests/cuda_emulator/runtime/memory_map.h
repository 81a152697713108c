#ifndef COOPER_TESTS_CUDA_EMULATOR_RUNTIME_MEMORY_MAP_H_
#define COOPER_TESTS_CUDA_EMULATOR_RUNTIME_MEMORY_MAP_H_

// The allocations of the devices, and the memory that the host has pinned or shares with them.
//
// Device memory (device_memory.h) is closed to host code: dereferencing a pointer on the wrong side
// ends the program with a message. Freed addresses are not reused soon, so that late accesses are
// detected. Callers hold the ApiLock.

#include <cstdint>
#include <map>
#include <string>

#include "tests/cuda_emulator/runtime/allocation.h"

namespace cooper::cuda_emulator {

// All allocations of the process. A singleton.
class MemoryMap {
 public:
  static MemoryMap& Get();

  // Allocates `bytes` > 0. New memory is 0xFF, a NaN in every floating-point type. Returns null if
  // the device, whose size is Settings::memory, has no room.
  void* Allocate(MemoryKind kind, int device, uint64_t bytes);

  // Registers memory of the caller as pinned; returns false if some of it is already known.
  bool Register(void* begin, uint64_t bytes);

  // Return false if no allocation of that kind begins there.
  bool Free(void* begin, MemoryKind kind);
  bool Unregister(void* begin);

  // Returns the allocation that holds `address`, or null. Valid until it is freed.
  const Allocation* Find(uint64_t address) const;

  // Returns whether `address` belongs to a device, in use or not. If device memory is on the heap,
  // only memory in use is known.
  bool InDeviceRange(uint64_t address) const;

  // Describes `address` for messages: "8 bytes past an allocation of 64 bytes of device 0".
  std::string Describe(uint64_t address) const;

  uint64_t UsedBytes(int device) const { return used_[device]; }

 private:
  friend class OpenMemory;
  MemoryMap() = default;

  std::map<uint64_t, Allocation> live_;  // by first address
  uint64_t used_[16] = {};
  int opened_ = 0;
};

// Opens device memory to the host during its lifetime.
class OpenMemory {
 public:
  OpenMemory();
  ~OpenMemory();
  OpenMemory(const OpenMemory&) = delete;
  OpenMemory& operator=(const OpenMemory&) = delete;
};

}  // namespace cooper::cuda_emulator

#endif  // COOPER_TESTS_CUDA_EMULATOR_RUNTIME_MEMORY_MAP_H_
