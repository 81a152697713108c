#ifndef COOPER_EXECUTOR_PASSES_PROGRAM_PEAK_BYTES_H_
#define COOPER_EXECUTOR_PASSES_PROGRAM_PEAK_BYTES_H_

// What passes that trade memory ask before they change a program.

#include <cstdint>

#include "executor/program/program.h"

namespace cooper {

// The most bytes of planned memory that are in use at a time, summed over contexts, each at its own
// worst time: what the arenas need at least, without kernels' scratch memory, once operators run in
// place.
int64_t PeakBytes(Program program);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PASSES_PROGRAM_PEAK_BYTES_H_
