// Operators that take parts of an array.

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "module/onnx/node_export.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/shape/slice_param.h"
#include "symbol/ops/shape/split_param.h"

namespace cooper {
namespace {

constexpr int kData = 0;
constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();

// Both clamp indices as Python does.
absl::Status ExportSlice(NodeExport& c) {
  const auto& param = c.param<SliceParam>();
  std::vector<int64_t> begins, ends, axes, steps;
  for (size_t i = 0; i < param.begin.size(); ++i) {
    const int64_t step = i < param.step.size() ? param.step[i].value_or(1) : 1;
    if (!param.begin[i].has_value() && !param.end[i].has_value() && step == 1) continue;
    begins.push_back(param.begin[i].value_or(step < 0 ? kEnd : 0));
    ends.push_back(param.end[i].value_or(step < 0 ? -kEnd : kEnd));
    axes.push_back(static_cast<int64_t>(i));
    steps.push_back(step);
  }
  if (axes.empty()) {
    c.Return(c.input(kData));
    return absl::OkStatus();
  }
  c.Return(
      c.Emit("Slice", {c.input(kData), c.Ints(begins), c.Ints(ends), c.Ints(axes), c.Ints(steps)}));
  return absl::OkStatus();
}
COOPER_ONNX_EXPORT(slice, "Slice", ExportSlice);

absl::Status ExportSliceAxis(NodeExport& c) {
  const auto& param = c.param<SliceAxisParam>();
  c.Return(c.Slice(c.input(kData), param.axis, param.begin, param.end.value_or(kEnd)));
  return absl::OkStatus();
}
COOPER_ONNX_EXPORT(slice_axis, "Slice", ExportSliceAxis);

// Takes the leading indices of the axes whose extents differ.
absl::Status ExportSliceLike(NodeExport& c) {
  std::vector<int64_t> axes;
  SymbolicShape ends;
  for (int i = 0; i < c.rank(kData); ++i) {
    if (c.out_shape()[i] == c.shape(kData)[i] && c.out_shape()[i].known) continue;
    axes.push_back(i);
    ends.push_back(c.out_shape()[i]);
  }
  if (axes.empty()) {
    c.Return(c.input(kData));
    return absl::OkStatus();
  }
  COOPER_ASSIGN_OR_RETURN(const std::string end, c.ShapeValue(ends));
  c.Return(c.Emit(
      "Slice", {c.input(kData), c.Ints(std::vector<int64_t>(axes.size(), 0)), end, c.Ints(axes)}));
  return absl::OkStatus();
}
COOPER_ONNX_EXPORT(slice_like, "Slice", ExportSliceLike);

absl::Status ExportCrop(NodeExport& c) {
  const auto& param = c.param<CropParam>();
  std::vector<int64_t> begins, ends;
  for (int i = 0; i < 2; ++i) {
    const Extent& whole = c.shape(kData)[2 + i];
    const Extent& part = c.out_shape()[2 + i];
    COOPER_RETURN_IF_ERROR(c.NeedsNumbers({whole, part}, "the images"));
    begins.push_back(param.begin(i, whole.number(), part.number()));
    ends.push_back(begins.back() + part.number());
  }
  c.Return(c.Emit("Slice", {c.input(kData), c.Ints(begins), c.Ints(ends), c.Ints({2, 3})}));
  return absl::OkStatus();
}
COOPER_ONNX_EXPORT(Crop, "Slice", ExportCrop);

void ReturnParts(NodeExport& c, const std::vector<std::string>& parts, int axis, bool squeeze) {
  for (size_t i = 0; i < parts.size(); ++i) {
    if (!c.is_read(static_cast<int>(i))) continue;
    c.Return(static_cast<int>(i), squeeze ? c.Squeeze(parts[i], {axis}) : parts[i]);
  }
}

absl::Status ExportSliceChannel(NodeExport& c) {
  const auto& param = c.param<SliceChannelParam>();
  COOPER_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(param.axis, c.rank(kData)));
  ReturnParts(c,
              c.EmitMany("Split", {c.input(kData)}, param.num_outputs, {{"axis", int64_t{axis}}}),
              axis, param.squeeze_axis);
  return absl::OkStatus();
}
COOPER_ONNX_EXPORT(SliceChannel, "Split, Squeeze", ExportSliceChannel);

absl::Status ExportSplit(NodeExport& c) {
  const auto& param = c.param<SplitParam>();
  COOPER_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(param.axis, c.rank(kData)));
  const Extent& extent = c.shape(kData)[axis];
  COOPER_RETURN_IF_ERROR(c.NeedsNumbers({extent}, "the axis that is split"));
  const int count = param.num_outputs();
  std::vector<int64_t> sizes;
  for (int i = 0; i < count; ++i) {
    if (param.sections > 0) {
      sizes.push_back(extent.number() / count + (i < extent.number() % count ? 1 : 0));
    } else {
      const int64_t next = i + 1 < count ? param.indices[i + 1] : extent.number();
      sizes.push_back(next - param.indices[i]);
    }
  }
  ReturnParts(
      c, c.EmitMany("Split", {c.input(kData), c.Ints(sizes)}, count, {{"axis", int64_t{axis}}}),
      axis, param.squeeze_axis);
  return absl::OkStatus();
}
COOPER_ONNX_EXPORT(_split_v2, "Split, Squeeze", ExportSplit);

}  // namespace
}  // namespace cooper
