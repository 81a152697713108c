// Converts SSD's predictions to boxes. MXNet: src/operator/contrib/multibox_detection.cc.

#include <cstdint>

#include "ndarray/base/status_macros.h"
#include "symbol/ops/detection/anchor_shapes.h"
#include "symbol/ops/detection/multi_box_detection_param.h"
#include "symbol/schema/extent_product.h"
#include "symbol/schema/op.h"
#include "symbol/schema/op_example.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

using enum MultiBoxDetectionArrays::Input;

// Shape rule: cls_prob (batch_size, classes, anchors), loc_pred (batch_size, anchors * 4), anchor
// (1, anchors, 4); output (batch_size, anchors, 6).
absl::Status MultiBoxDetectionShape(ShapeContext& c) {
  COOPER_RETURN_IF_ERROR(CheckVariances(c.param<MultiBoxDetectionParam>().variances));
  COOPER_RETURN_IF_ERROR(SetAnchorShape(c, kAnchor));
  COOPER_RETURN_IF_ERROR(c.SetInput(kClsProb, {kUnknownDim, kUnknownDim, c.input(kAnchor)[1]},
                                    "(batch_size, classes, anchors)"));
  const int64_t anchors = c.input(kClsProb)[2];
  COOPER_RETURN_IF_ERROR(c.SetInput(kAnchor, {1, anchors, 4}, "(1, anchors, 4)"));
  COOPER_RETURN_IF_ERROR(c.SetInput(kLocPred, {c.input(kClsProb)[0], ExtentProduct(anchors, 4)},
                                    "(batch_size, anchors * 4)"));
  return c.SetOutput(0, {c.input(kLocPred)[0], anchors, 6}, "(batch_size, anchors, 6)");
}

COOPER_REGISTER_OP(_contrib_MultiBoxDetection)
    .Describe(
        "The objects of each image, the most probable first: class without the background, "
        "probability, xmin, ymin, xmax, ymax. A class of -1 marks rows that hold none. No "
        "gradient flows through it.")
    .Alias("_npx_multibox_detection")
    .Param<MultiBoxDetectionParam>()
    .Inputs({"cls_prob", "loc_pred", "anchor"})
    .Shape(MultiBoxDetectionShape)
    .Type(SameType);

COOPER_OP_EXAMPLE(_contrib_MultiBoxDetection, {}, {{2, 4, 20}, {2, 80}, {1, 20, 4}});

}  // namespace
}  // namespace cooper
