#ifndef COOPER_THIRD_PARTY_CUDA_EMULATOR_RUNTIME_MEMORY_MAP_H_
#define COOPER_THIRD_PARTY_CUDA_EMULATOR_RUNTIME_MEMORY_MAP_H_

// The memory of the devices, and what the host has pinned or shares with them.
//
// Device memory (device_memory.h) is closed to host code: a pointer that is dereferenced on the
// wrong side ends the program with a message. Addresses that were freed are not given out again
// soon, so that a late access is seen. Callers hold the ApiLock.

#include <cstdint>
#include <map>
#include <string>

#include "third_party/cuda/emulator/runtime/allocation.h"

namespace cooper::cuda_emulator {

class MemoryMap {
 public:
  static MemoryMap& Get();

  // `bytes` > 0. New memory is 0xFF, a NaN in every floating-point type. Null where the device,
  // whose size Settings::memory gives, has no room.
  void* Allocate(MemoryKind kind, int device, uint64_t bytes);

  // Takes memory of the caller's as pinned; false if some of it is known already.
  bool Register(void* begin, uint64_t bytes);

  // False if no allocation of that kind begins there.
  bool Free(void* begin, MemoryKind kind);
  bool Unregister(void* begin);

  // The allocation that holds `address`, or null. Valid until it is freed.
  const Allocation* Find(uint64_t address) const;

  // Whether `address` is one of a device's, in use or not. Where device memory is of the heap, only
  // what is in use is known.
  bool InDeviceRange(uint64_t address) const;

  // What there is at `address`, for messages: "8 bytes past an allocation of 64 bytes of device 0".
  std::string Describe(uint64_t address) const;

  uint64_t UsedBytes(int device) const { return used_[device]; }

 private:
  friend class OpenMemory;
  MemoryMap() = default;

  std::map<uint64_t, Allocation> live_;  // by first address
  uint64_t used_[16] = {};
  int opened_ = 0;
};

// Device memory can be touched while one of these lives.
class OpenMemory {
 public:
  OpenMemory();
  ~OpenMemory();
  OpenMemory(const OpenMemory&) = delete;
  OpenMemory& operator=(const OpenMemory&) = delete;
};

}  // namespace cooper::cuda_emulator

#endif  // COOPER_THIRD_PARTY_CUDA_EMULATOR_RUNTIME_MEMORY_MAP_H_
