#ifndef COOPER_THIRD_PARTY_CUDA_EMULATOR_PTX_RUN_H_
#define COOPER_THIRD_PARTY_CUDA_EMULATOR_PTX_RUN_H_

// Runs one launch of a PTX kernel on the CPU and checks what it does.
//
// Global addresses are those of host memory. Shared and local memory are the interpreter's own: in
// the generic address space they lie in windows (memory.h) that no host memory can have. Threads of
// a warp run in lock step where their paths agree; warps and, if they wait for one another, blocks
// take turns. Floating point is exact where PTX says so; approximations (ex2.approx, sin.approx)
// are computed as exactly as the host's mathematical library does.

#include <cstdint>
#include <functional>
#include <string_view>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "third_party/cuda/emulator/ptx/counters.h"
#include "third_party/cuda/emulator/ptx/module.h"
#include "third_party/cuda/emulator/ptx/sector_cache.h"

namespace cooper::ptx {

struct Dim3 {
  uint32_t x = 1;
  uint32_t y = 1;
  uint32_t z = 1;
};

struct Launch {
  Dim3 grid;
  Dim3 block;
  uint64_t dynamic_shared = 0;           // bytes
  uint64_t shared_limit = 48 << 10;      // static and dynamic together, as the device allows it
  absl::Span<const uint64_t> variables;  // the address of each of Module::variables()
};

// A range of device memory, [begin, end). Empty where there is none.
struct Extent {
  uint64_t begin = 0;
  uint64_t end = 0;
};

// Returns the allocation that holds `address`. Called from the running thread; its answers are kept
// until the launch ends, so memory must not be freed meanwhile.
using FindExtent = std::function<Extent(uint64_t address)>;

struct Options {
  // Another order of blocks, of warps, and of the threads within a warp. 0 is lock step, in order.
  uint32_t seed = 0;
  // Fails at two accesses of one block to a byte of shared or global memory, at least one a write
  // and not both atomic, that no barrier orders.
  bool race_check = false;
  // Fails at a read of shared memory that the block has not written. Without it such memory holds
  // 0xFF bytes, which are a NaN in every floating-point type.
  bool unset_check = false;
  // A warp gives way to the next after so many of its instructions; 0 chooses.
  uint64_t slice = 0;
  // Fails with kDeadlineExceeded after so many instructions of all threads together; 0: no limit.
  uint64_t max_instructions = 0;
  // Counts sectors and bank conflicts too, which takes some time.
  bool count_transactions = false;
  // What global memory is behind; null: nothing that is counted.
  SectorCache* cache = nullptr;
  // Takes what device code prints; if not set, it goes to stdout.
  std::function<void(std::string_view)> print;
};

// Runs `function` with the parameters in `params` (Function::param_bytes of them, each at its
// offset) and adds to `counters` unless that is null. Returns when every thread has ended. Runs of
// one module may go on in several threads at once.
//
// A mistake of the kernel ends the launch; memory keeps what was written until then. kOutOfRange:
// an address outside of its allocation, of shared or of local memory. kInvalidArgument: the launch
// itself, a misaligned address, a wrong mask, PTX that is not well formed. kFailedPrecondition: a
// race, or shared memory that is read before it is written. kAborted: trap or a failed assertion.
// kDeadlineExceeded: as Options say, or threads that wait for each other for ever. kUnimplemented:
// an instruction that the interpreter lacks. Messages name function, block, thread, line of the PTX
// and instruction.
absl::Status Run(const Module& module, std::string_view function, const Launch& launch,
                 absl::Span<const uint8_t> params, const FindExtent& find_extent,
                 const Options& options = {}, Counters* counters = nullptr);

}  // namespace cooper::ptx

#endif  // COOPER_THIRD_PARTY_CUDA_EMULATOR_PTX_RUN_H_
