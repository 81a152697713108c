#ifndef COOPER_MODULE_BATCH_SLICES_H_
#define COOPER_MODULE_BATCH_SLICES_H_

// Which rows of a batch each device gets, and moving rows along any axis.

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "ndarray/ndarray.h"

namespace cooper {

struct BatchSlice {
  int64_t begin = 0;
  int64_t end = 0;

  int64_t size() const { return end - begin; }
  friend bool operator==(const BatchSlice&, const BatchSlice&) = default;
};

// Splits `batch_size` rows in proportion to the work loads, in their order. The boundaries are the
// exact ones rounded to the nearest row, so that no slice is more than one row off. (MXNet rounds
// the sizes and gives the last slice what is left.) kInvalidArgument if a work load is not
// positive, or if a slice would be empty, saying which.
absl::StatusOr<std::vector<BatchSlice>> SplitBatch(int64_t batch_size,
                                                   absl::Span<const double> work_loads);

// Rows of `whole` along `axis`: a view where they lie together in memory, else a copy.
absl::StatusOr<NDArray> TakeSlice(const NDArray& whole, int axis, BatchSlice slice);

// Overwrites rows of `whole` along `axis`, `begin` being the first, with `part`. Both must have one
// dtype; `whole` must be in CPU memory.
absl::Status PutSlice(const NDArray& part, int axis, int64_t begin, const NDArray& whole);

}  // namespace cooper

#endif  // COOPER_MODULE_BATCH_SLICES_H_
