#ifndef COOPER_NDARRAY_THREADS_PARALLEL_WAVEFRONT_H_
#define COOPER_NDARRAY_THREADS_PARALLEL_WAVEFRONT_H_

// Runs a table of pieces, each of which depends on the pieces on its left and above, over the
// threads of parallel.h.

#include <cstdint>

#include "absl/functional/function_ref.h"

namespace cooper {

// Calls fn(row, column) for all of rows x columns, after (row, column - 1) and (row - 1, column),
// so that threads work on neighbouring rows some columns apart. For stacked layers that process a
// sequence chunk by chunk. Threads join and leave as in RunTeam (loop_team.h); with one thread, and
// within a loop, it goes row by row.
void ParallelWavefront(int64_t rows, int64_t columns,
                       absl::FunctionRef<void(int64_t row, int64_t column)> fn);

}  // namespace cooper

#endif  // COOPER_NDARRAY_THREADS_PARALLEL_WAVEFRONT_H_
