#ifndef COOPER_EXECUTOR_PASSES_PROGRAM_PEAK_BYTES_H_
#define COOPER_EXECUTOR_PASSES_PROGRAM_PEAK_BYTES_H_

// Estimates the memory of a program, for passes that must not increase it.

#include <cstdint>

#include "executor/program/program.h"

namespace cooper {

// Returns the largest planned memory in use at a time, in bytes, summed over contexts, each at its
// own peak. It is a lower bound for the arenas after operators run in place, without kernels'
// workspaces. Takes a copy of the program, which it changes.
int64_t PeakBytes(Program program);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PASSES_PROGRAM_PEAK_BYTES_H_
