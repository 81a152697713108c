#ifndef COOPER_IO_BATCH_PADDED_COPY_H_
#define COOPER_IO_BATCH_PADDED_COPY_H_

// Puts a sample into its row of a batch, whose extents may be larger or smaller.

#include <cstdint>

#include "absl/types/span.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/shape.h"

namespace cooper {

// A row of a batch array: where it begins, and its axes, which need not be contiguous.
struct PaddedRow {
  void* data = nullptr;
  absl::Span<const int64_t> extents;
  absl::Span<const int64_t> strides;  // in elements
};

// Copies into a row the part of a sample (row-major) that it has room for, converted as static_cast
// does; the rest of the row stays as it is. With `shift` the first indices of that part's axis 0
// are left out, and the others move to the front: index `shift` comes to index 0. Requires equal
// ranks, and shift 0 for a rank of 0.
class PaddedCopy {
 public:
  // Of samples of dtype `from` into rows of dtype `to`.
  PaddedCopy(DType from, DType to);

  void operator()(const void* sample, const Shape& shape, int64_t shift,
                  const PaddedRow& row) const;
  // The same of a sample of one axis, of that extent.
  void Sequence(const void* sample, int64_t extent, int64_t shift, const PaddedRow& row) const;

 private:
  // Copies `count` consecutive elements to places `stride` apart.
  void (*run_)(const void* in, int64_t count, void* out, int64_t stride);
  int64_t in_size_;   // bytes of an element
  int64_t out_size_;  // bytes of an element
};

}  // namespace cooper

#endif  // COOPER_IO_BATCH_PADDED_COPY_H_
