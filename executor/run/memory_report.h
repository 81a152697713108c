#ifndef COOPER_EXECUTOR_RUN_MEMORY_REPORT_H_
#define COOPER_EXECUTOR_RUN_MEMORY_REPORT_H_

// Reports the memory that a program needs for activations and kernels' scratch memory.

#include <cstdint>

#include "executor/compile/compiled_program.h"

namespace cooper {

// The memory that a bound executor uses, summed over its arenas. Sizes are in bytes; arguments,
// gradients and outputs that the caller owns are not among them.
struct MemoryReport {
  int64_t planned_bytes = 0;  // size of this executor's plan
  int64_t lower_bound = 0;    // no plan can need less
  int64_t arena_bytes = 0;    // size of the arena, which others may share
  int64_t values = 0;         // buffers placed in it
  bool proven = true;         // whether no smaller plan exists (the bound may be out of reach)
};

// Returns the sizes of a program's plan, summed over its contexts. arena_bytes is 0, since no arena
// exists yet.
MemoryReport PlannedMemory(const CompiledProgram& compiled);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_RUN_MEMORY_REPORT_H_
