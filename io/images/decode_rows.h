#ifndef COOPER_IO_IMAGES_DECODE_ROWS_H_
#define COOPER_IO_IMAGES_DECODE_ROWS_H_

// Decodes the images of a batch on several threads.

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

namespace cooper {

// Calls decode(row) for each row in [0, rows), on the threads of ParallelFor
// (ndarray/threads/parallel.h). Returns the error of the first row that has one.
absl::Status DecodeRows(int64_t rows, absl::FunctionRef<absl::Status(int64_t row)> decode);

}  // namespace cooper

#endif  // COOPER_IO_IMAGES_DECODE_ROWS_H_
