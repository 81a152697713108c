#ifndef COOPER_MODULE_ROWS_SAMPLE_ROWS_H_
#define COOPER_MODULE_ROWS_SAMPLE_ROWS_H_

// Takes the samples of a batch out of an output, by their position in it
// (symbol/schema/batch_layout.h). Where the network does not tell the position, finds it by
// computing the batch with its samples rotated: exactly the samples' elements rotate with them.

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/shape.h"
#include "symbol/schema/batch_layout.h"

namespace cooper {

// Returns a view of the output without the last `pad` rows of its first axis, where iterators put
// padding. An output without axes is returned unchanged.
absl::StatusOr<NDArray> WithoutPad(const NDArray& output, int64_t pad);

// Returns the output of a batch of `samples` samples (0: unknown) without the last `pad` of them.
// An output without samples is returned unchanged. kInvalidArgument if the layout is unknown or
// does not fit the array, and samples may be on another axis than the first or have several indices
// of it.
absl::StatusOr<NDArray> WithoutPadding(const NDArray& output, const BatchLayout& layout,
                                       int64_t samples, int64_t pad);

// Returns the error for an output of this shape whose layout is unknown while there is padding.
absl::Status UnknownPaddingError(const Shape& output, const BatchLayout& layout, int64_t samples,
                                 int64_t pad);

// Returns the indices, along the layout's axis, of the first `keep` of `samples` samples: grouped
// by sample with `by_sample`, else in the array's order.
std::vector<int64_t> SampleIndices(const BatchLayout& layout, int64_t samples, int64_t keep,
                                   bool by_sample);

// Returns these indices of an axis, in this order: a view if they are the first ones of axis 0,
// else a copy.
absl::StatusOr<NDArray> TakeIndices(const NDArray& array, int axis,
                                    absl::Span<const int64_t> indices);

// Returns the arrays concatenated along an axis. kInvalidArgument if they differ in another axis or
// in their dtypes.
absl::StatusOr<NDArray> JoinAlong(absl::Span<const NDArray> arrays, int axis);

// Returns all positions that samples (> 0) may have in an output of this shape, the most likely
// first; empty if no extent is a multiple of their number.
std::vector<BatchLayout> PossibleLayouts(const Shape& output, int64_t samples);

// Returns a CPU copy of a batch's array with its samples rotated by one along `axis`: sample n
// moves to n + 1, the last one to 0. Returns the array unchanged if it has no such axis with that
// many samples.
absl::StatusOr<NDArray> RotateSamples(const NDArray& array, int axis, int64_t samples);

// Returns the candidates that agree with the outputs of a batch and of the same batch rotated, up
// to rounding (1e-4 of the largest element of an index of the axis, more for 16-bit floats), as
// results may be rounded differently in another place. Both are CPU arrays of one shape.
absl::StatusOr<std::vector<BatchLayout>> ConsistentLayouts(absl::Span<const BatchLayout> candidates,
                                                           const NDArray& output,
                                                           const NDArray& turned, int64_t samples);

}  // namespace cooper

#endif  // COOPER_MODULE_ROWS_SAMPLE_ROWS_H_
