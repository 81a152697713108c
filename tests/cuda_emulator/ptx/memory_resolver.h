#ifndef COOPER_TESTS_CUDA_EMULATOR_PTX_MEMORY_RESOLVER_H_
#define COOPER_TESTS_CUDA_EMULATOR_PTX_MEMORY_RESOLVER_H_

// Maps one memory access of a warp from its lanes' addresses to host pointers, with all checks.
// Implemented in memory_access.cc.

#include <cstdint>
#include <string>

#include "tests/cuda_emulator/ptx/lanes.h"
#include "tests/cuda_emulator/ptx/program.h"
#include "tests/cuda_emulator/ptx/run.h"
#include "tests/cuda_emulator/ptx/warp.h"

namespace cooper::ptx {

// One access of a warp. Use an object once.
class MemoryResolver {
 public:
  MemoryResolver(Warp& warp, const MemoryUse& use, int line)
      : warp_(warp), use_(use), bytes_(use.bytes), line_(line) {}

  // Sets pointers[lane] for the lanes of `mask`, from addresses[lane] + offset. Returns false on an
  // error, which has been reported to the warp.
  bool Resolve(const uint64_t* addresses, uint64_t offset, uint32_t mask, uint8_t** pointers);

 private:
  // Each returns null on an error.
  uint8_t* One(int lane, uint64_t address);
  uint8_t* Global(int lane, uint64_t address);
  uint8_t* Shared(int lane, uint64_t offset);
  uint8_t* Local(int lane, uint64_t offset);
  uint8_t* Param(int lane, uint64_t offset);
  uint8_t* CheckRace(int lane, uint64_t address, uint8_t* pointer);
  uint8_t* Misaligned(int lane, uint64_t address);
  uint8_t* Outside(int lane, uint64_t address, const std::string& where);

  // Describes the access for messages.
  std::string What(uint64_t address) const;
  std::string Behind(uint64_t address) const;
  void Count(uint32_t mask);

  Warp& warp_;
  const MemoryUse& use_;
  uint64_t bytes_;
  int line_;
  Extent extent_;  // of the previous lane
  uint32_t global_lanes_ = 0;
  uint32_t shared_lanes_ = 0;
  uint64_t addresses_[kLanes];
};

}  // namespace cooper::ptx

#endif  // COOPER_TESTS_CUDA_EMULATOR_PTX_MEMORY_RESOLVER_H_
