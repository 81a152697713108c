#include "module/devices/batch_parts.h"

#include <cstdint>

#include "module/kvstore/sum_arrays.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

using Kind = BatchLayout::Kind;

// The sum of the arrays, each times its weight.
absl::StatusOr<NDArray> WeightedSum(absl::Span<const NDArray> arrays,
                                    absl::Span<const double> weights) {
  std::vector<double> sum(static_cast<size_t>(arrays[0].size()));
  for (size_t i = 0; i < arrays.size(); ++i) {
    COOPER_ASSIGN_OR_RETURN(const std::vector<double> values, arrays[i].ToVector<double>());
    for (size_t k = 0; k < sum.size(); ++k) sum[k] += weights[i] * values[k];
  }
  COOPER_ASSIGN_OR_RETURN(const NDArray array, NDArray::FromVector(arrays[0].shape(), sum));
  return array.AsType(arrays[0].dtype());
}

}  // namespace

double WeightOfPart(absl::Span<const BatchSlice> slices, size_t i) {
  return static_cast<double>(slices[i].size()) / static_cast<double>(slices.back().end);
}

absl::Status JoinParts(absl::Span<const NDArray> parts, const BatchLayout& layout,
                       absl::Span<const BatchSlice> slices, NDArray& whole) {
  if (parts.size() == 1 || layout.kind == Kind::kNone) {
    whole = parts[0];
    return absl::OkStatus();
  }
  if (layout.kind == Kind::kMean) {
    std::vector<double> weights;
    for (size_t i = 0; i < slices.size(); ++i) weights.push_back(WeightOfPart(slices, i));
    COOPER_ASSIGN_OR_RETURN(whole, WeightedSum(parts, weights));
    return absl::OkStatus();
  }
  const int64_t batch_size = slices.back().end;
  if (whole.is_null()) {
    Shape shape = parts[0].shape();
    if (layout.has_samples()) shape = layout.WithSamples(std::move(shape), batch_size);
    COOPER_ASSIGN_OR_RETURN(whole, NDArray::Empty(shape, parts[0].dtype()));
  }
  if (layout.kind == Kind::kSum) return SumArrays(parts, whole);
  for (size_t i = 0; i < parts.size(); ++i) {
    COOPER_RETURN_IF_ERROR(WriteSamples(parts[i], layout, batch_size, slices[i], whole));
  }
  return absl::OkStatus();
}

absl::StatusOr<NDArray> ReadSlice(const NDArray& whole, const BatchLayout& layout,
                                  absl::Span<const BatchSlice> slices, size_t i) {
  if (slices.size() <= 1 || !layout.has_samples()) return whole;
  return TakeSamples(whole, layout, slices.back().end, slices[i]);
}

absl::StatusOr<NDArray> SliceHeadGradient(const NDArray& head, const BatchLayout& layout,
                                          absl::Span<const BatchSlice> slices, size_t i) {
  if (slices.size() <= 1 || layout.kind == Kind::kSum) return head;
  if (layout.has_samples()) return ReadSlice(head, layout, slices, i);
  return WeightedSum({head}, {WeightOfPart(slices, i)});
}

}  // namespace cooper
