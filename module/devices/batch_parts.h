#ifndef COOPER_MODULE_DEVICES_BATCH_PARTS_H_
#define COOPER_MODULE_DEVICES_BATCH_PARTS_H_

// Converts between arrays of a whole batch and the arrays that each context computes from its part
// of the batch. The layout says where an array has the samples (symbol/schema/batch_layout.h).

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

// Returns part `i` of an array of the whole batch: the part's samples, or the whole array if the
// layout has no samples.
absl::StatusOr<NDArray> ReadSlice(const NDArray& whole, const BatchLayout& layout,
                                  absl::Span<const BatchSlice> slices, size_t i);

// Returns the head gradient of part `i` of an output, so that the parts' gradients add up to those
// of the whole batch: its samples, all of it for a sum, and its share of it for a mean or for what
// is the same for all samples.
absl::StatusOr<NDArray> SliceHeadGradient(const NDArray& head, const BatchLayout& layout,
                                          absl::Span<const BatchSlice> slices, size_t i);

// Returns part `i`'s share of the batch's samples, in [0, 1].
double WeightOfPart(absl::Span<const BatchSlice> slices, size_t i);

}  // namespace cooper

#endif  // COOPER_MODULE_DEVICES_BATCH_PARTS_H_
