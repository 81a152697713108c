#ifndef COOPER_MODULE_DEVICES_BATCH_SLICES_H_
#define COOPER_MODULE_DEVICES_BATCH_SLICES_H_

// Splits a batch's rows among devices, and copies rows along any axis.

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "io/batch/data_desc.h"
#include "ndarray/array/ndarray.h"
#include "symbol/schema/batch_layout.h"

namespace cooper {

// The rows [begin, end) of a batch that one device computes. Empty if there are fewer rows than
// devices.
struct BatchSlice {
  int64_t begin = 0;
  int64_t end = 0;

  int64_t size() const { return end - begin; }
  friend bool operator==(const BatchSlice&, const BatchSlice&) = default;
};

// Splits `batch_size` rows in proportion to the work loads, in their order. The boundaries are the
// exact ones rounded to the nearest row, so that no slice is more than one row off, but for those
// that would be empty and get one row. (MXNet rounds the sizes and gives the last slice what is
// left.) Of fewer rows than work loads the first ones get one row each, and there are no slices for
// the others. kInvalidArgument if a work load is not positive, or if there is no row.
absl::StatusOr<std::vector<BatchSlice>> SplitBatch(int64_t batch_size,
                                                   absl::Span<const double> work_loads);

// SplitBatch for inputs with these descriptions, over as many contexts as work loads say (empty:
// equal ones). Errors: also kInvalidArgument, naming them, if there are not as many loads as
// contexts, if no input has a batch axis, or if two inputs differ in their rows.
absl::StatusOr<std::vector<BatchSlice>> SplitInputs(absl::Span<const DataDesc> data,
                                                    absl::Span<const DataDesc> labels,
                                                    int num_contexts,
                                                    const std::vector<double>& work_loads);

// The samples [slice.begin, slice.end) of an array of `samples`, which are where `layout` says: a
// view where they lie together in memory, else a copy on the CPU. kInvalidArgument if the array has
// not as many there.
absl::StatusOr<NDArray> TakeSamples(const NDArray& whole, const BatchLayout& layout,
                                    int64_t samples, BatchSlice slice);

// Overwrites these samples of `whole` with `part`. Both must have one dtype; `whole` must be in CPU
// memory.
absl::Status WriteSamples(const NDArray& part, const BatchLayout& layout, int64_t samples,
                          BatchSlice slice, const NDArray& whole);

// Rows of `whole` along `axis`: TakeSamples where each index is a sample's.
absl::StatusOr<NDArray> TakeSlice(const NDArray& whole, int axis, BatchSlice slice);

// Overwrites rows of `whole` along `axis`, `begin` being the first, with `part`, as WriteSamples.
absl::Status WriteAxisSlice(const NDArray& part, int axis, int64_t begin, const NDArray& whole);

}  // namespace cooper

#endif  // COOPER_MODULE_DEVICES_BATCH_SLICES_H_
