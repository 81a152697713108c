#ifndef COOPER_TESTS_CUDA_EMULATOR_PTX_COUNTERS_H_
#define COOPER_TESTS_CUDA_EMULATOR_PTX_COUNTERS_H_

// Counters of what kernels do.

#include <cstdint>

namespace cooper::ptx {

// The work of a launch. Bytes are those that threads request. Transactions are counted for each
// instruction of a warp; they match a GPU only in lock step (Options::seed 0).
struct Counters {
  int64_t instructions = 0;       // of threads
  int64_t warp_instructions = 0;  // issued instructions: lanes that run together count once
  int64_t flops = 0;              // float operations of threads: fma counts 2
  int64_t global_read_bytes = 0;
  int64_t global_written_bytes = 0;  // atomics count as both
  int64_t global_read_sectors = 0;   // distinct sectors of 32 bytes that an instruction touches
  int64_t global_written_sectors = 0;
  int64_t global_atomics = 0;
  int64_t shared_read_bytes = 0;
  int64_t shared_written_bytes = 0;
  int64_t shared_wavefronts = 0;      // passes over the 32 banks
  int64_t shared_bank_conflicts = 0;  // wavefronts beyond the minimum for the bytes
  int64_t local_bytes = 0;            // arrays of a thread and arguments of calls
  int64_t barriers = 0;               // of blocks

  Counters& operator+=(const Counters& other);
};

}  // namespace cooper::ptx

#endif  // COOPER_TESTS_CUDA_EMULATOR_PTX_COUNTERS_H_
