// Allocates device memory as heap blocks of exactly the requested size: AddressSanitizer reports
// accesses beyond a block or after it was freed, and where it was allocated.

#include "tests/cuda_emulator/runtime/device_memory.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "tests/cuda_emulator/runtime/allocation.h"

namespace cooper::cuda_emulator {

uint64_t TakeDeviceMemory(int, uint64_t bytes) {
  constexpr size_t kAlignment = 256;  // CUDA guarantees this
  void* data = nullptr;
  // aligned_alloc would require a multiple of the alignment.
  if (posix_memalign(&data, kAlignment, bytes) != 0) return 0;
  return reinterpret_cast<uint64_t>(data);
}

void ReturnDeviceMemory(const Allocation& allocation) {
  std::free(reinterpret_cast<void*>(allocation.begin));
}

bool IsDeviceAddress(uint64_t) { return false; }

const Allocation* FindReturned(uint64_t) { return nullptr; }

void OpenDeviceMemory(bool) {}

}  // namespace cooper::cuda_emulator
