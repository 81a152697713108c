// Encodes boxes relative to anchors, and decodes them. MXNet:
// src/operator/contrib/bounding_box.cc.

#include "ndarray/base/status_macros.h"
#include "symbol/ops/detection/box_coding_param.h"
#include "symbol/schema/op.h"
#include "symbol/schema/op_example.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

// Shape rule: samples and matches (batch_size, anchors), anchors (batch_size, anchors, 4), refs
// (batch_size, references, 4), means and stds (4,); outputs (batch_size, anchors, 4).
absl::Status BoxEncodeShape(ShapeContext& c) {
  using enum BoxEncodeArrays::Input;
  using enum BoxEncodeArrays::Output;
  for (const int output : {kTarget, kMask}) {
    COOPER_RETURN_IF_ERROR(c.SetInput(kAnchors, c.output(output)));
  }
  COOPER_RETURN_IF_ERROR(
      c.SetInput(kAnchors, {kUnknownDim, kUnknownDim, 4}, "(batch_size, anchors, 4)"));
  for (const int input : {kSamples, kMatches}) {
    const PartialShape& anchors = c.input(kAnchors);
    COOPER_RETURN_IF_ERROR(c.SetInput(input, {anchors[0], anchors[1]}, "(batch_size, anchors)"));
    COOPER_RETURN_IF_ERROR(c.SetInput(kAnchors, {c.input(input)[0], c.input(input)[1], 4},
                                      "(batch_size, anchors, 4)"));
  }
  COOPER_RETURN_IF_ERROR(
      c.SetInput(kRefs, {c.input(kAnchors)[0], kUnknownDim, 4}, "(batch_size, references, 4)"));
  COOPER_RETURN_IF_ERROR(c.SetInput(kMeans, {4}, "(4,)"));
  COOPER_RETURN_IF_ERROR(c.SetInput(kStds, {4}, "(4,)"));
  COOPER_RETURN_IF_ERROR(c.SetOutput(kTarget, c.input(kAnchors)));
  return c.SetOutput(kMask, c.input(kAnchors));
}

// Shape rule: data and output (batch_size, anchors, 4), anchors (1, anchors, 4).
absl::Status BoxDecodeShape(ShapeContext& c) {
  using enum BoxDecodeArrays::Input;
  COOPER_RETURN_IF_ERROR(c.SetInput(kData, c.output(0)));
  COOPER_RETURN_IF_ERROR(
      c.SetInput(kData, {kUnknownDim, kUnknownDim, 4}, "(batch_size, anchors, 4)"));
  COOPER_RETURN_IF_ERROR(c.SetInput(kAnchors, {1, c.input(kData)[1], 4}, "(1, anchors, 4)"));
  COOPER_RETURN_IF_ERROR(
      c.SetInput(kData, {kUnknownDim, c.input(kAnchors)[1], 4}, "(batch_size, anchors, 4)"));
  return c.SetOutput(0, c.input(kData));
}

COOPER_REGISTER_OP(_contrib_box_encode)
    .Describe(
        "Training targets of anchors: the boxes that they are matched with relative to the "
        "anchors, and a mask of those that have one. No gradient flows through it.")
    .Inputs({"samples", "matches", "anchors", "refs", "means", "stds"})
    .Outputs({"output0", "output1"})
    .Shape(BoxEncodeShape)
    .Type(SameType);

COOPER_REGISTER_OP(_contrib_box_decode)
    .Describe(
        "The corners of predicted boxes, which data describes relative to anchors. No gradient "
        "flows through it.")
    .Param<BoxDecodeParam>()
    .Inputs({"data", "anchors"})
    .Shape(BoxDecodeShape)
    .Type(SameType);

COOPER_OP_EXAMPLE(_contrib_box_encode, {}, {{2, 9}, {2, 9}, {2, 9, 4}, {2, 3, 4}, {4}, {4}});
COOPER_OP_EXAMPLE(_contrib_box_decode, {}, {{2, 9, 4}, {1, 9, 4}});

}  // namespace
}  // namespace cooper
