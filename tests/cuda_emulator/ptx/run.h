#ifndef COOPER_TESTS_CUDA_EMULATOR_PTX_RUN_H_
#define COOPER_TESTS_CUDA_EMULATOR_PTX_RUN_H_

// Runs one launch of a PTX kernel on the CPU and checks it.
//
// Global addresses are host addresses. Shared and local memory belong to the interpreter: in the
// generic address space they are in windows (memory.h) that no host memory can have. Threads of a
// warp run in lock step while their paths agree; warps and, if they wait for each other, blocks
// take turns. Floating point is exact where PTX requires it; approximations (ex2.approx,
// sin.approx) have the precision of the host's mathematical library.

#include <cstdint>
#include <functional>
#include <string_view>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "tests/cuda_emulator/ptx/counters.h"
#include "tests/cuda_emulator/ptx/module.h"
#include "tests/cuda_emulator/ptx/sector_cache.h"

namespace cooper::ptx {

// The extents of a grid or a block, or an index in them.
struct Dim3 {
  uint32_t x = 1;
  uint32_t y = 1;
  uint32_t z = 1;
};

// The shape of a launch and the addresses that it needs.
struct Launch {
  Dim3 grid;
  Dim3 block;
  uint64_t dynamic_shared = 0;           // bytes
  uint64_t shared_limit = 48 << 10;      // static and dynamic together
  absl::Span<const uint64_t> variables;  // the address of each of Module::variables()
};

// A range of device memory, [begin, end). Empty if there is no allocation.
struct Extent {
  uint64_t begin = 0;
  uint64_t end = 0;
};

// Returns the allocation that holds `address`. Run() calls it on its own thread and keeps the
// results until the launch ends, so memory must not be freed in the meantime.
using FindExtent = std::function<Extent(uint64_t address)>;

// How a launch runs and which checks it makes.
struct Options {
  // Selects an order of blocks, of warps, and of the threads within a warp. 0 is lock step, in
  // order.
  uint32_t seed = 0;
  // Reports two accesses of one block to a byte of shared or global memory, at least one a write
  // and not both atomic, that no barrier orders.
  bool race_check = false;
  // Reports a read of shared memory that the block has not written. Without this check such memory
  // holds 0xFF bytes, a NaN in every floating-point type.
  bool unset_check = false;
  // The instructions after which a warp yields to the next; 0 selects a default.
  uint64_t slice = 0;
  // The instructions of all threads together after which the launch fails with kDeadlineExceeded;
  // 0: no limit.
  uint64_t max_instructions = 0;
  // Also counts sectors and bank conflicts, which takes some time.
  bool count_transactions = false;
  // The cache in front of global memory. Null: accesses are not counted. Not owned.
  SectorCache* cache = nullptr;
  // Receives the output of device code; if not set, it goes to stdout.
  std::function<void(std::string_view)> print;
};

// Runs `function` with the parameters in `params` (Function::param_bytes bytes, each parameter at
// its offset) and adds to `counters` unless that is null. Returns when every thread has ended.
// Thread-safe: several threads may run one module at once.
//
// An error of the kernel ends the launch; memory keeps what was written until then. Errors:
// kOutOfRange for an address outside of its allocation, of shared or of local memory;
// kInvalidArgument for an invalid launch, a misaligned address, a wrong mask, or malformed PTX;
// kFailedPrecondition for a race, or shared memory that is read before it is written; kAborted for
// trap or a failed assertion; kDeadlineExceeded as in Options, or for threads that wait for each
// other forever; kUnimplemented for an instruction that the interpreter lacks. Messages name
// function, block, thread, PTX line and instruction.
absl::Status Run(const Module& module, std::string_view function, const Launch& launch,
                 absl::Span<const uint8_t> params, const FindExtent& find_extent,
                 const Options& options = {}, Counters* counters = nullptr);

}  // namespace cooper::ptx

#endif  // COOPER_TESTS_CUDA_EMULATOR_PTX_RUN_H_
