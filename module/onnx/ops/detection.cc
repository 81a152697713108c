// Operators that suppress boxes. They sort the boxes of each image from best to worst and let
// NonMaxSuppression choose those that are left.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "module/onnx/node_export.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/detection/box_format.h"
#include "symbol/ops/detection/box_nms_param.h"
#include "symbol/ops/detection/multi_box_detection_param.h"

namespace cooper {
namespace {

// Returns OK if `sizes`, of which one is the number of boxes, and the boxes' dtype suit ONNX, else
// the error of Refuse.
absl::Status CheckBoxes(const NodeExport& c, const SymbolicShape& sizes) {
  constexpr int64_t kMaxRank = int64_t{1} << 24;  // Suppress counts in float32
  if (c.out_type() != DType::kFloat32) return c.Refuse("ONNX suppresses boxes of float32 only");
  COOPER_RETURN_IF_ERROR(c.NeedsNumbers(sizes, "the boxes"));
  for (const Extent& size : sizes) {
    if (size.number() > kMaxRank) return c.Refuse("it has more than 2^24 boxes or classes");
  }
  return absl::OkStatus();
}

// Returns numbers [begin, end) of rows (images, boxes, width).
std::string Columns(NodeExport& c, const std::string& rows, int64_t begin, int64_t end) {
  return c.Slice(rows, 2, begin, end);
}

// Returns number i of rows, (images, boxes).
std::string Column(NodeExport& c, const std::string& rows, int64_t i) {
  return c.Squeeze(Columns(c, rows, i, i + 1), {2});
}

std::string Join(NodeExport& c, std::vector<std::string> parts, int64_t axis) {
  return c.Emit("Concat", std::move(parts), {{"axis", axis}});
}

// Returns the rows for which `keep` (images, boxes) holds, and -1 elsewhere.
std::string RowsWhere(NodeExport& c, const std::string& keep, const std::string& rows) {
  return c.Emit("Where", {c.Unsqueeze(keep, {2}), rows, c.Scalar(-1)});
}

// Returns the positions of the boxes (images, boxes, 1) in the order of `keys` (images, boxes), the
// greatest first and equal ones by position.
std::string Order(NodeExport& c, const std::string& keys, int64_t boxes) {
  return c.Unsqueeze(c.EmitMany("TopK", {keys, c.Ints({boxes})}, 2, {{"axis", int64_t{1}}})[1],
                     {2});
}

// Returns the positions of the boxes for which `first` (images, boxes) holds before all others.
std::string OrderFirst(NodeExport& c, const std::string& first, int64_t boxes) {
  return Order(c, c.Cast(first, DType::kBool, DType::kFloat32), boxes);
}

// Returns rows (images, boxes, width) or numbers (images, boxes) in an order.
std::string Take(NodeExport& c, const std::string& rows, const std::string& order) {
  return c.Emit("GatherND", {rows, order}, {{"batch_dims", int64_t{1}}});
}

// Converts boxes (images, boxes, 4) to the other format.
std::string ToFormat(NodeExport& c, const std::string& boxes, BoxFormat to) {
  const std::string a = Columns(c, boxes, 0, 2), b = Columns(c, boxes, 2, 4), half = c.Scalar(0.5);
  if (to == BoxFormat::kCenter) {
    const std::string center = c.Emit("Mul", {c.Emit("Add", {a, b}), half});
    return Join(c, {center, c.Emit("Sub", {b, a})}, 2);
  }
  const std::string radius = c.Emit("Mul", {b, half});
  return Join(c, {c.Emit("Sub", {a, radius}), c.Emit("Add", {a, radius})}, 2);
}

// Returns whether a box is left (images, boxes) by a suppression of overlaps above `max_overlap`.
// The boxes (images, boxes, 4) are corners, sorted from best to worst; only the first `topk` take
// part. Boxes of a group suppress each other: `groups` (images, groups, boxes) says whether a box
// is in it, and boxes without a group are not left.
std::string Suppress(NodeExport& c, const std::string& corners, const std::string& groups,
                     double max_overlap, int64_t topk, int64_t boxes) {
  // ONNX swaps the ends of a negative side; in cooper such a box has no area.
  const std::string begin = Columns(c, corners, 0, 2), end = Columns(c, corners, 2, 4);
  const std::string upright = Join(c, {begin, c.Emit("Max", {begin, end})}, 2);
  // The scores topk, topk - 1, ... have no ties, whose order ONNX leaves open.
  const auto first = static_cast<double>(topk), last = static_cast<double>(topk - boxes);
  const std::string ranks = c.Emit("Range", {c.Scalar(first), c.Scalar(last), c.Scalar(-1)});
  const std::string scores = c.Emit("Where", {groups, ranks, c.Scalar(0)});
  // Each row of `selected` is {image, group, box}.
  const std::string selected = c.Emit("NonMaxSuppression", {upright, scores, c.Ints({boxes}),
                                                            c.Scalar(max_overlap), c.Scalar(0.5)});
  const auto pick = [&](const std::string& columns) {
    return c.Emit("Gather", {selected, columns}, {{"axis", int64_t{1}}});
  };
  const std::string none = c.graph().Scalar(-1, DType::kInt64);
  const std::string shape = c.Emit("Shape", {Column(c, corners, 0)});
  const std::string positions =
      c.Emit("ScatterND", {c.Emit("Expand", {none, shape}), pick(c.Ints({0, 2})),
                           pick(c.graph().Scalar(2, DType::kInt64))});
  return c.Emit("Greater", {positions, none});
}

// Returns the corners (images, boxes, 4) that _contrib_MultiBoxDetection decodes.
absl::StatusOr<std::string> DecodedBoxes(NodeExport& c, int64_t boxes) {
  using enum MultiBoxDetectionArrays::Input;
  const auto& param = c.param<MultiBoxDetectionParam>();
  COOPER_ASSIGN_OR_RETURN(const NDArray variances,
                          NDArray::FromVector<float>({4}, param.variances));
  const std::string codes =
      c.Emit("Mul", {c.Emit("Reshape", {c.input(kLocPred), c.Ints({-1, boxes, 4})}),
                     c.Weights("variances", variances)});
  const std::string anchors = ToFormat(c, c.input(kAnchor), BoxFormat::kCenter);
  const std::string sides = Columns(c, anchors, 2, 4);
  const std::string shift = c.Emit("Mul", {Columns(c, codes, 0, 2), sides});
  const std::string scale = c.Emit("Exp", {Columns(c, codes, 2, 4)});
  const std::string center = c.Emit("Add", {shift, Columns(c, anchors, 0, 2)});
  const std::string corners =
      ToFormat(c, Join(c, {center, c.Emit("Mul", {scale, sides})}, 2), BoxFormat::kCorner);
  return param.clip ? c.Emit("Clip", {corners, c.Scalar(0), c.Scalar(1)}) : corners;
}

absl::Status ExportMultiBoxDetection(NodeExport& c) {
  using enum MultiBoxDetectionArrays::Input;
  const auto& param = c.param<MultiBoxDetectionParam>();
  const Extent &classes = c.shape(kClsProb)[1], &anchors = c.shape(kClsProb)[2];
  COOPER_RETURN_IF_ERROR(CheckBoxes(c, {classes, anchors}));
  if (classes.number() < 2) return c.Refuse("there is no class besides the background");
  const int64_t boxes = anchors.number();
  const std::string objects = c.Slice(c.input(kClsProb), 1, 1, classes.number());
  const std::string probability =
      c.Emit("ReduceMax", {objects}, {{"axes", std::vector<int64_t>{1}}, {"keepdims", int64_t{0}}});
  const std::string id =
      c.Cast(c.Emit("ArgMax", {objects}, {{"axis", int64_t{1}}, {"keepdims", int64_t{0}}}),
             DType::kInt64, DType::kFloat32);
  // No probability of -1 and below is an object.
  const std::string found =
      c.Emit("And", {c.Emit("GreaterOrEqual", {probability, c.Scalar(param.threshold)}),
                     c.Emit("Greater", {probability, c.Scalar(-1)})});
  COOPER_ASSIGN_OR_RETURN(const std::string corners, DecodedBoxes(c, boxes));
  const std::string detections = RowsWhere(
      c, found, Join(c, {c.Unsqueeze(id, {2}), c.Unsqueeze(probability, {2}), corners}, 2));
  const std::string in_order = Take(c, detections, OrderFirst(c, found, boxes));
  if (!(param.nms_threshold > 0 && param.nms_threshold <= 1)) {
    c.Return(in_order);
    return absl::OkStatus();
  }
  const int64_t topk = param.nms_topk > 0 ? std::min(param.nms_topk, boxes) : boxes;
  std::string rows = Take(c, detections, Order(c, Column(c, detections, 1), boxes));
  const std::string ids = c.Unsqueeze(Column(c, rows, 0), {1});
  const auto num_ids = static_cast<double>(classes.number() - 1);
  const std::string groups =
      param.force_suppress
          ? c.Emit("GreaterOrEqual", {ids, c.Scalar(0)})
          : c.Emit("Equal",
                   {ids, c.Unsqueeze(c.Emit("Range", {c.Scalar(0), c.Scalar(num_ids), c.Scalar(1)}),
                                     {1})});
  // In cooper an overlap of nms_threshold itself suppresses, in ONNX it does not.
  const std::string left = Suppress(c, Columns(c, rows, 2, 6), groups,
                                    std::nextafter(param.nms_threshold, 0.0F), topk, boxes);
  if (topk < boxes) {
    rows = Join(c, {c.Slice(rows, 1, 0, topk), c.Slice(in_order, 1, topk, boxes)}, 1);
  }
  c.Return(Join(c, {RowsWhere(c, left, Columns(c, rows, 0, 1)), Columns(c, rows, 1, 6)}, 2));
  return absl::OkStatus();
}
COOPER_ONNX_EXPORT(_contrib_MultiBoxDetection,
                   "TopK, NonMaxSuppression; float32, and the extents of the boxes must be numbers",
                   ExportMultiBoxDetection);

absl::Status ExportBoxNms(NodeExport& c) {
  const auto& param = c.param<BoxNmsParam>();
  if (param.topk == 0) {
    c.Return(c.input(0));
    return absl::OkStatus();
  }
  if (!(param.overlap_thresh >= 0)) return c.Refuse("overlap_thresh is below 0");
  const SymbolicShape image(c.shape(0).end() - 2, c.shape(0).end());
  COOPER_RETURN_IF_ERROR(CheckBoxes(c, image));
  const int64_t boxes = image[0].number(), width = image[1].number(), box = param.coord_start;
  std::string rows = c.input(0);
  if (c.rank(0) != 3) rows = c.Emit("Reshape", {rows, c.Ints({-1, boxes, width})});
  const std::string score = Column(c, rows, param.score_index);
  std::string candidate = c.Emit("Greater", {score, c.Scalar(param.valid_thresh)});
  if (param.id_index >= 0) {
    const std::string background = c.Emit(
        "Equal",
        {Column(c, rows, param.id_index), c.Scalar(static_cast<double>(param.background_id))});
    candidate = c.Emit("And", {candidate, c.Emit("Not", {background})});
  }
  const std::string keys = c.Emit("Where", {candidate, score, c.Scalar(-INFINITY)});
  const std::string order = Order(c, keys, boxes);
  rows = Take(c, rows, order);
  std::string groups = c.Unsqueeze(Take(c, candidate, order), {1});
  if (param.id_index >= 0 && !param.force_suppress) {
    const std::string ids = c.Cast(Column(c, rows, param.id_index), DType::kFloat32, DType::kInt64);
    const std::string same =
        c.Emit("Equal", {c.Unsqueeze(ids, {1}), c.Unsqueeze(c.Emit("Unique", {ids}), {1})});
    groups = c.Emit("And", {groups, same});
  }
  const std::string old_boxes = Columns(c, rows, box, box + 4);
  const std::string corners = param.in_format == BoxFormat::kCorner
                                  ? old_boxes
                                  : ToFormat(c, old_boxes, BoxFormat::kCorner);
  const int64_t topk = param.topk > 0 ? std::min(param.topk, boxes) : boxes;
  const std::string left =
      Suppress(c, corners, groups, std::min(param.overlap_thresh, 1.0), topk, boxes);
  if (param.out_format != param.in_format) {
    const std::string outside = c.Emit("Less", {Columns(c, rows, box, box + 1), c.Scalar(0)});
    const std::string new_boxes =
        c.Emit("Where", {outside, old_boxes, ToFormat(c, old_boxes, param.out_format)});
    rows = Join(c, {Columns(c, rows, 0, box), new_boxes, Columns(c, rows, box + 4, width)}, 2);
  }
  const std::string out = Take(c, RowsWhere(c, left, rows), OrderFirst(c, left, boxes));
  COOPER_ASSIGN_OR_RETURN(
      std::string result,
      c.Reshape(out, c.rank(0) == 3 ? c.out_shape() : SymbolicShape{}, c.out_shape()));
  c.Return(std::move(result));
  return absl::OkStatus();
}
COOPER_ONNX_EXPORT(_contrib_box_nms,
                   "TopK, NonMaxSuppression; float32, and the extents of the boxes must be numbers",
                   ExportBoxNms);

}  // namespace
}  // namespace cooper
