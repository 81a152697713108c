#ifndef COOPER_NDARRAY_THREADS_PARALLEL_WAVEFRONT_H_
#define COOPER_NDARRAY_THREADS_PARALLEL_WAVEFRONT_H_

// A table of pieces, each of which follows the one on its left and the one above it, over the
// threads of parallel.h.

#include <cstdint>

#include "absl/functional/function_ref.h"

namespace cooper {

// Calls fn(row, column) for all of rows x columns, after (row, column - 1) and (row - 1, column):
// so one thread may be in a row while another is in the row below, some columns behind. For layers
// that take a sequence part by part. Who runs them, and for whom the caller waits, is as in
// RunTeam (loop_team.h); with one thread, and within a loop, it goes row by row.
void ParallelWavefront(int64_t rows, int64_t columns,
                       absl::FunctionRef<void(int64_t row, int64_t column)> fn);

}  // namespace cooper

#endif  // COOPER_NDARRAY_THREADS_PARALLEL_WAVEFRONT_H_
