// GPU kernel of _contrib_MultiBoxTarget: one block per image.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/detection/anchor_matcher.h"
#include "executor/kernels/detection/target_extents.h"
#include "executor/kernels/launch/block_limit.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"
#include "executor/program/kernel.h"
#include "executor/program/scratch_cursor.h"
#include "symbol/ops/detection/multi_box_target_param.h"

namespace cooper {
namespace {

constexpr int kThreads = 256;

// The Team of an AnchorMatcher whose threads are those of a block.
struct BlockTeam {
  GreatestValue* shared;  // kThreads elements

  template <typename Fn>
  __device__ void ForEach(int64_t n, const Fn& fn) const {
    for (int64_t i = threadIdx.x; i < n; i += kThreads) fn(i);
    __syncthreads();
  }
  template <typename Fn>
  __device__ void Once(const Fn& fn) const {
    __syncthreads();  // until all threads have read what fn changes
    if (threadIdx.x == 0) fn();
    __syncthreads();
  }
  template <typename Fn>
  __device__ int64_t Count(int64_t n, const Fn& is_one) const {
    int64_t own = 0;
    for (int64_t i = threadIdx.x; i < n; i += kThreads) own += is_one(i) ? 1 : 0;
    shared[threadIdx.x].index = own;
    __syncthreads();
    int64_t count = 0;
    for (int i = 0; i < kThreads; ++i) count += shared[i].index;
    __syncthreads();  // until all threads have read `shared`
    return count;
  }
  template <typename Fn>
  __device__ GreatestValue Greatest(int64_t n, float least, const Fn& value) const {
    GreatestValue best = {least, -1};
    for (int64_t i = threadIdx.x; i < n; i += kThreads) {
      const float of_i = value(i);
      if (of_i > best.value) best = {of_i, i};
    }
    shared[threadIdx.x] = best;
    __syncthreads();
    for (unsigned half = kThreads / 2; half > 0; half /= 2) {
      if (threadIdx.x < half && shared[threadIdx.x] < shared[threadIdx.x + half]) {
        shared[threadIdx.x] = shared[threadIdx.x + half];
      }
      __syncthreads();
    }
    const GreatestValue greatest = shared[0];
    __syncthreads();  // until all threads have read `shared`
    return greatest;
  }
  template <typename Fn>
  __device__ void ForSmallest(const float* values, int64_t n, int64_t count, int64_t*,
                              const Fn& fn) const {
    ForEach(n, [&](int64_t i) {
      const float of_i = values[i];
      if (!(of_i < MatchScratch::kNoCandidate)) return;
      int64_t less = 0;
      for (int64_t k = 0; k < n && less < count; ++k) {
        less += values[k] < of_i || (values[k] == of_i && k < i) ? 1 : 0;
      }
      if (less < count) fn(i);
    });
  }
};

template <typename T>
struct Inputs {
  const T *anchor, *label, *cls_pred;
};

// An output; `data` is null if it is not requested.
template <typename T>
struct Target {
  T* data;
  bool add;

  Target(const KernelContext& c, int output)
      : data(c.reqs[output] == WriteReq::kNull ? nullptr : c.outputs[output].as<T>()),
        add(c.reqs[output] == WriteReq::kAdd) {}

  __device__ void Put(int64_t i, float value) const {
    if (data != nullptr) StoreTo(data + i, static_cast<T>(value), add);
  }
};

template <typename T>
__global__ void __launch_bounds__(kThreads, 1)
    MatchImages(TargetExtents e, MatchRule rule, Inputs<T> in, Target<T> loc_target,
                Target<T> loc_mask, Target<T> cls_target, char* workspace, int64_t scratch_bytes) {
  __shared__ GreatestValue shared[kThreads];
  for (int64_t image = blockIdx.x; image < e.images; image += gridDim.x) {
    ScratchCursor cursor(workspace + image * scratch_bytes);
    const MatchScratch scratch(e.anchors, e.labels, cursor);
    AnchorMatcher<T, BlockTeam> matcher(rule, in.anchor, e.anchors,
                                        in.label + image * e.labels * e.label_width, e.labels,
                                        e.label_width, scratch, BlockTeam{shared});
    matcher.Match(in.cls_pred + image * e.classes * e.anchors, e.classes);
    for (int64_t j = threadIdx.x; j < e.anchors; j += kThreads) {
      const AnchorTarget target = matcher.Target(j);
      const int64_t at = image * e.anchors + j;
      for (int k = 0; k < 4; ++k) {
        loc_target.Put(at * 4 + k, target.code[k]);
        loc_mask.Put(at * 4 + k, target.mask);
      }
      cls_target.Put(at, target.label);
    }
  }
}

template <typename T>
absl::Status Run(const KernelContext& c) {
  using enum MultiBoxTargetArrays::Input;
  using enum MultiBoxTargetArrays::Output;
  constexpr int64_t kMaxBlocks = 65535;
  const TargetExtents e(c.inputs);
  if (e.images == 0 || e.anchors == 0) return absl::OkStatus();
  return Launch(
      c, dim3(BlocksFor(e.images, kMaxBlocks)), dim3(kThreads), MatchImages<T>, e,
      MatchRule(c.param<MultiBoxTargetParam>()),
      Inputs<T>{c.inputs[kAnchor].as<T>(), c.inputs[kLabel].as<T>(), c.inputs[kClsPred].as<T>()},
      Target<T>(c, kLocTarget), Target<T>(c, kLocMask), Target<T>(c, kClsTarget),
      static_cast<char*>(c.workspace), e.ScratchBytes());
}

absl::Status MultiBoxTargetGpu(const KernelContext& c) {
  return c.inputs[0].dtype == DType::kFloat64 ? Run<double>(c) : Run<float>(c);
}

absl::StatusOr<Prepared> PrepareTarget(const PrepareContext& c) {
  const TargetExtents e(c.inputs);
  return Prepared{.workspace_bytes = e.images * e.ScratchBytes()};
}

COOPER_REGISTER_KERNEL(_contrib_MultiBoxTarget, DeviceType::kGpu, kFloat32Or64, MultiBoxTargetGpu,
                       PrepareTarget);

}  // namespace
}  // namespace cooper
