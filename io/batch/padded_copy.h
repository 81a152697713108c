#ifndef COOPER_IO_BATCH_PADDED_COPY_H_
#define COOPER_IO_BATCH_PADDED_COPY_H_

// Copies a sample into its row of a batch, whose extents may be larger or smaller.

#include <cstdint>

#include "absl/types/span.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/shape.h"

namespace cooper {

// A row of a batch array: its first element and its axes, which need not be contiguous.
struct PaddedRow {
  void* data = nullptr;
  absl::Span<const int64_t> extents;
  absl::Span<const int64_t> strides;  // in elements
};

// Copies the part of a row-major sample that fits into a row, converted by static_cast; the rest of
// the row is unchanged. `shift` drops the first indices of that part's axis 0 and moves the others
// forward: index `shift` goes to index 0. Requires equal ranks, and shift 0 for rank 0.
// Thread-safe. The conversion is chosen once, at construction; a copy then costs one call for each
// innermost run.
class PaddedCopy {
 public:
  // Copies samples of dtype `from` into rows of dtype `to`.
  PaddedCopy(DType from, DType to);

  void operator()(const void* sample, const Shape& shape, int64_t shift,
                  const PaddedRow& row) const;
  // Copies a sample of one axis with the given extent.
  void Sequence(const void* sample, int64_t extent, int64_t shift, const PaddedRow& row) const;

 private:
  // Copies `count` consecutive elements to positions `stride` apart.
  void (*run_)(const void* in, int64_t count, void* out, int64_t stride);
  int64_t in_size_;   // bytes of an element
  int64_t out_size_;  // bytes of an element
};

}  // namespace cooper

#endif  // COOPER_IO_BATCH_PADDED_COPY_H_
