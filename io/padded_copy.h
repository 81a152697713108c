#ifndef COOPER_IO_PADDED_COPY_H_
#define COOPER_IO_PADDED_COPY_H_

// Puts a sample into its row of a batch, whose extents may be larger or smaller.

#include <cstdint>

#include "absl/types/span.h"
#include "ndarray/dtype.h"
#include "ndarray/shape.h"

namespace cooper {

// A row of a batch array: where it begins, and its axes, which need not be contiguous.
struct PaddedRow {
  void* data = nullptr;
  DType dtype = DType::kFloat32;
  absl::Span<const int64_t> extents;
  absl::Span<const int64_t> strides;  // in elements
};

// Copies into `row` the part of `sample` (row-major elements of `dtype`) that it has room for,
// converted as static_cast does; the rest of `row` stays as it is. With `shift` the first indices
// of that part's axis 0 are left out, and the others move to the front: index `shift` comes to
// index 0. Requires equal ranks, and shift 0 for a rank of 0.
void CopyPadded(const void* sample, DType dtype, const Shape& shape, int64_t shift,
                const PaddedRow& row);

}  // namespace cooper

#endif  // COOPER_IO_PADDED_COPY_H_
