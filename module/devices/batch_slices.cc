#include "module/devices/batch_slices.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ndarray/array/on_cpu.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

// Copies rows [from, from + rows) of `source` to rows from `to` on of `target`. The arrays have the
// same shape but for the axis.
void CopyRows(const NDArray& source, int64_t from, const NDArray& target, int64_t to, int axis,
              int64_t rows) {
  const Shape& shape = source.shape();
  const int64_t outer = shape.Product(0, axis);
  const int64_t row_bytes = shape.Product(axis + 1, shape.rank()) * SizeOf(source.dtype());
  if (row_bytes == 0 || rows == 0) return;
  for (int64_t i = 0; i < outer; ++i) {
    std::memcpy(static_cast<char*>(target.raw_data()) + (i * target.shape()[axis] + to) * row_bytes,
                static_cast<const char*>(source.raw_data()) + (i * shape[axis] + from) * row_bytes,
                static_cast<size_t>(rows * row_bytes));
  }
}

}  // namespace

absl::StatusOr<std::vector<BatchSlice>> SplitBatch(int64_t batch_size,
                                                   absl::Span<const double> work_loads) {
  double total = 0;
  for (double load : work_loads) {
    if (!(load > 0) || !std::isfinite(load)) {
      return absl::InvalidArgumentError(absl::StrCat("work_load_list (",
                                                     absl::StrJoin(work_loads, ", "), ") has ",
                                                     load, ", expected positive numbers"));
    }
    total += load;
  }
  if (batch_size <= 0) {
    return absl::InvalidArgumentError("a batch of 0 rows has none for any device");
  }
  std::vector<BatchSlice> slices;
  const auto devices = std::min<int64_t>(batch_size, static_cast<int64_t>(work_loads.size()));
  double sum = 0;
  for (int64_t i = 0; i < devices; ++i) {
    sum += work_loads[i];
    const int64_t begin = slices.empty() ? 0 : slices.back().end;
    const int64_t last = batch_size - (devices - 1 - i);  // leaves a row for each that follows
    int64_t end = std::llround(static_cast<double>(batch_size) * sum / total);
    if (i + 1 == devices) end = batch_size;
    slices.push_back({begin, std::clamp(end, begin + 1, last)});
  }
  return slices;
}

absl::StatusOr<std::vector<BatchSlice>> SplitInputs(absl::Span<const DataDesc> data,
                                                    absl::Span<const DataDesc> labels,
                                                    int num_contexts,
                                                    const std::vector<double>& work_loads) {
  const auto n = static_cast<size_t>(num_contexts);
  if (!work_loads.empty() && work_loads.size() != n) {
    return absl::InvalidArgumentError(
        absl::StrCat("work_load_list has ", work_loads.size(), " numbers for ", n, " contexts"));
  }
  const DataDesc* first = nullptr;
  int64_t rows = 0;
  for (const absl::Span<const DataDesc> descs : {data, labels}) {
    for (const DataDesc& desc : descs) {
      const int axis = BatchAxis(desc.layout);
      if (axis < 0) continue;
      if (axis >= desc.shape.rank()) {
        return absl::InvalidArgumentError(
            absl::StrCat("'", desc.ToString(), "' has no axis ", axis, " to split over contexts"));
      }
      if (first == nullptr) {
        first = &desc;
        rows = desc.shape[axis];
      } else if (desc.shape[axis] != rows) {
        return absl::InvalidArgumentError(
            absl::StrCat("the inputs differ in their batch size: ", first->ToString(), " and ",
                         desc.ToString()));
      }
    }
  }
  if (first == nullptr) {
    return absl::InvalidArgumentError(
        "no input has a batch axis (N in its layout) to split over contexts");
  }
  return SplitBatch(rows, work_loads.empty() ? std::vector<double>(n, 1) : work_loads);
}

namespace {

// The array as (outer, samples, inner).
absl::StatusOr<NDArray> BySamples(const NDArray& array, const BatchLayout& layout,
                                  int64_t samples) {
  const Shape& shape = array.shape();
  if (!layout.has_samples() || !layout.Fits(shape, samples)) {
    return absl::InvalidArgumentError(
        absl::StrCat(array.ToString(), " has not ", samples, " samples (", layout.ToString(), ")"));
  }
  return array.Reshape(Shape({shape.Product(0, layout.axis) * layout.outer, samples,
                              layout.inner * shape.Product(layout.axis + 1, shape.rank())}));
}

}  // namespace

absl::StatusOr<NDArray> TakeSamples(const NDArray& whole, const BatchLayout& layout,
                                    int64_t samples, BatchSlice slice) {
  COOPER_ASSIGN_OR_RETURN(const NDArray by_samples, BySamples(whole, layout, samples));
  COOPER_ASSIGN_OR_RETURN(const NDArray part, TakeSlice(by_samples, 1, slice));
  return part.Reshape(layout.WithSamples(whole.shape(), slice.size()));
}

absl::Status WriteSamples(const NDArray& part, const BatchLayout& layout, int64_t samples,
                          BatchSlice slice, const NDArray& whole) {
  COOPER_ASSIGN_OR_RETURN(const NDArray from, BySamples(part, layout, slice.size()));
  COOPER_ASSIGN_OR_RETURN(const NDArray to, BySamples(whole, layout, samples));
  return WriteAxisSlice(from, 1, slice.begin, to);
}

absl::StatusOr<NDArray> TakeSlice(const NDArray& whole, int axis, BatchSlice slice) {
  if (axis < 0 || axis >= whole.shape().rank() || slice.begin < 0 || slice.begin > slice.end ||
      slice.end > whole.shape()[axis]) {
    return absl::InvalidArgumentError(absl::StrCat("no rows [", slice.begin, ", ", slice.end,
                                                   ") of axis ", axis, " in ", whole.ToString()));
  }
  if (whole.shape().Product(0, axis) == 1) {
    Shape rows = whole.shape();
    rows[axis] = slice.size();
    const int64_t row = whole.shape().Product(axis + 1, whole.shape().rank());
    COOPER_ASSIGN_OR_RETURN(const NDArray flat, whole.Reshape(Shape({whole.shape()[axis], row})));
    COOPER_ASSIGN_OR_RETURN(const NDArray part, flat.Slice(slice.begin, slice.end));
    return part.Reshape(rows);
  }
  COOPER_ASSIGN_OR_RETURN(const NDArray source, OnCpu(whole));
  Shape shape = whole.shape();
  shape[axis] = slice.size();
  COOPER_ASSIGN_OR_RETURN(NDArray part, NDArray::Empty(shape, whole.dtype()));
  CopyRows(source, slice.begin, part, 0, axis, slice.size());
  return part;
}

absl::Status WriteAxisSlice(const NDArray& part, int axis, int64_t begin, const NDArray& whole) {
  Shape expected = whole.shape();
  if (axis >= 0 && axis < expected.rank() && axis < part.shape().rank()) {
    expected[axis] = part.shape()[axis];
  }
  if (axis < 0 || axis >= expected.rank() || part.shape() != expected ||
      part.dtype() != whole.dtype() || begin < 0 ||
      begin + part.shape()[axis] > whole.shape()[axis]) {
    return absl::InvalidArgumentError(absl::StrCat(part.ToString(), " does not fit at row ", begin,
                                                   " of axis ", axis, " in ", whole.ToString()));
  }
  COOPER_ASSIGN_OR_RETURN(const NDArray source, OnCpu(part));
  CopyRows(source, 0, whole, begin, axis, source.shape()[axis]);
  return absl::OkStatus();
}

}  // namespace cooper
