// Non-maximum suppression. MXNet: src/operator/contrib/bounding_box.cc.

#include <vector>

#include "ndarray/base/status_macros.h"
#include "symbol/ops/detection/box_nms_param.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/op_example.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

using enum BoxNmsArrays::Output;

// Checks that score, box and (if there is one) class are distinct columns of a row of `width`.
absl::Status CheckColumns(const BoxNmsParam& param, int64_t width) {
  const int64_t first = param.coord_start;
  if (first < 0 || first > width - 4) {
    return absl::InvalidArgumentError(absl::StrCat("coord_start is ", first, ", but rows of ",
                                                   width, " numbers have no four from there on"));
  }
  const auto check = [&](const char* name, int64_t index) {
    const bool in_box = index >= first && index - first < 4;
    if (index >= 0 && index < width && !in_box) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat(name, " is ", index, ", expected one of the ", width,
                     " numbers of a row that is not of the box from ", first, " on"));
  };
  COOPER_RETURN_IF_ERROR(check("score_index", param.score_index));
  if (param.id_index < 0) return absl::OkStatus();
  COOPER_RETURN_IF_ERROR(check("id_index", param.id_index));
  if (param.id_index != param.score_index) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("id_index and score_index are both ", param.id_index));
}

// Shape rule: data and output (..., boxes, width); record (..., boxes, 1).
absl::Status BoxNmsShape(ShapeContext& c) {
  COOPER_RETURN_IF_ERROR(c.SetOutput(kOutput, c.input(0)));
  COOPER_RETURN_IF_ERROR(c.SetInput(0, c.output(kOutput)));
  const PartialShape& data = c.input(0);
  if (!data.rank_known()) return absl::OkStatus();
  if (data.rank() < 2) {
    return absl::InvalidArgumentError(
        absl::StrCat("input 'data' ", data.ToString(), " is not (..., boxes, width)"));
  }
  const int64_t width = data[data.rank() - 1];
  if (width != kUnknownDim) COOPER_RETURN_IF_ERROR(CheckColumns(c.param<BoxNmsParam>(), width));
  PartialShape record = data;
  record[data.rank() - 1] = 1;
  return c.SetOutput(kRecord, record);
}

absl::Status BoxNmsType(TypeContext& c) {
  COOPER_RETURN_IF_ERROR(c.SetOutput(kOutput, c.input(0)));
  COOPER_RETURN_IF_ERROR(c.SetInput(0, c.output(kOutput)));
  return c.SetOutput(kRecord, DType::kInt32);
}

absl::StatusOr<std::vector<NodeEntry>> BoxNmsGradient(GradientContext& c) {
  COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(kOutput));
  return c.Backward("_backward_contrib_box_nms", {head, c.output(kRecord)});
}

COOPER_REGISTER_OP(_contrib_box_nms)
    .Describe(
        "Of each image the boxes, the greatest score first, that overlap none with a greater "
        "score by more than overlap_thresh; rows of -1 behind them.")
    .Alias("_contrib_box_non_maximum_suppression")
    .Param<BoxNmsParam>()
    .Inputs({"data"})
    .Outputs({"output", "record"})
    .VisibleOutputs([](const OpCall&) { return 1; })
    .Shape(BoxNmsShape)
    .Type(BoxNmsType)
    .Gradient(BoxNmsGradient);

COOPER_REGISTER_OP(_backward_contrib_box_nms)
    .Describe(
        "Gradient of _contrib_box_nms with respect to data: a row's goes to the box that it "
        "is.")
    .Param<BoxNmsParam>()
    .Inputs({"ograd", "record"})
    .Outputs({"data"})
    .Shape(GradientShape)
    .Type(GradientType);

COOPER_OP_EXAMPLE(_contrib_box_nms, {}, {{2, 10, 6}});

}  // namespace
}  // namespace cooper
