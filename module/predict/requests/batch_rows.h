#ifndef COOPER_MODULE_PREDICT_REQUESTS_BATCH_ROWS_H_
#define COOPER_MODULE_PREDICT_REQUESTS_BATCH_ROWS_H_

// Assembles samples to a batch, and takes their rows out of its outputs.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/shape.h"

namespace cooper {

// Returns a batch (samples, ...) of shape `batch`, with `pad_value` where a sample is shorter. The
// samples have the batch's other axes, with extents that are not larger.
absl::StatusOr<NDArray> StackPadded(absl::Span<const NDArray> samples, const Shape& batch,
                                    DType dtype, double pad_value);

// The position of a sample's part in an output.
struct OutputRows {
  bool flattened = false;    // axis 0 has samples and positions merged
  bool steps_first = false;  // if flattened: step by step instead of sample by sample
  // The positions follow the bucket's length: those of axis 1, or of axis 0 if flattened.
  bool follows_length = false;
};

// The shapes of a network's outputs for `batch_size` samples of `length` (0: the samples have no
// length).
struct OutputShapes {
  int64_t batch_size = 0;
  int64_t length = 0;
  std::vector<Shape> shapes;
};

// Returns the rows of each output, from the shapes for several batch sizes or lengths of one
// network or several buckets: an axis follows the batch size or the length if it does so in all of
// them. Sizes that differ rule out extents that are equal by chance. follows_length is false if all
// lengths are the same. steps_first is not set, since no shape tells it. kUnimplemented, with the
// shape, if axis 0 has neither the samples nor their positions, and if networks differ in the
// number of outputs.
absl::StatusOr<std::vector<OutputRows>> FindOutputRows(absl::Span<const OutputShapes> known);

// Returns the output of a batch of `rows` samples of `length` with each sample's positions
// together, as TakeRow requires: a copy if the output is step by step. kUnimplemented, with the
// shape, if axis 0 does not match `where`, as for a network whose outputs depend on the batch size
// in another way.
absl::StatusOr<NDArray> SamplesFirst(const NDArray& output, const OutputRows& where, int64_t rows,
                                     int64_t length);

// Returns a copy of the part of sample `row`, without the padding after `length`. `output` is the
// result of SamplesFirst for a batch of `rows` samples.
absl::StatusOr<NDArray> TakeRow(const NDArray& output, const OutputRows& where, int64_t rows,
                                int64_t row, int64_t length);

}  // namespace cooper

#endif  // COOPER_MODULE_PREDICT_REQUESTS_BATCH_ROWS_H_
