#include "tests/cuda_emulator/ptx/counters.h"

namespace cooper::ptx {

Counters& Counters::operator+=(const Counters& other) {
  instructions += other.instructions;
  warp_instructions += other.warp_instructions;
  flops += other.flops;
  global_read_bytes += other.global_read_bytes;
  global_written_bytes += other.global_written_bytes;
  global_read_sectors += other.global_read_sectors;
  global_written_sectors += other.global_written_sectors;
  global_atomics += other.global_atomics;
  shared_read_bytes += other.shared_read_bytes;
  shared_written_bytes += other.shared_written_bytes;
  shared_wavefronts += other.shared_wavefronts;
  shared_bank_conflicts += other.shared_bank_conflicts;
  local_bytes += other.local_bytes;
  barriers += other.barriers;
  return *this;
}

}  // namespace cooper::ptx
