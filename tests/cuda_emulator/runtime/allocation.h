#ifndef COOPER_TESTS_CUDA_EMULATOR_RUNTIME_ALLOCATION_H_
#define COOPER_TESTS_CUDA_EMULATOR_RUNTIME_ALLOCATION_H_

// A range of memory that devices use.

#include <cstdint>

namespace cooper::cuda_emulator {

enum class MemoryKind { kDevice, kManaged, kPinned };

// One allocation, [begin, begin + bytes).
struct Allocation {
  uint64_t begin = 0;
  uint64_t bytes = 0;
  MemoryKind kind = MemoryKind::kDevice;
  int device = 0;           // for kDevice and kManaged
  bool registered = false;  // memory of the caller that has been pinned

  bool Holds(uint64_t address) const { return address - begin < bytes; }
  uint64_t end() const { return begin + bytes; }
};

}  // namespace cooper::cuda_emulator

#endif  // COOPER_TESTS_CUDA_EMULATOR_RUNTIME_ALLOCATION_H_
