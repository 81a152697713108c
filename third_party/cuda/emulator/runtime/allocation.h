#ifndef COOPER_THIRD_PARTY_CUDA_EMULATOR_RUNTIME_ALLOCATION_H_
#define COOPER_THIRD_PARTY_CUDA_EMULATOR_RUNTIME_ALLOCATION_H_

// One range of memory that devices use.

#include <cstdint>

namespace cooper::cuda_emulator {

enum class MemoryKind { kDevice, kManaged, kPinned };

struct Allocation {
  uint64_t begin = 0;
  uint64_t bytes = 0;
  MemoryKind kind = MemoryKind::kDevice;
  int device = 0;           // of kDevice and kManaged
  bool registered = false;  // the caller's own memory, pinned

  bool Holds(uint64_t address) const { return address - begin < bytes; }
  uint64_t end() const { return begin + bytes; }
};

}  // namespace cooper::cuda_emulator

#endif  // COOPER_THIRD_PARTY_CUDA_EMULATOR_RUNTIME_ALLOCATION_H_
