#include "module/predict/batch_rows.h"

#include <algorithm>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "io/padded_copy.h"
#include "module/sample_rows.h"
#include "ndarray/on_cpu.h"
#include "ndarray/status_macros.h"

namespace cooper {
namespace {

// Whether `holds` says so of output `k` in every bucket.
template <typename Fn>
bool InAll(absl::Span<const std::vector<Shape>> shapes, size_t k, const Fn& holds) {
  for (size_t b = 0; b < shapes.size(); ++b) {
    if (!holds(b, shapes[b][k])) return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<NDArray> StackPadded(absl::Span<const NDArray> samples, const Shape& batch,
                                    DType dtype, double pad_value) {
  COOPER_ASSIGN_OR_RETURN(const NDArray stacked, NDArray::Full(batch, pad_value, dtype));
  std::vector<int64_t> strides(static_cast<size_t>(batch.rank()), 1);
  for (int i = batch.rank() - 2; i >= 0; --i) strides[i] = strides[i + 1] * batch[i + 1];
  const PaddedCopy copy(dtype, dtype);
  const int64_t row_bytes = strides[0] * SizeOf(dtype);
  for (size_t i = 0; i < samples.size(); ++i) {
    const PaddedRow row = {
        .data = static_cast<char*>(stacked.raw_data()) + static_cast<int64_t>(i) * row_bytes,
        .extents = batch.dims().subspan(1),
        .strides = absl::MakeConstSpan(strides).subspan(1)};
    COOPER_ASSIGN_OR_RETURN(const NDArray sample, OnCpu(samples[i]));
    copy(sample.raw_data(), sample.shape(), /*shift=*/0, row);
  }
  return stacked;
}

absl::StatusOr<std::vector<OutputRows>> FindOutputRows(
    int64_t batch_size, absl::Span<const int64_t> lengths,
    absl::Span<const std::vector<Shape>> shapes) {
  std::vector<OutputRows> rows;
  const bool has_lengths = lengths[0] > 0;
  for (size_t k = 0; k < shapes[0].size(); ++k) {
    const bool by_sample = InAll(shapes, k, [&](size_t, const Shape& shape) {
      return shape.rank() > 0 && shape[0] == batch_size;
    });
    const bool by_position = has_lengths && InAll(shapes, k, [&](size_t b, const Shape& shape) {
                               return shape.rank() > 0 && shape[0] == batch_size * lengths[b];
                             });
    // With one sample a batch, or one position a sample, both may hold and are the same.
    if (!by_sample && !by_position) {
      return absl::UnimplementedError(absl::StrCat("output ", k, " of a batch of ", batch_size,
                                                   " samples is ", shapes[0][k].ToString(),
                                                   ": its rows do not belong to samples"));
    }
    rows.push_back({.flattened = !by_sample,
                    .follows_length = by_sample && has_lengths &&
                                      InAll(shapes, k, [&](size_t b, const Shape& shape) {
                                        return shape.rank() > 1 && shape[1] == lengths[b];
                                      })});
  }
  return rows;
}

absl::StatusOr<NDArray> SamplesFirst(const NDArray& output, const OutputRows& where, int64_t rows) {
  if (!where.steps_first || rows == 1) return output;
  return RowsBySample(output, {.outer = output.shape()[0] / rows, .inner = 1}, rows, rows);
}

absl::StatusOr<NDArray> TakeRow(const NDArray& output, const OutputRows& where, int64_t rows,
                                int64_t row, int64_t length) {
  if (where.flattened) {
    const int64_t positions = output.shape()[0] / rows;
    COOPER_ASSIGN_OR_RETURN(const NDArray part,
                            output.Slice(row * positions, row * positions + length));
    return part.Copy();
  }
  COOPER_ASSIGN_OR_RETURN(NDArray part, output.At(row));
  if (where.follows_length) {
    COOPER_ASSIGN_OR_RETURN(part, part.Slice(0, length));
  }
  return part.Copy();
}

}  // namespace cooper
