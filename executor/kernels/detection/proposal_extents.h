#ifndef COOPER_EXECUTOR_KERNELS_DETECTION_PROPOSAL_EXTENTS_H_
#define COOPER_EXECUTOR_KERNELS_DETECTION_PROPOSAL_EXTENTS_H_

// The extents that the kernels of _contrib_Proposal and _contrib_MultiProposal refuse, and the
// number of boxes that they suppress, for both devices. Host code.

#include <algorithm>
#include <cstdint>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/shape.h"
#include "symbol/ops/detection/proposal_param.h"

namespace cooper {

// Returns the number of boxes of an image, of `boxes`, that take part in the suppression. These are
// the boxes of the highest scores; a rpn_pre_nms_top_n of 0 or less means all.
inline int64_t NumProposalCandidates(const ProposalParam& param, int64_t boxes) {
  return param.rpn_pre_nms_top_n > 0 ? std::min(param.rpn_pre_nms_top_n, boxes) : boxes;
}

// Returns kInvalidArgument if an image of cls_prob has no boxes, or more than int32 counts.
// `scores` is the shape of cls_prob, (images, 2 * anchors, height, width). A batch without images
// is accepted. Kernels sort the boxes of an image by positions of type int32.
inline absl::Status CheckProposalExtents(const Shape& scores) {
  const int64_t elements = scores.Product(1, 4);
  if (scores[0] == 0 || (elements > 0 && elements <= std::numeric_limits<int32_t>::max())) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("input 'cls_prob' ", scores.ToString(), " has ", elements,
                   " numbers for an image, expected at least one and at most 2^31 - 1"));
}

// Returns kInvalidArgument unless the batch size is 1. _contrib_Proposal takes one image, as in
// MXNet; _contrib_MultiProposal has no such check.
inline absl::Status CheckOneProposalImage(const Shape& scores) {
  if (scores[0] == 1) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("input 'cls_prob' ", scores.ToString(), " has ", scores[0],
                   " images, expected 1; _contrib_MultiProposal takes a batch"));
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_DETECTION_PROPOSAL_EXTENTS_H_
