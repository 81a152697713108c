// Operators that reshape, permute, repeat or pad arrays, or return their shapes.

#include "ndarray/base/shape.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "module/onnx/node_export.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/shape/concat_param.h"
#include "symbol/ops/shape/depth_to_space_param.h"
#include "symbol/ops/shape/pad_param.h"
#include "symbol/ops/shape/tile_param.h"
#include "symbol/ops/shape/transpose_param.h"

namespace cooper {
namespace {

constexpr int kData = 0;
constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();

// A view: the shape that cooper infers covers all codes of Reshape.
absl::Status ExportView(NodeExport& c) {
  COOPER_ASSIGN_OR_RETURN(std::string out,
                          c.Reshape(c.input(kData), c.shape(kData), c.out_shape()));
  c.Return(std::move(out));
  return absl::OkStatus();
}
const OnnxRegistrar kViews({"Reshape", "Flatten", "expand_dims", "squeeze", "reshape_like"},
                           "Reshape", ExportView);

template <typename Param>
absl::Status ExportTranspose(NodeExport& c) {
  std::vector<int64_t> axes(c.rank(kData));
  for (int i = 0; i < c.rank(kData); ++i) {
    axes[i] = c.param<Param>().source_axis(i, c.rank(kData));
  }
  c.Return(c.Transpose(c.input(kData), axes));
  return absl::OkStatus();
}
COOPER_ONNX_EXPORT(transpose, "Transpose", ExportTranspose<TransposeParam>);
COOPER_ONNX_EXPORT(SwapAxis, "Transpose", ExportTranspose<SwapAxisParam>);

absl::Status ExportConcat(NodeExport& c) {
  c.Return(c.Emit("Concat", c.inputs(), {{"axis", int64_t{c.param<ConcatParam>().dim}}}));
  return absl::OkStatus();
}
const OnnxRegistrar kConcat({"Concat", "_rnn_param_concat"}, "Concat", ExportConcat);

absl::Status ExportStack(NodeExport& c) {
  COOPER_ASSIGN_OR_RETURN(const int axis,
                          NormalizeAxis(c.param<StackParam>().axis, c.rank(kData) + 1));
  std::vector<std::string> parts;
  for (const std::string& part : c.inputs()) parts.push_back(c.Unsqueeze(part, {axis}));
  c.Return(c.Emit("Concat", std::move(parts), {{"axis", int64_t{axis}}}));
  return absl::OkStatus();
}
COOPER_ONNX_EXPORT(stack, "Unsqueeze, Concat", ExportStack);

absl::Status ExportTile(NodeExport& c) {
  // The numbers and the shape are aligned at their last axes; in ONNX there is one for each axis.
  std::vector<int64_t> reps = c.param<TileParam>().reps;
  const size_t rank = c.out_shape().size();
  std::string data = c.input(kData);
  if (reps.size() < rank) reps.insert(reps.begin(), rank - reps.size(), 1);
  if (c.shape(kData).size() < rank) {
    std::vector<int64_t> axes(rank - c.shape(kData).size());
    std::iota(axes.begin(), axes.end(), 0);
    data = c.Unsqueeze(data, axes);
  }
  c.Return(c.Emit("Tile", {data, c.Ints(reps)}));
  return absl::OkStatus();
}
COOPER_ONNX_EXPORT(tile, "Tile", ExportTile);

// Each slice of the axis, several times in succession: a new axis behind it is tiled and merged.
absl::Status ExportRepeat(NodeExport& c) {
  const auto& param = c.param<RepeatParam>();
  if (param.repeats == 0) return c.Refuse("repeats is 0");
  std::string data = c.input(kData);
  int rank = c.rank(kData), axis = 0;
  if (param.axis.has_value()) {
    COOPER_ASSIGN_OR_RETURN(axis, NormalizeAxis(*param.axis, rank));
  } else {
    data = c.Emit("Reshape", {data, c.Ints({-1})});
    rank = 1;
  }
  std::vector<int64_t> reps(rank + 1, 1);
  reps[axis + 1] = param.repeats;
  const std::string tiled = c.Emit("Tile", {c.Unsqueeze(data, {axis + 1}), c.Ints(reps)});
  COOPER_ASSIGN_OR_RETURN(std::string out, c.Reshape(tiled, {}, c.out_shape()));
  c.Return(std::move(out));
  return absl::OkStatus();
}
COOPER_ONNX_EXPORT(repeat, "Unsqueeze, Tile, Reshape", ExportRepeat);

absl::Status ExportReverse(NodeExport& c) {
  std::vector<int64_t> axes;
  for (int i = 0; i < c.rank(kData); ++i) {
    if (c.param<ReverseParam>().reverses(i, c.rank(kData))) axes.push_back(i);
  }
  if (axes.empty()) {
    c.Return(c.input(kData));
    return absl::OkStatus();
  }
  c.Return(c.Emit("Slice", {c.input(kData), c.Ints(std::vector<int64_t>(axes.size(), -1)),
                            c.Ints(std::vector<int64_t>(axes.size(), -kEnd)), c.Ints(axes),
                            c.Ints(std::vector<int64_t>(axes.size(), -1))}));
  return absl::OkStatus();
}
COOPER_ONNX_EXPORT(reverse, "Slice", ExportReverse);

const char* ModeName(PadParam::Mode mode) {
  switch (mode) {
    case PadParam::kConstant:
      return "constant";
    case PadParam::kEdge:
      return "edge";
    case PadParam::kReflect:
      return "reflect";
    case PadParam::kSymmetric:  // of _npi_pad alone, which is not exported
      break;
  }
  return "";
}

absl::Status ExportPad(NodeExport& c) {
  const auto& param = c.param<PadParam>();
  std::vector<int64_t> before, after;
  for (size_t i = 0; i + 1 < param.pad_width.size(); i += 2) {
    before.push_back(param.pad_width[i]);
    after.push_back(param.pad_width[i + 1]);
  }
  before.insert(before.end(), after.begin(), after.end());
  std::vector<std::string> inputs = {c.input(kData), c.Ints(before)};
  if (param.mode == PadParam::kConstant) inputs.push_back(c.Scalar(param.constant_value));
  c.Return(c.Emit("Pad", std::move(inputs), {{"mode", std::string(ModeName(param.mode))}}));
  return absl::OkStatus();
}
COOPER_ONNX_EXPORT(Pad, "Pad", ExportPad);

absl::Status ExportDepthToSpace(NodeExport& c) {
  c.Return(c.Emit(
      "DepthToSpace", {c.input(kData)},
      {{"blocksize", c.param<DepthToSpaceParam>().block_size}, {"mode", std::string("DCR")}}));
  return absl::OkStatus();
}
COOPER_ONNX_EXPORT(depth_to_space, "DepthToSpace", ExportDepthToSpace);

absl::Status ExportSpaceToDepth(NodeExport& c) {
  c.Return(c.Emit("SpaceToDepth", {c.input(kData)},
                  {{"blocksize", c.param<DepthToSpaceParam>().block_size}}));
  return absl::OkStatus();
}
COOPER_ONNX_EXPORT(space_to_depth, "SpaceToDepth", ExportSpaceToDepth);

absl::Status ExportShapeArray(NodeExport& c) {
  COOPER_ASSIGN_OR_RETURN(std::string shape, c.ShapeValue(c.shape(kData)));
  c.Return(std::move(shape));
  return absl::OkStatus();
}
COOPER_ONNX_EXPORT(shape_array, "Shape", ExportShapeArray);

absl::Status ExportSizeArray(NodeExport& c) {
  const std::string size = c.Emit("Size", {c.input(kData)});
  c.Return(c.Unsqueeze(size, {0}));
  return absl::OkStatus();
}
COOPER_ONNX_EXPORT(size_array, "Size", ExportSizeArray);

}  // namespace
}  // namespace cooper
