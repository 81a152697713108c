#include "module/sample_rows.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>

#include "ndarray/context.h"
#include "ndarray/dtype.h"
#include "ndarray/on_cpu.h"
#include "ndarray/shape.h"
#include "ndarray/status_macros.h"

namespace cooper {
namespace {

// How far apart results are that were rounded in other places, as a part of the largest in a row:
// sixteen roundings of 16-bit floats, whose sums are float32; many more of the others.
float ToleranceOf(DType dtype) {
  if (dtype == DType::kFloat16) return 16 * 0x1p-11f;
  return dtype == DType::kBfloat16 ? 16 * 0x1p-8f : 1e-4f;
}

bool RowsAgree(const float* a, const float* b, int64_t columns, float tolerance) {
  float largest = 0;
  for (int64_t c = 0; c < columns; ++c) {
    if (std::isfinite(a[c])) largest = std::max(largest, std::abs(a[c]));
  }
  for (int64_t c = 0; c < columns; ++c) {
    if (a[c] == b[c] || std::abs(a[c] - b[c]) <= tolerance * largest) continue;
    if (!std::isnan(a[c]) || !std::isnan(b[c])) return false;
  }
  return true;
}

bool Agrees(const SampleRows& rows, absl::Span<const float> output, absl::Span<const float> turned,
            int64_t samples, int64_t columns, float tolerance) {
  for (int64_t o = 0; o < rows.outer; ++o) {
    for (int64_t n = 0; n < samples; ++n) {
      const float* a = output.data() + (o * samples + n) * rows.inner * columns;
      const float* b = turned.data() + (o * samples + (n + 1) % samples) * rows.inner * columns;
      for (int64_t i = 0; i < rows.inner; ++i, a += columns, b += columns) {
        if (!RowsAgree(a, b, columns, tolerance)) return false;
      }
    }
  }
  return true;
}

}  // namespace

absl::StatusOr<NDArray> WithoutPad(const NDArray& output, int64_t pad) {
  if (pad == 0 || output.shape().rank() == 0) return output;
  return output.Slice(0, std::max<int64_t>(0, output.shape()[0] - pad));
}

std::vector<SampleRows> PossibleSampleRows(const NDArray& output, int64_t samples) {
  if (output.shape().rank() == 0 || output.shape()[0] % samples != 0) return {};
  const int64_t per_sample = output.shape()[0] / samples;
  if (per_sample == 0) return {};
  std::vector<SampleRows> possible = {{.outer = 1, .inner = per_sample}};
  if (per_sample == 1 || samples == 1) return possible;
  possible.push_back({.outer = per_sample, .inner = 1});
  for (int64_t outer = 2; outer < per_sample; ++outer) {
    if (per_sample % outer != 0) continue;
    possible.push_back({.outer = outer, .inner = per_sample / outer});
  }
  return possible;
}

absl::StatusOr<NDArray> TurnSamples(const NDArray& array, int axis, int64_t samples) {
  const Shape& shape = array.shape();
  if (axis < 0 || axis >= shape.rank() || shape[axis] != samples) return array;
  COOPER_ASSIGN_OR_RETURN(const NDArray source, OnCpu(array));
  COOPER_ASSIGN_OR_RETURN(NDArray result, NDArray::Empty(shape, array.dtype()));
  const auto bytes =
      static_cast<size_t>(shape.Product(axis + 1, shape.rank()) * SizeOf(array.dtype()));
  const size_t block = bytes * static_cast<size_t>(samples);
  if (block == 0) return result;
  const auto* from = static_cast<const char*>(source.raw_data());
  auto* to = static_cast<char*>(result.raw_data());
  for (int64_t o = 0; o < shape.Product(0, axis); ++o, from += block, to += block) {
    std::rotate_copy(from, from + block - bytes, from + block, to);
  }
  return result;
}

absl::StatusOr<std::vector<SampleRows>> AgreeingSampleRows(absl::Span<const SampleRows> candidates,
                                                           const NDArray& output,
                                                           const NDArray& turned, int64_t samples) {
  COOPER_ASSIGN_OR_RETURN(const std::vector<float> a, output.ToVector<float>());
  COOPER_ASSIGN_OR_RETURN(const std::vector<float> b, turned.ToVector<float>());
  const int64_t columns = output.shape().Product(1, output.shape().rank());
  std::vector<SampleRows> agreeing;
  for (const SampleRows& rows : candidates) {
    if (Agrees(rows, a, b, samples, columns, ToleranceOf(output.dtype()))) agreeing.push_back(rows);
  }
  return agreeing;
}

absl::StatusOr<NDArray> RowsBySample(const NDArray& output, const SampleRows& rows, int64_t samples,
                                     int64_t keep) {
  if (rows.outer == 1) return output.Slice(0, keep * rows.inner);
  COOPER_ASSIGN_OR_RETURN(const NDArray source, OnCpu(output));
  Shape shape = output.shape();
  shape[0] = keep * rows.per_sample();
  COOPER_ASSIGN_OR_RETURN(NDArray result, NDArray::Empty(shape, output.dtype()));
  const auto bytes =
      static_cast<size_t>(rows.inner * shape.Product(1, shape.rank()) * SizeOf(output.dtype()));
  if (result.size() == 0) return result;
  const auto* from = static_cast<const char*>(source.raw_data());
  auto* to = static_cast<char*>(result.raw_data());
  for (int64_t n = 0; n < keep; ++n) {
    for (int64_t o = 0; o < rows.outer; ++o, to += bytes) {
      std::memcpy(to, from + static_cast<size_t>(o * samples + n) * bytes, bytes);
    }
  }
  if (output.context() == Context::Cpu()) return result;
  return result.CopyTo(output.context());
}

}  // namespace cooper
