// Proposes regions from the outputs of a region proposal network. MXNet:
// src/operator/contrib/proposal.cc, multi_proposal.cc.

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/detection/proposal_param.h"
#include "symbol/schema/extent_product.h"
#include "symbol/schema/op.h"
#include "symbol/schema/op_example.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

using enum ProposalArrays::Input;
using enum ProposalArrays::Output;

// The shape rule of both operators: cls_prob (batch_size, 2 * anchors, height, width), bbox_pred
// (batch_size, 4 * anchors, height, width), im_info (batch_size, 3); outputs (rows, 5) and (rows,
// 1), where `rows` is rpn_post_nms_top_n for each image.
absl::Status SetShapes(ShapeContext& c, int64_t rows) {
  const auto& param = c.param<ProposalParam>();
  const int64_t anchors = param.anchors();
  if (anchors == 0) {
    return absl::InvalidArgumentError("scales and ratios have to have a number each");
  }
  COOPER_RETURN_IF_ERROR(c.SetInput(kClsProb, {kUnknownDim, 2 * anchors, kUnknownDim, kUnknownDim},
                                    "(batch_size, 2 * scales * ratios, height, width)"));
  const PartialShape& scores = c.input(kClsProb);
  COOPER_RETURN_IF_ERROR(c.SetInput(kBboxPred, {scores[0], 4 * anchors, scores[2], scores[3]},
                                    "(batch_size, 4 * scales * ratios, height, width)"));
  const PartialShape& boxes = c.input(kBboxPred);
  COOPER_RETURN_IF_ERROR(c.SetInput(kClsProb, {boxes[0], 2 * anchors, boxes[2], boxes[3]},
                                    "(batch_size, 2 * scales * ratios, height, width)"));
  COOPER_RETURN_IF_ERROR(c.SetInput(kImInfo, {scores[0], 3}, "(batch_size, 3)"));
  COOPER_RETURN_IF_ERROR(c.SetOutput(kOutput, {rows, 5}, "(regions, 5)"));
  return c.SetOutput(kScore, {rows, 1}, "(regions, 1)");
}

absl::Status ProposalShape(ShapeContext& c) {
  return SetShapes(c, c.param<ProposalParam>().rpn_post_nms_top_n);
}

absl::Status MultiProposalShape(ShapeContext& c) {
  const PartialShape& scores = c.input(kClsProb);
  const int64_t images = scores.rank_known() && scores.rank() > 0 ? scores[0] : kUnknownDim;
  return SetShapes(c, ExtentProduct(images, c.param<ProposalParam>().rpn_post_nms_top_n));
}

int VisibleOutputs(const OpCall& call) { return call.param<ProposalParam>().output_score ? 2 : 1; }

COOPER_REGISTER_OP(_contrib_Proposal)
    .Describe(
        "The regions of an image that are most likely to hold an object: sample, x1, y1, x2, y2. "
        "No gradient flows through it.")
    .Param<ProposalParam>()
    .Inputs({"cls_prob", "bbox_pred", "im_info"})
    .Outputs({"output", "score"})
    .VisibleOutputs(VisibleOutputs)
    .Shape(ProposalShape)
    .Type(SameType);

COOPER_REGISTER_OP(_contrib_MultiProposal)
    .Describe(
        "The regions of each image of a batch that are most likely to hold an object: sample, x1, "
        "y1, x2, y2. No gradient flows through it.")
    .Param<ProposalParam>()
    .Inputs({"cls_prob", "bbox_pred", "im_info"})
    .Outputs({"output", "score"})
    .VisibleOutputs(VisibleOutputs)
    .Shape(MultiProposalShape)
    .Type(SameType);

COOPER_OP_EXAMPLE(_contrib_Proposal, {}, {{1, 24, 4, 5}, {1, 48, 4, 5}, {1, 3}});
COOPER_OP_EXAMPLE(_contrib_MultiProposal, {}, {{2, 24, 4, 5}, {2, 48, 4, 5}, {2, 3}});

}  // namespace
}  // namespace cooper
