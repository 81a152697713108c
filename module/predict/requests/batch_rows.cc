#include "module/predict/requests/batch_rows.h"

#include <string>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "io/batch/padded_copy.h"
#include "module/rows/sample_rows.h"
#include "ndarray/array/on_cpu.h"
#include "ndarray/base/status_macros.h"
#include "symbol/schema/batch_layout.h"

namespace cooper {
namespace {

// Whether axis `axis` of output `k` has `extent(known)` in all of `known`.
template <typename Fn>
bool AxisIs(absl::Span<const OutputShapes> known, size_t k, int axis, const Fn& extent) {
  return absl::c_all_of(known, [&](const OutputShapes& of) {
    return of.shapes[k].rank() > axis && of.shapes[k][axis] == extent(of);
  });
}

absl::Status NotOfSamples(const std::string& output, const Shape& shape, int64_t batch_size) {
  return absl::UnimplementedError(absl::StrCat(output, " of a batch of ", batch_size,
                                               " samples is ", shape.ToString(),
                                               ": its rows do not belong to samples"));
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

absl::StatusOr<std::vector<OutputRows>> FindOutputRows(absl::Span<const OutputShapes> known) {
  for (const OutputShapes& of : known) {
    if (of.shapes.size() == known[0].shapes.size()) continue;
    return absl::UnimplementedError(
        absl::StrCat("the network for length ", of.length, " has ", of.shapes.size(),
                     " outputs, that for length ", known[0].length, " has ", known[0].shapes.size(),
                     " outputs: requests of all lengths are to get as many"));
  }
  const auto samples = [](const OutputShapes& of) { return of.batch_size; };
  const auto positions = [](const OutputShapes& of) { return of.batch_size * of.length; };
  const auto length = [](const OutputShapes& of) { return of.length; };
  const bool lengths_differ =
      absl::c_any_of(known, [&](const OutputShapes& of) { return of.length != known[0].length; });
  std::vector<OutputRows> rows;
  for (size_t k = 0; k < known[0].shapes.size(); ++k) {
    const bool by_sample = AxisIs(known, k, 0, samples);
    // With one position per sample both hold, and mean the same.
    if (!by_sample && !AxisIs(known, k, 0, positions)) {
      return NotOfSamples(absl::StrCat("output ", k), known[0].shapes[k], known[0].batch_size);
    }
    rows.push_back(
        {.flattened = !by_sample,
         .follows_length = lengths_differ && (!by_sample || AxisIs(known, k, 1, length))});
  }
  return rows;
}

absl::StatusOr<NDArray> SamplesFirst(const NDArray& output, const OutputRows& where, int64_t rows,
                                     int64_t length) {
  const Shape& shape = output.shape();
  if (shape.rank() == 0 || shape[0] != (where.flattened ? rows * length : rows)) {
    return NotOfSamples("output", shape, rows);
  }
  if (!where.steps_first || rows == 1) return output;
  return TakeIndices(
      output, 0, SampleIndices(BatchLayout::Samples(0, length), rows, rows, /*by_sample=*/true));
}

absl::StatusOr<NDArray> TakeRow(const NDArray& output, const OutputRows& where, int64_t rows,
                                int64_t row, int64_t length) {
  if (where.flattened) {
    const int64_t positions = output.shape()[0] / rows;
    const int64_t begin = row * positions;
    const int64_t count = where.follows_length ? length : positions;
    COOPER_ASSIGN_OR_RETURN(const NDArray part, output.Slice(begin, begin + count));
    return part.Copy();
  }
  COOPER_ASSIGN_OR_RETURN(NDArray part, output.At(row));
  if (where.follows_length) {
    COOPER_ASSIGN_OR_RETURN(part, part.Slice(0, length));
  }
  return part.Copy();
}

}  // namespace cooper
