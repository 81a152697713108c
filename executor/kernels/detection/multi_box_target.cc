// Kernel of _contrib_MultiBoxTarget. Threads share the images.

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/detection/anchor_matcher.h"
#include "executor/kernels/detection/target_extents.h"
#include "executor/kernels/launch/dispatch_float.h"
#include "executor/program/kernel.h"
#include "executor/program/scratch_cursor.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/detection/multi_box_target_param.h"

namespace cooper {
namespace {

// The Team of an AnchorMatcher that has one thread.
struct OneThread {
  template <typename Fn>
  void ForEach(int64_t n, const Fn& fn) const {
    for (int64_t i = 0; i < n; ++i) fn(i);
  }
  template <typename Fn>
  void Once(const Fn& fn) const {
    fn();
  }
  template <typename Fn>
  int64_t Count(int64_t n, const Fn& is_one) const {
    int64_t count = 0;
    for (int64_t i = 0; i < n; ++i) count += is_one(i) ? 1 : 0;
    return count;
  }
  template <typename Fn>
  GreatestValue Greatest(int64_t n, float least, const Fn& value) const {
    GreatestValue best = {least, -1};
    for (int64_t i = 0; i < n; ++i) {
      const float of_i = value(i);
      if (of_i > best.value) best = {of_i, i};
    }
    return best;
  }
  template <typename Fn>
  void ForSmallest(const float* values, int64_t n, int64_t count, int64_t* order,
                   const Fn& fn) const {
    int64_t* end = order;
    for (int64_t i = 0; i < n; ++i) {
      if (values[i] < MatchScratch::kNoCandidate) *end++ = i;
    }
    std::nth_element(order, order + count, end, [&](int64_t a, int64_t b) {
      return values[a] < values[b] || (values[a] == values[b] && a < b);
    });
    for (int64_t i = 0; i < count; ++i) fn(order[i]);
  }
};

template <typename T>
void RunImage(const KernelContext& c, const TargetExtents& e, int64_t image) {
  using enum MultiBoxTargetArrays::Input;
  using enum MultiBoxTargetArrays::Output;
  ScratchCursor cursor(static_cast<char*>(c.workspace) + image * e.ScratchBytes());
  const MatchScratch scratch(e.anchors, e.labels, cursor);
  AnchorMatcher<T, OneThread> matcher(MatchRule(c.param<MultiBoxTargetParam>()),
                                      c.inputs[kAnchor].as<T>(), e.anchors,
                                      c.inputs[kLabel].as<T>() + image * e.labels * e.label_width,
                                      e.labels, e.label_width, scratch, OneThread());
  matcher.Match(c.inputs[kClsPred].as<T>() + image * e.classes * e.anchors, e.classes);
  const auto put = [&](int output, int64_t i, float value) {
    if (c.reqs[output] == WriteReq::kNull) return;
    Store(c.outputs[output].as<T>() + i, static_cast<T>(value), c.reqs[output] == WriteReq::kAdd);
  };
  for (int64_t j = 0; j < e.anchors; ++j) {
    const AnchorTarget target = matcher.Target(j);
    const int64_t at = image * e.anchors + j;
    for (int k = 0; k < 4; ++k) {
      put(kLocTarget, at * 4 + k, target.code[k]);
      put(kLocMask, at * 4 + k, target.mask);
    }
    put(kClsTarget, at, target.label);
  }
}

absl::Status MultiBoxTargetCpu(const KernelContext& c) {
  const TargetExtents e(c.inputs);
  return DispatchFloat32Or64(c.inputs[0].dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    ParallelForPlain(e.images, 1, [&](int64_t begin, int64_t end) {
      for (int64_t image = begin; image < end; ++image) RunImage<T>(c, e, image);
    });
  });
}

absl::StatusOr<Prepared> PrepareTarget(const PrepareContext& c) {
  const TargetExtents e(c.inputs);
  return Prepared{.workspace_bytes = e.images * e.ScratchBytes()};
}

COOPER_REGISTER_KERNEL(_contrib_MultiBoxTarget, DeviceType::kCpu, kFloat32Or64, MultiBoxTargetCpu,
                       PrepareTarget);

}  // namespace
}  // namespace cooper
