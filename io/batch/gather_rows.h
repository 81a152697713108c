#ifndef COOPER_IO_BATCH_GATHER_ROWS_H_
#define COOPER_IO_BATCH_GATHER_ROWS_H_

// Selects the rows of a batch from an array that holds a whole data set.

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "ndarray/array/ndarray.h"

namespace cooper {

// Returns rows `ids` of the first axis, in this order; an id of -1 gives a row of zeros. The result
// is a view of `source` if the ids are consecutive and rising, else a copy. Requires a CPU array
// and ids below its number of rows.
absl::StatusOr<NDArray> GatherRows(const NDArray& source, absl::Span<const int64_t> ids);

}  // namespace cooper

#endif  // COOPER_IO_BATCH_GATHER_ROWS_H_
