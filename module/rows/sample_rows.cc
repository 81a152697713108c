#include "module/rows/sample_rows.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "module/devices/batch_slices.h"
#include "ndarray/array/on_cpu.h"
#include "ndarray/base/context.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

// Returns the tolerance between results that were rounded differently, relative to the largest in a
// row: sixteen roundings of 16-bit floats, whose sums are float32; many more roundings of other
// dtypes.
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

// Compares arrays of (outer, samples, inner, columns) elements.
bool Agrees(const Shape& shape, const float* output, const float* turned, float tolerance) {
  const int64_t samples = shape[1], inner = shape[2], columns = shape[3];
  for (int64_t o = 0; o < shape[0]; ++o) {
    for (int64_t n = 0; n < samples; ++n) {
      const float* a = output + (o * samples + n) * inner * columns;
      const float* b = turned + (o * samples + (n + 1) % samples) * inner * columns;
      for (int64_t i = 0; i < inner; ++i, a += columns, b += columns) {
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

absl::Status UnknownPaddingError(const Shape& output, const BatchLayout& layout, int64_t samples,
                                 int64_t pad) {
  if (layout.kind == BatchLayout::Kind::kSomeSamples) {
    return absl::InvalidArgumentError(absl::StrCat(
        "of shape ", output.ToString(), " has rows of some of ", samples,
        " samples: it is not known which of them belong to the ", pad,
        " samples of padding; let the iterator give no padding (kSmaller or kDiscard)"));
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "of shape ", output.ToString(), " for ", samples,
      " samples: it is not known which part of it belongs to the ", pad,
      " samples of padding; declare its batch axis by the attribute __layout__ of its node, or let "
      "the iterator give no padding"));
}

absl::StatusOr<NDArray> WithoutPadding(const NDArray& output, const BatchLayout& layout,
                                       int64_t samples, int64_t pad) {
  if (pad == 0) return output;
  if (samples == 0) return WithoutPad(output, pad);
  BatchLayout known = layout.Fits(output.shape(), samples) ? layout : BatchLayout();
  if (known.is_unknown()) {
    if (known.kind == BatchLayout::Kind::kSomeSamples) {
      return UnknownPaddingError(output.shape(), known, samples, pad);
    }
    const std::vector<BatchLayout> possible = PossibleLayouts(output.shape(), samples);
    if (possible.empty()) return output;
    // A first axis with as many indices as there are samples is taken to be the samples'.
    if (possible[0].axis > 0 || possible[0].per_sample() > 1) {
      return UnknownPaddingError(output.shape(), known, samples, pad);
    }
    known = possible[0];
  }
  if (!known.has_samples()) return output;
  const int64_t keep = std::max<int64_t>(0, samples - pad);
  return TakeIndices(output, known.axis, SampleIndices(known, samples, keep, /*by_sample=*/false));
}

std::vector<int64_t> SampleIndices(const BatchLayout& layout, int64_t samples, int64_t keep,
                                   bool by_sample) {
  std::vector<int64_t> indices;
  indices.reserve(static_cast<size_t>(keep * layout.per_sample()));
  const auto add = [&](int64_t o, int64_t n) {
    for (int64_t i = 0; i < layout.inner; ++i) {
      indices.push_back((o * samples + n) * layout.inner + i);
    }
  };
  for (int64_t a = 0; a < (by_sample ? keep : layout.outer); ++a) {
    for (int64_t b = 0; b < (by_sample ? layout.outer : keep); ++b) {
      by_sample ? add(b, a) : add(a, b);
    }
  }
  return indices;
}

absl::StatusOr<NDArray> TakeIndices(const NDArray& array, int axis,
                                    absl::Span<const int64_t> indices) {
  const auto count = static_cast<int64_t>(indices.size());
  bool leading = axis == 0;
  for (int64_t i = 0; i < count && leading; ++i) leading = indices[i] == i;
  if (leading) return array.Slice(0, count);
  COOPER_ASSIGN_OR_RETURN(const NDArray source, OnCpu(array));
  Shape shape = array.shape();
  const int64_t extent = std::exchange(shape[axis], count);
  COOPER_ASSIGN_OR_RETURN(NDArray result, NDArray::Empty(shape, array.dtype()));
  const auto bytes =
      static_cast<size_t>(shape.Product(axis + 1, shape.rank()) * SizeOf(array.dtype()));
  if (result.size() == 0) return result;
  const auto* from = static_cast<const char*>(source.raw_data());
  auto* to = static_cast<char*>(result.raw_data());
  for (int64_t o = 0; o < shape.Product(0, axis); ++o) {
    for (const int64_t index : indices) {
      std::memcpy(to, from + static_cast<size_t>(o * extent + index) * bytes, bytes);
      to += bytes;
    }
  }
  if (array.context() == Context::Cpu()) return result;
  return result.CopyTo(array.context());
}

absl::StatusOr<NDArray> JoinAlong(absl::Span<const NDArray> arrays, int axis) {
  if (axis == 0 || arrays.empty()) return ConcatRows(arrays);
  Shape shape = arrays[0].shape();
  for (const NDArray& array : arrays.subspan(1)) {
    if (array.shape().rank() > axis) shape[axis] += array.shape()[axis];
  }
  COOPER_ASSIGN_OR_RETURN(NDArray joined, NDArray::Empty(shape, arrays[0].dtype()));
  int64_t begin = 0;
  for (const NDArray& array : arrays) {
    COOPER_RETURN_IF_ERROR(WriteAxisSlice(array, axis, begin, joined));
    begin += array.shape()[axis];
  }
  if (arrays[0].context() == Context::Cpu()) return joined;
  return joined.CopyTo(arrays[0].context());
}

std::vector<BatchLayout> PossibleLayouts(const Shape& output, int64_t samples) {
  std::vector<BatchLayout> possible;
  for (int axis = 0; axis < output.rank(); ++axis) {
    const int64_t per_sample = output[axis] / samples;
    if (output[axis] % samples != 0 || per_sample == 0) continue;
    possible.push_back(BatchLayout::Samples(axis, 1, per_sample));
    if (per_sample == 1 || samples == 1) continue;
    possible.push_back(BatchLayout::Samples(axis, per_sample, 1));
    for (int64_t outer = 2; outer < per_sample; ++outer) {
      if (per_sample % outer != 0) continue;
      possible.push_back(BatchLayout::Samples(axis, outer, per_sample / outer));
    }
  }
  return possible;
}

absl::StatusOr<NDArray> RotateSamples(const NDArray& array, int axis, int64_t samples) {
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

absl::StatusOr<std::vector<BatchLayout>> ConsistentLayouts(absl::Span<const BatchLayout> candidates,
                                                           const NDArray& output,
                                                           const NDArray& turned, int64_t samples) {
  COOPER_ASSIGN_OR_RETURN(const std::vector<float> a, output.ToVector<float>());
  COOPER_ASSIGN_OR_RETURN(const std::vector<float> b, turned.ToVector<float>());
  const Shape& shape = output.shape();
  std::vector<BatchLayout> agreeing;
  for (const BatchLayout& layout : candidates) {
    const Shape parts({shape.Product(0, layout.axis) * layout.outer, samples, layout.inner,
                       shape.Product(layout.axis + 1, shape.rank())});
    if (Agrees(parts, a.data(), b.data(), ToleranceOf(output.dtype()))) {
      agreeing.push_back(layout);
    }
  }
  return agreeing;
}

}  // namespace cooper
