#ifndef COOPER_MODULE_PREDICT_REQUESTS_BATCH_ROWS_H_
#define COOPER_MODULE_PREDICT_REQUESTS_BATCH_ROWS_H_

// Samples to rows of a batch, and back.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/shape.h"

namespace cooper {

// A batch (samples, ...) of shape `batch`, with `pad_value` where a sample is shorter. The samples
// have the batch's other axes, with extents that are not larger.
absl::StatusOr<NDArray> StackPadded(absl::Span<const NDArray> samples, const Shape& batch,
                                    DType dtype, double pad_value);

// Where a sample's part of an output is.
struct OutputRows {
  bool flattened = false;    // axis 0 has the positions of the first sample, of the second, ...
  bool steps_first = false;  // if flattened: the first position of each sample, the second, ...
  // The positions are those of the bucket's length: of axis 1, or of axis 0 if flattened.
  bool follows_length = false;
};

// The shapes of a network's outputs for `batch_size` samples of `length`; 0 if they have none.
struct OutputShapes {
  int64_t batch_size = 0;
  int64_t length = 0;
  std::vector<Shape> shapes;
};

// The rows of each output, from what is known of one network or those of several buckets: an axis
// follows the batch size or the length if it does in all of them. An extent that is equal by chance
// stays behind where the sizes differ. follows_length is false if all lengths are the same. No
// shape tells steps_first. kUnimplemented, with the shape, if axis 0 is neither that of samples nor
// of their positions, and if networks differ in how many outputs they have.
absl::StatusOr<std::vector<OutputRows>> FindOutputRows(absl::Span<const OutputShapes> known);

// The output of a batch of `rows` samples of `length` with each sample's positions together, as
// TakeRow reads it: a copy where that has another order. kUnimplemented, with the shape, if axis 0
// is not as `where` has it, as of a network whose outputs depend on the batch size in another way.
absl::StatusOr<NDArray> SamplesFirst(const NDArray& output, const OutputRows& where, int64_t rows,
                                     int64_t length);

// A copy of the part of sample `row`, without the padding behind `length`. `output` is of a batch
// of `rows` samples, by SamplesFirst.
absl::StatusOr<NDArray> TakeRow(const NDArray& output, const OutputRows& where, int64_t rows,
                                int64_t row, int64_t length);

}  // namespace cooper

#endif  // COOPER_MODULE_PREDICT_REQUESTS_BATCH_ROWS_H_
