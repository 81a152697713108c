// GPU kernels of _contrib_Proposal and _contrib_MultiProposal. The order of boxes is found by
// sorting all images at once, as in box_nms.cu.

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/detection/proposal_box.h"
#include "executor/kernels/detection/proposal_extents.h"
#include "executor/kernels/detection/suppress_in_order.h"
#include "executor/kernels/detection/suppression_bits.h"
#include "executor/kernels/index/radix_sort.h"
#include "executor/kernels/index/sort_key.h"
#include "executor/kernels/launch/block_limit.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"
#include "executor/program/kernel.h"
#include "executor/program/scratch_cursor.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/detection/proposal_param.h"

namespace cooper {
namespace {

using enum ProposalArrays::Input;
using enum ProposalArrays::Output;

// Computes the boxes of anchor `a` of all images: `count` = images * positions.
__global__ void Decode(int64_t count, ProposalGrid g, ProposalBox anchor, int64_t a,
                       const float* scores, const float* deltas, const float* info,
                       ScoredProposal* boxes) {
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) {
    const int64_t n = i / g.positions(), at = i - n * g.positions();
    boxes[n * g.boxes() + at * g.anchors + a] = g.Decode(
        scores + n * 2 * g.boxes(), deltas + n * 4 * g.boxes(), info + n * 3, anchor, a, at);
  }
}

// Writes sort keys that rank by score, from high to low, with NaN last.
__global__ void MakeScoreKeys(int64_t count, const ScoredProposal* boxes, uint64_t* keys,
                              int32_t* values) {
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) {
    const float score = boxes[i].score;
    keys[i] = score != score ? 0xffffffff : ~SortKeyOf(score) & 0xffffffff;
    values[i] = static_cast<int32_t>(i);
  }
}

// Writes sort keys that group by image.
__global__ void MakeImageKeys(int64_t count, int64_t boxes, uint64_t* keys, const int32_t* values) {
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) keys[i] = values[i] / boxes;
}

// Writes to `order` the first `most` boxes of each image, and -1 for the rest.
__global__ void TakeBest(int64_t count, int64_t boxes, int64_t most, const int32_t* values,
                         int32_t* order) {
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) {
    order[i] = i % boxes < most ? static_cast<int32_t>(values[i] % boxes) : -1;
  }
}

// Returns whether a box suppresses a box after it.
__device__ bool Suppresses(const ProposalBox& a, const ProposalBox& b, float threshold) {
  return ProposalOverlap(a, a.Area(), b, b.Area()) > threshold;
}

// Suppresses the first `most` boxes of `orders` in one block per image.
__global__ void Suppress(ProposalGrid g, float threshold, int64_t most, const ScoredProposal* boxes,
                         int32_t* orders) {
  for (int64_t image = blockIdx.x; image < g.images; image += gridDim.x) {
    const ScoredProposal* of_image = boxes + image * g.boxes();
    int32_t* order = orders + image * g.boxes();
    SuppressInOrder(
        most, [&](int64_t i) { return order[i] >= 0; },
        [&](int64_t i, int64_t j) {
          return Suppresses(of_image[order[i]].box, of_image[order[j]].box, threshold);
        },
        [&](int64_t j) { order[j] = -1; });
  }
}

// Suppress the first `bits.boxes` boxes of `orders` in two kernels with a bit matrix
// (suppression_bits.h).
__global__ void FindSuppressed(ProposalGrid g, float threshold, const ScoredProposal* boxes,
                               const int32_t* orders, SuppressionBits bits) {
  for (int64_t item = blockIdx.x; item < bits.tiles(); item += gridDim.x) {
    bits.FindTile(
        item, [&](int64_t image, int64_t i) { return orders[image * g.boxes() + i] >= 0; },
        [&](int64_t image, int64_t i, int64_t j) {
          const ScoredProposal* const of_image = boxes + image * g.boxes();
          const int32_t* const order = orders + image * g.boxes();
          return Suppresses(of_image[order[i]].box, of_image[order[j]].box, threshold);
        });
  }
}

__global__ void __launch_bounds__(SuppressionBits::kSuppressThreads, 1)
    SuppressByBits(ProposalGrid g, int32_t* orders, SuppressionBits bits) {
  for (int64_t image = blockIdx.x; image < g.images; image += gridDim.x) {
    int32_t* const order = orders + image * g.boxes();
    bits.Suppress(image, bits.boxes, [&](int64_t i) { order[i] = -1; });
  }
}

// Writes sort keys that group by image, with removed boxes last.
__global__ void MakeKeptKeys(int64_t count, int64_t boxes, const int32_t* order, uint64_t* keys,
                             int32_t* values) {
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) {
    keys[i] = static_cast<uint64_t>(i / boxes * 2 + (order[i] < 0 ? 1 : 0));
    values[i] = order[i];
  }
}

// Writes row i of the regions, and its score; either array may be null. `kept` has the remaining
// boxes of each image, and then -1.
__global__ void Write(int64_t count, ProposalGrid g, int64_t rows, const ScoredProposal* boxes,
                      const int32_t* kept, float* out, bool add, float* scores, bool add_score) {
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) {
    const int64_t image = i / rows;
    const int32_t* order = kept + image * g.boxes();
    const int64_t left = CountFirst(g.boxes(), [&](int64_t k) { return order[k] >= 0; });
    const int64_t at = i % rows % (left < rows ? left : rows);
    const ScoredProposal& from = boxes[image * g.boxes() + order[at]];
    if (out != nullptr) {
      StoreTo(out + i * 5, static_cast<float>(image), add);
      for (int k = 0; k < 4; ++k) StoreTo(out + i * 5 + 1 + k, from.box.corner[k], add);
    }
    if (scores != nullptr) StoreTo(scores + i, from.score, add_score);
  }
}

// The workspace: boxes, their order, and memory for sorting or suppression, which do not run at the
// same time.
struct Scratch {
  ScratchCursor cursor;
  ScoredProposal* boxes;
  int32_t* order;
  int64_t sort_offset;

  Scratch(void* base, const ProposalGrid& g)
      : cursor(base),
        boxes(cursor.Take<ScoredProposal>(g.images * g.boxes())),
        order(cursor.Take<int32_t>(g.images * g.boxes())),
        sort_offset((cursor.bytes() + 255) / 256 * 256) {}
};

// Sets the suppressed elements of the first `most` of each image's `order` to -1.
absl::Status RunSuppress(const KernelContext& c, const ProposalGrid& g, int64_t most,
                         const Scratch& scratch) {
  constexpr int64_t kMaxBlocks = 65535;
  constexpr int64_t kMaxTiles = 1 << 20;
  constexpr int kThreads = 256;
  const float threshold = c.param<ProposalParam>().threshold;
  void* const memory = static_cast<char*>(c.workspace) + scratch.sort_offset;
  const SuppressionBits bits = {g.images, most, static_cast<uint64_t*>(memory)};
  const dim3 grid(BlocksFor(g.images, kMaxBlocks));
  if (bits.Bytes() == 0) {
    return Launch(c, grid, dim3(kThreads), Suppress, g, threshold, most, scratch.boxes,
                  scratch.order);
  }
  COOPER_RETURN_IF_ERROR(Launch(c, dim3(BlocksFor(bits.tiles(), kMaxTiles)),
                                dim3(SuppressionBits::kFindThreads), FindSuppressed, g, threshold,
                                scratch.boxes, scratch.order, bits));
  return Launch(c, grid, dim3(SuppressionBits::kSuppressThreads), SuppressByBits, g, scratch.order,
                bits);
}

absl::Status ProposalGpu(const KernelContext& c) {
  const auto& param = c.param<ProposalParam>();
  const ProposalGrid g(param, c.inputs[kClsProb].shape);
  if (g.images == 0) return absl::OkStatus();
  const Scratch scratch(c.workspace, g);
  const int64_t all = g.images * g.boxes(), most = NumProposalCandidates(param, g.boxes());
  for (int64_t a = 0; a < g.anchors; ++a) {
    const int64_t count = g.images * g.positions();
    COOPER_RETURN_IF_ERROR(LaunchElements(c, count, Decode, count, g, ProposalAnchor(param, a), a,
                                          c.inputs[kClsProb].as<const float>(),
                                          c.inputs[kBboxPred].as<const float>(),
                                          c.inputs[kImInfo].as<const float>(), scratch.boxes));
  }
  PairSort sort(c, all, scratch.sort_offset);
  COOPER_RETURN_IF_ERROR(
      LaunchElements(c, all, MakeScoreKeys, all, scratch.boxes, sort.keys(), sort.values()));
  COOPER_RETURN_IF_ERROR(sort.Sort(32));
  COOPER_RETURN_IF_ERROR(
      LaunchElements(c, all, MakeImageKeys, all, g.boxes(), sort.keys(), sort.values()));
  COOPER_RETURN_IF_ERROR(sort.Sort(BitsOf(g.images)));
  COOPER_RETURN_IF_ERROR(
      LaunchElements(c, all, TakeBest, all, g.boxes(), most, sort.values(), scratch.order));
  COOPER_RETURN_IF_ERROR(RunSuppress(c, g, most, scratch));
  COOPER_RETURN_IF_ERROR(LaunchElements(c, all, MakeKeptKeys, all, g.boxes(), scratch.order,
                                        sort.keys(), sort.values()));
  COOPER_RETURN_IF_ERROR(sort.Sort(BitsOf(2 * g.images)));
  const int64_t rows = param.rpn_post_nms_top_n, count = g.images * rows;
  return LaunchElements(c, count, Write, count, g, rows, scratch.boxes, sort.values(),
                        OutputOrNull<float>(c, kOutput), c.reqs[kOutput] == WriteReq::kAdd,
                        OutputOrNull<float>(c, kScore), c.reqs[kScore] == WriteReq::kAdd);
}

absl::StatusOr<Prepared> PrepareMultiProposal(const PrepareContext& c) {
  const auto& param = c.param<ProposalParam>();
  const Shape& scores = c.inputs[kClsProb].shape;
  COOPER_RETURN_IF_ERROR(CheckProposalExtents(scores));
  const ProposalGrid g(param, scores);
  const Scratch scratch(nullptr, g);
  COOPER_ASSIGN_OR_RETURN(const int64_t sort,
                          PairSort::WorkspaceBytes(c.context, g.images * g.boxes()));
  const SuppressionBits bits = {g.images, NumProposalCandidates(param, g.boxes())};
  return Prepared{.workspace_bytes = scratch.sort_offset + std::max(sort, bits.Bytes())};
}

absl::StatusOr<Prepared> PrepareProposal(const PrepareContext& c) {
  COOPER_RETURN_IF_ERROR(CheckOneProposalImage(c.inputs[kClsProb].shape));
  return PrepareMultiProposal(c);
}

COOPER_REGISTER_KERNEL(_contrib_Proposal, DeviceType::kGpu, kFloat32Only, ProposalGpu,
                       PrepareProposal);
COOPER_REGISTER_KERNEL(_contrib_MultiProposal, DeviceType::kGpu, kFloat32Only, ProposalGpu,
                       PrepareMultiProposal);

}  // namespace
}  // namespace cooper
