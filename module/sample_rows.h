#ifndef COOPER_MODULE_SAMPLE_ROWS_H_
#define COOPER_MODULE_SAMPLE_ROWS_H_

// Which rows of an output belong to which sample of a batch, where the batch axis may be merged
// with others: of (batch_size * length, classes) each sample has `length` rows, one after the other
// or one in each step. No operator says which; but turning the samples of a batch turns their rows,
// and nothing else does.

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "ndarray/ndarray.h"

namespace cooper {

// Row (o * samples + n) * inner + i belongs to sample n, for all o < outer and i < inner.
struct SampleRows {
  int64_t outer = 1;
  int64_t inner = 1;

  int64_t per_sample() const { return outer * inner; }
  friend bool operator==(const SampleRows& a, const SampleRows& b) {
    return a.outer == b.outer && a.inner == b.inner;
  }
};

// A view of the output without the last `pad` rows of its first axis, as iterators pad. An output
// without axes is as it is.
absl::StatusOr<NDArray> WithoutPad(const NDArray& output, int64_t pad);

// All that there may be for this output's first axis, the most likely first; none if that is no
// multiple of the samples (above 0).
std::vector<SampleRows> PossibleSampleRows(const NDArray& output, int64_t samples);

// The array of a batch with sample n at the place n + 1 of `axis`, and the last one at 0: a copy on
// the CPU. As it is if it has no such axis with that many samples.
absl::StatusOr<NDArray> TurnSamples(const NDArray& array, int axis, int64_t samples);

// Leaves those candidates that agree with what the network gave for a batch and for the same one
// turned, to rounding (1e-4 of a row's largest element, as another place in a product may round).
// Both are CPU arrays of one shape.
absl::StatusOr<std::vector<SampleRows>> AgreeingSampleRows(absl::Span<const SampleRows> candidates,
                                                           const NDArray& output,
                                                           const NDArray& turned, int64_t samples);

// The rows of the first `keep` samples, those of each together, in their own order.
absl::StatusOr<NDArray> RowsBySample(const NDArray& output, const SampleRows& rows, int64_t samples,
                                     int64_t keep);

}  // namespace cooper

#endif  // COOPER_MODULE_SAMPLE_ROWS_H_
