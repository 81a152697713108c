#ifndef COOPER_EXECUTOR_RUN_MEMORY_REPORT_H_
#define COOPER_EXECUTOR_RUN_MEMORY_REPORT_H_

// How much memory a program takes for what it computes.

#include <cstdint>

#include "executor/compile/compiled_program.h"

namespace cooper {

// What a bound executor takes of its arenas, together.
struct MemoryReport {
  int64_t planned_bytes = 0;  // size of this executor's plan
  int64_t lower_bound = 0;    // no plan can need less
  int64_t arena_bytes = 0;    // size of the arena, which others may share
  int64_t values = 0;         // buffers placed in it
  bool proven = true;         // no plan is smaller, though there may be none as small as the bound
};

// Of a program, on all its contexts together; no arena is there yet.
MemoryReport PlannedMemory(const CompiledProgram& compiled);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_RUN_MEMORY_REPORT_H_
