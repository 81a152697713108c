#ifndef COOPER_MODULE_PREDICT_BATCH_ROWS_H_
#define COOPER_MODULE_PREDICT_BATCH_ROWS_H_

// Samples to rows of a batch, and back.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "ndarray/dtype.h"
#include "ndarray/ndarray.h"
#include "ndarray/shape.h"

namespace cooper {

// A batch (samples, ...) of shape `batch`, with `pad_value` where a sample is shorter. The samples
// have the batch's other axes, with extents that are not larger.
absl::StatusOr<NDArray> StackPadded(absl::Span<const NDArray> samples, const Shape& batch,
                                    DType dtype, double pad_value);

// Where a sample's part of an output is.
struct OutputRows {
  bool flattened = false;       // axis 0 has the positions of the first sample, of the second, ...
  bool steps_first = false;     // if flattened: the first position of each sample, the second, ...
  bool follows_length = false;  // axis 1 does, and its extent is the bucket's length
};

// The rows of each output, from the outputs' shapes in all buckets for batches of `batch_size`: an
// axis follows the length if it has its extent in every bucket (of several, where an extent that is
// equal by chance does not stay so). Without lengths, `lengths` is {0}. No shape tells steps_first.
// kUnimplemented, with the shape, if axis 0 is neither that of samples nor of their positions.
absl::StatusOr<std::vector<OutputRows>> FindOutputRows(int64_t batch_size,
                                                       absl::Span<const int64_t> lengths,
                                                       absl::Span<const std::vector<Shape>> shapes);

// The output of a batch of `rows` samples with each sample's positions together, as TakeRow reads
// it: a copy where that has another order.
absl::StatusOr<NDArray> SamplesFirst(const NDArray& output, const OutputRows& where, int64_t rows);

// A copy of the part of sample `row`, without the padding behind `length`. `output` is of a batch
// of `rows` samples, by SamplesFirst.
absl::StatusOr<NDArray> TakeRow(const NDArray& output, const OutputRows& where, int64_t rows,
                                int64_t row, int64_t length);

}  // namespace cooper

#endif  // COOPER_MODULE_PREDICT_BATCH_ROWS_H_
