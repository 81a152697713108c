#ifndef COOPER_MODULE_DEVICES_BATCH_PARTS_H_
#define COOPER_MODULE_DEVICES_BATCH_PARTS_H_

// What several contexts compute of their parts of a batch, and what one would compute of all of it:
// by where an array has the samples (symbol/schema/batch_layout.h).

#include <cstddef>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "module/devices/batch_slices.h"
#include "ndarray/array/ndarray.h"
#include "symbol/schema/batch_layout.h"

namespace cooper {

// Makes the array of the whole batch from its parts, those of `slices`, in `whole`, which is
// allocated on the CPU where it is null: samples in their order, sums added, means weighted by the
// parts' sizes. A single part, or the first one if all are the same, is `whole` as it is. The
// layout must not be unknown.
absl::Status JoinParts(absl::Span<const NDArray> parts, const BatchLayout& layout,
                       absl::Span<const BatchSlice> slices, NDArray& whole);

// Part `i` of an array of the whole batch: its samples, or all of it where there are none.
absl::StatusOr<NDArray> TakePart(const NDArray& whole, const BatchLayout& layout,
                                 absl::Span<const BatchSlice> slices, size_t i);

// The head gradient of part `i` of an output, so that the parts' gradients add up to those of the
// whole batch: its samples, all of it for a sum, and its share of it for a mean or for what is the
// same for all samples.
absl::StatusOr<NDArray> TakePartOfHead(const NDArray& head, const BatchLayout& layout,
                                       absl::Span<const BatchSlice> slices, size_t i);

// The share of the batch that part `i` is.
double WeightOfPart(absl::Span<const BatchSlice> slices, size_t i);

}  // namespace cooper

#endif  // COOPER_MODULE_DEVICES_BATCH_PARTS_H_
