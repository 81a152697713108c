#include "io/batch/padded_copy.h"

#include <algorithm>
#include <cstring>

#include "absl/container/inlined_vector.h"

namespace cooper {
namespace {

using CopyRun = void (*)(const void* in, int64_t count, void* out, int64_t stride);

template <typename From, typename To>
void ConvertRun(const void* in, int64_t count, void* out, int64_t stride) {
  const From* from = static_cast<const From*>(in);
  To* to = static_cast<To*>(out);
  if (stride == 1) {
    for (int64_t i = 0; i < count; ++i) to[i] = ConvertElement<To>(from[i]);
  } else {
    for (int64_t i = 0; i < count; ++i) to[i * stride] = ConvertElement<To>(from[i]);
  }
}

CopyRun FindCopyRun(DType from, DType to) {
  return DispatchDType(from, [to](auto from_tag) {
    using From = typename decltype(from_tag)::type;
    return DispatchDType(to, [](auto to_tag) -> CopyRun {
      return ConvertRun<From, typename decltype(to_tag)::type>;
    });
  });
}

struct Axis {
  int64_t count;       // indices that are copied
  int64_t in_stride;   // elements
  int64_t out_stride;  // elements
};

struct Walk {
  CopyRun copy;
  int64_t in_size;   // bytes of an element
  int64_t out_size;  // bytes of an element
  absl::Span<const Axis> axes;
};

void CopyAxis(const Walk& walk, size_t axis, const char* in, char* out) {
  const Axis& a = walk.axes[axis];
  if (axis + 1 == walk.axes.size()) {
    walk.copy(in, a.count, out, a.out_stride);
    return;
  }
  for (int64_t i = 0; i < a.count; ++i) {
    CopyAxis(walk, axis + 1, in + i * a.in_stride * walk.in_size,
             out + i * a.out_stride * walk.out_size);
  }
}

}  // namespace

PaddedCopy::PaddedCopy(DType from, DType to)
    : run_(FindCopyRun(from, to)), in_size_(SizeOf(from)), out_size_(SizeOf(to)) {}

void PaddedCopy::Sequence(const void* sample, int64_t extent, int64_t shift,
                          const PaddedRow& row) const {
  const int64_t count = std::min(extent, row.extents[0]) - shift;
  if (count <= 0) return;
  run_(static_cast<const char*>(sample) + shift * in_size_, count, row.data, row.strides[0]);
}

void PaddedCopy::operator()(const void* sample, const Shape& shape, int64_t shift,
                            const PaddedRow& row) const {
  absl::InlinedVector<Axis, 5> axes;
  int64_t in_stride = 1;
  for (int a = shape.rank() - 1; a >= 0; --a) {
    const int64_t count = std::min(shape[a], row.extents[a]) - (a == 0 ? shift : 0);
    if (count <= 0) return;
    // Adjacent axes that are contiguous with each other in both arrays are copied as one.
    if (!axes.empty() && in_stride == axes.back().count * axes.back().in_stride &&
        row.strides[a] == axes.back().count * axes.back().out_stride) {
      axes.back().count *= count;
    } else {
      axes.push_back({count, in_stride, row.strides[a]});
    }
    in_stride *= shape[a];
  }
  if (axes.empty()) axes.push_back({1, 1, 1});
  const int64_t first = shift == 0 ? 0 : shift * (in_stride / shape[0]);
  // The innermost axis is contiguous in the sample.
  std::reverse(axes.begin(), axes.end());
  const Walk walk = {.copy = run_, .in_size = in_size_, .out_size = out_size_, .axes = axes};
  CopyAxis(walk, 0, static_cast<const char*>(sample) + first * walk.in_size,
           static_cast<char*>(row.data));
}

}  // namespace cooper
