// Computes SSD's training targets for each anchor. MXNet: src/operator/contrib/multibox_target.cc.

#include <cstdint>
#include <vector>

#include "ndarray/base/status_macros.h"
#include "symbol/ops/detection/anchor_shapes.h"
#include "symbol/ops/detection/multi_box_target_param.h"
#include "symbol/schema/extent_product.h"
#include "symbol/schema/op.h"
#include "symbol/schema/op_example.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

using enum MultiBoxTargetArrays::Input;
using enum MultiBoxTargetArrays::Output;

// A row of labels is class, xmin, ymin, xmax, ymax and any further numbers.
constexpr int64_t kMinLabelWidth = 5;

// Shape rule: anchor (1, anchors, 4), label (batch_size, labels, label_width), cls_pred
// (batch_size, classes, anchors); loc_target and loc_mask (batch_size, anchors * 4), cls_target
// (batch_size, anchors).
absl::Status MultiBoxTargetShape(ShapeContext& c) {
  const auto& param = c.param<MultiBoxTargetParam>();
  COOPER_RETURN_IF_ERROR(CheckVariances(param.variances));
  if (param.negative_mining_ratio > 0 && !(param.negative_mining_thresh > 0)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "negative_mining_thresh is ", param.negative_mining_thresh, ", expected a number above 0"));
  }
  COOPER_RETURN_IF_ERROR(SetAnchorShape(c, kAnchor));
  COOPER_RETURN_IF_ERROR(
      c.SetInput(kLabel, PartialShape::OfRank(3), "(batch_size, labels, label_width)"));
  COOPER_RETURN_IF_ERROR(c.SetInput(kClsPred,
                                    {c.input(kLabel)[0], kUnknownDim, c.input(kAnchor)[1]},
                                    "(batch_size, classes, anchors)"));
  const int64_t batch_size = c.input(kClsPred)[0], anchors = c.input(kClsPred)[2];
  const int64_t label_width = c.input(kLabel)[2];
  if (label_width != kUnknownDim && label_width < kMinLabelWidth) {
    return absl::InvalidArgumentError(absl::StrCat(
        "input 'label' ", c.input(kLabel).ToString(), " has rows of ", label_width,
        " numbers, expected at least ", kMinLabelWidth, ": class, xmin, ymin, xmax, ymax"));
  }
  if (c.input(kClsPred)[1] == 0) {
    return absl::InvalidArgumentError("input 'cls_pred' has no classes, expected the background");
  }
  COOPER_RETURN_IF_ERROR(c.SetInput(kAnchor, {1, anchors, 4}, "(1, anchors, 4)"));
  COOPER_RETURN_IF_ERROR(c.SetInput(kLabel, {batch_size, kUnknownDim, kUnknownDim}));
  for (int i : {kLocTarget, kLocMask}) {
    COOPER_RETURN_IF_ERROR(
        c.SetOutput(i, {batch_size, ExtentProduct(anchors, 4)}, "(batch_size, anchors * 4)"));
  }
  return c.SetOutput(kClsTarget, {batch_size, anchors}, "(batch_size, anchors)");
}

COOPER_REGISTER_OP(_contrib_MultiBoxTarget)
    .Describe(
        "Matches anchors with the objects of each image: where the object is, seen from the "
        "anchor (loc_target), whether there is one (loc_mask), and its class + 1, 0 for "
        "background (cls_target). Labels of an image end with a class of -1; one without any "
        "has ignore_label everywhere. No gradient flows through it.")
    .Alias("_npx_multibox_target")
    .Param<MultiBoxTargetParam>()
    .Inputs({"anchor", "label", "cls_pred"})
    .Outputs({"loc_target", "loc_mask", "cls_target"})
    .Shape(MultiBoxTargetShape)
    .Type(SameType);

COOPER_OP_EXAMPLE(_contrib_MultiBoxTarget, {}, {{1, 20, 4}, {2, 3, 5}, {2, 4, 20}});

}  // namespace
}  // namespace cooper
