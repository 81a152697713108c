#ifndef COOPER_MODULE_ROWS_SAMPLE_ROWS_H_
#define COOPER_MODULE_ROWS_SAMPLE_ROWS_H_

// Takes the samples of a batch out of an output, by where they are in it
// (symbol/schema/batch_layout.h), and finds that out where the network cannot tell: turning the
// samples of a batch turns their elements, and nothing else does.

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/shape.h"
#include "symbol/schema/batch_layout.h"

namespace cooper {

// A view of the output without the last `pad` rows of its first axis, as iterators pad. An output
// without axes is as it is.
absl::StatusOr<NDArray> WithoutPad(const NDArray& output, int64_t pad);

// The output of a batch of `samples` samples (0: nobody knows) without the last `pad` of them. What
// has no samples is as it is. kInvalidArgument if the layout is unknown or another array's, and
// samples may be along other axes than the first or be several indices of it.
absl::StatusOr<NDArray> WithoutPadding(const NDArray& output, const BatchLayout& layout,
                                       int64_t samples, int64_t pad);

// The error for an output of this shape where that is not known and there is padding.
absl::Status CannotTellPadding(const Shape& output, const BatchLayout& layout, int64_t samples,
                               int64_t pad);

// The indices, along the layout's axis, of the first `keep` of `samples` samples: those of each
// sample together, or in the order in which they are.
std::vector<int64_t> SampleIndices(const BatchLayout& layout, int64_t samples, int64_t keep,
                                   bool by_sample);

// These indices of an axis, in this order: a view if they are the first ones of axis 0, else a
// copy.
absl::StatusOr<NDArray> TakeIndices(const NDArray& array, int axis,
                                    absl::Span<const int64_t> indices);

// The arrays behind each other along an axis. kInvalidArgument if they differ in another one or in
// their dtypes.
absl::StatusOr<NDArray> JoinAlong(absl::Span<const NDArray> arrays, int axis);

// All places that samples (above 0) may have in an output of this shape, the most likely first;
// none if no extent is a multiple of their number.
std::vector<BatchLayout> PossibleLayouts(const Shape& output, int64_t samples);

// The array of a batch with sample n at the place n + 1 of `axis`, and the last one at 0: a copy on
// the CPU. As it is if it has no such axis with that many samples.
absl::StatusOr<NDArray> TurnSamples(const NDArray& array, int axis, int64_t samples);

// Leaves those candidates that agree with what the network gave for a batch and for the same one
// turned, to rounding (1e-4 of the largest element behind an index of the axis, as another place in
// a product may round). Both are CPU arrays of one shape.
absl::StatusOr<std::vector<BatchLayout>> AgreeingLayouts(absl::Span<const BatchLayout> candidates,
                                                         const NDArray& output,
                                                         const NDArray& turned, int64_t samples);

}  // namespace cooper

#endif  // COOPER_MODULE_ROWS_SAMPLE_ROWS_H_
