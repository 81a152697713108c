// Kernels of _contrib_Proposal and _contrib_MultiProposal.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "executor/kernels/detection/proposal_box.h"
#include "executor/kernels/detection/proposal_extents.h"
#include "executor/kernels/launch/row_grain.h"
#include "executor/kernels/loops/elemwise_loop.h"
#include "executor/program/kernel.h"
#include "executor/program/scratch_cursor.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/detection/proposal_param.h"

namespace cooper {
namespace {

using enum ProposalArrays::Input;
using enum ProposalArrays::Output;

// Boxes of an image, the most probable first, and whether each is suppressed. Loops over such
// arrays become vector instructions.
struct Candidates {
  float* corners[4];
  float* area;
  int32_t* suppressed;

  Candidates(int64_t count, ScratchCursor& cursor) {
    for (float*& corner : corners) corner = cursor.Take<float>(count);
    area = cursor.Take<float>(count);
    suppressed = cursor.Take<int32_t>(count);
  }
};

// The workspace: the boxes of all images, the order of those of each image, and its candidates.
struct Scratch {
  ScratchCursor cursor;
  ScoredProposal* boxes;
  int32_t* order;
  std::vector<Candidates> candidates;

  Scratch(void* base, const ProposalParam& param, const ProposalGrid& g)
      : cursor(base),
        boxes(cursor.Take<ScoredProposal>(g.images * g.boxes())),
        order(cursor.Take<int32_t>(g.images * g.boxes())) {
    for (int64_t n = 0; n < g.images; ++n) {
      candidates.emplace_back(NumProposalCandidates(param, g.boxes()), cursor);
    }
  }
};

// Fails if an image covers more positions than the inputs have.
absl::Status CheckImages(const ProposalGrid& g, const float* info) {
  for (int64_t n = 0; n < g.images; ++n, info += 3) {
    if (g.RowsOf(info) <= g.height && g.ColumnsOf(info) <= g.width) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "input 'im_info' says that image ", n, " has ", info[0], " by ", info[1],
        " pixels, expected at most ", static_cast<float>(g.height + 1) * g.stride, " by ",
        static_cast<float>(g.width + 1) * g.stride, " = positions * feature_stride, rounded up"));
  }
  return absl::OkStatus();
}

void DecodeAll(const KernelContext& c, const ProposalGrid& g, ScoredProposal* boxes) {
  const auto& param = c.param<ProposalParam>();
  const float* scores = c.inputs[kClsProb].as<float>();
  const float* deltas = c.inputs[kBboxPred].as<float>();
  const float* info = c.inputs[kImInfo].as<float>();
  const int64_t grain = RowGrain(g.positions(), 2048);
  ParallelForPlain(g.images * g.anchors, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t n = i / g.anchors, a = i % g.anchors;
      const ProposalBox anchor = ProposalAnchor(param, a);
      for (int64_t at = 0; at < g.positions(); ++at) {
        boxes[n * g.boxes() + at * g.anchors + a] = g.Decode(
            scores + n * 2 * g.boxes(), deltas + n * 4 * g.boxes(), info + n * 3, anchor, a, at);
      }
    }
  });
}

// Marks the candidates after i, of `count`, that candidate i suppresses: ProposalOverlap is above
// the threshold.
void SuppressAfter(int64_t i, int64_t count, float threshold, const Candidates& c) {
  const float *x1 = c.corners[0], *y1 = c.corners[1], *x2 = c.corners[2], *y2 = c.corners[3];
  const float* const areas = c.area;
  const ProposalBox box = {x1[i], y1[i], x2[i], y2[i]};
  const float area = areas[i];
  int32_t* const suppressed = c.suppressed;
  COOPER_INDEPENDENT_ITERATIONS
  for (int64_t j = i + 1; j < count; ++j) {
    const ProposalBox other = {x1[j], y1[j], x2[j], y2[j]};
    suppressed[j] |= ProposalOverlap(box, area, other, areas[j]) > threshold ? 1 : 0;
  }
}

// Writes to `order` the remaining boxes of an image, the most probable first. Returns how many.
int64_t Suppress(const ProposalParam& param, const ProposalGrid& g, const ScoredProposal* boxes,
                 const Candidates& candidates, int32_t* order) {
  const auto rank = [&](int32_t i) {  // NaN is the least score
    return std::isnan(boxes[i].score) ? -std::numeric_limits<float>::infinity() : boxes[i].score;
  };
  const auto is_before = [&](int32_t a, int32_t b) {
    return rank(a) > rank(b) || (rank(a) == rank(b) && a < b);
  };
  const int64_t most = NumProposalCandidates(param, g.boxes());
  std::iota(order, order + g.boxes(), 0);
  std::nth_element(order, order + most, order + g.boxes(), is_before);
  std::sort(order, order + most, is_before);
  for (int64_t i = 0; i < most; ++i) {
    const ProposalBox& box = boxes[order[i]].box;
    for (int k = 0; k < 4; ++k) candidates.corners[k][i] = box.corner[k];
    candidates.area[i] = box.Area();
    candidates.suppressed[i] = 0;
  }
  int64_t left = 0;
  for (int64_t i = 0; i < most; ++i) {
    if (candidates.suppressed[i] != 0) continue;
    order[left++] = order[i];
    if (left == param.rpn_post_nms_top_n) break;
    SuppressAfter(i, most, param.threshold, candidates);
  }
  return left;
}

void Write(const KernelContext& c, int64_t image, const ScoredProposal* boxes, const int32_t* order,
           int64_t left) {
  const int64_t rows = c.param<ProposalParam>().rpn_post_nms_top_n;
  const bool writes = c.reqs[kOutput] != WriteReq::kNull;
  const bool writes_score = c.reqs[kScore] != WriteReq::kNull;
  for (int64_t i = 0; i < rows; ++i) {
    const ScoredProposal& from = boxes[order[i % left]];
    if (writes) {
      float* row = c.outputs[kOutput].as<float>() + (image * rows + i) * 5;
      const bool add = c.reqs[kOutput] == WriteReq::kAdd;
      row[0] = static_cast<float>(image) + (add ? row[0] : 0);
      for (int k = 0; k < 4; ++k) row[1 + k] = from.box.corner[k] + (add ? row[1 + k] : 0);
    }
    if (writes_score) {
      float* score = c.outputs[kScore].as<float>() + image * rows + i;
      *score = from.score + (c.reqs[kScore] == WriteReq::kAdd ? *score : 0);
    }
  }
}

absl::Status ProposalCpu(const KernelContext& c) {
  const auto& param = c.param<ProposalParam>();
  const ProposalGrid g(param, c.inputs[kClsProb].shape);
  COOPER_RETURN_IF_ERROR(CheckImages(g, c.inputs[kImInfo].as<float>()));
  const Scratch scratch(c.workspace, param, g);
  DecodeAll(c, g, scratch.boxes);
  ParallelForPlain(g.images, 1, [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) {
      const ScoredProposal* boxes = scratch.boxes + n * g.boxes();
      int32_t* order = scratch.order + n * g.boxes();
      Write(c, n, boxes, order, Suppress(param, g, boxes, scratch.candidates[n], order));
    }
  });
  return absl::OkStatus();
}

absl::StatusOr<Prepared> PrepareMultiProposal(const PrepareContext& c) {
  const Shape& scores = c.inputs[kClsProb].shape;
  COOPER_RETURN_IF_ERROR(CheckProposalExtents(scores));
  const auto& param = c.param<ProposalParam>();
  const Scratch scratch(nullptr, param, ProposalGrid(param, scores));
  return Prepared{.workspace_bytes = scratch.cursor.bytes()};
}

absl::StatusOr<Prepared> PrepareProposal(const PrepareContext& c) {
  COOPER_RETURN_IF_ERROR(CheckOneProposalImage(c.inputs[kClsProb].shape));
  return PrepareMultiProposal(c);
}

COOPER_REGISTER_KERNEL(_contrib_Proposal, DeviceType::kCpu, kFloat32Only, ProposalCpu,
                       PrepareProposal);
COOPER_REGISTER_KERNEL(_contrib_MultiProposal, DeviceType::kCpu, kFloat32Only, ProposalCpu,
                       PrepareMultiProposal);

}  // namespace
}  // namespace cooper
