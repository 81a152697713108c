// Kernels of _contrib_box_nms and its gradient. Images are independent of each other.

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/detection/greedy_suppression.h"
#include "executor/kernels/detection/nms_extents.h"
#include "executor/kernels/detection/nms_rule.h"
#include "executor/kernels/launch/dispatch_float.h"
#include "executor/program/kernel.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/detection/box_nms_param.h"

namespace cooper {
namespace {

// Writes to `order` the candidates of an image, sorted from best to worst, at most `topk` of them.
// Returns how many.
template <typename T>
int64_t Select(const NmsRule<T>& rule, int64_t topk, const T* data, const NmsExtents& e,
               int32_t* order) {
  int64_t count = 0;
  for (int64_t box = 0; box < e.boxes; ++box) {
    if (rule.IsCandidate(data + box * e.width)) order[count++] = static_cast<int32_t>(box);
  }
  const int64_t kept = topk < 0 ? count : std::min(count, topk);
  std::partial_sort(order, order + kept, order + count,
                    [&](int32_t a, int32_t b) { return rule.IsBefore(data, a, b); });
  return kept;
}

template <typename T>
void ForwardImage(const KernelContext& c, const NmsExtents& e, int64_t image) {
  using enum BoxNmsArrays::Output;
  const auto& param = c.param<BoxNmsParam>();
  const NmsRule<T> rule(param, e.width);
  const T* data = c.inputs[0].as<T>() + image * e.size();
  int32_t* order = static_cast<int32_t*>(c.workspace) + image * e.boxes;
  int64_t left = e.boxes;
  if (param.topk == 0) {
    std::iota(order, order + left, 0);
  } else {
    const int64_t count = Select(rule, param.topk, data, e, order);
    SuppressGreedily(
        count, [&](int64_t i) { return order[i] >= 0; },
        [&](int64_t i, int64_t j) {
          return rule.Suppresses(data + order[i] * e.width, data + order[j] * e.width);
        },
        [&](int64_t j) { order[j] = -1; });
    left = std::remove(order, order + count, -1) - order;
  }
  const bool add = c.reqs[kOutput] == WriteReq::kAdd;
  for (int64_t i = 0; i < e.boxes; ++i) {
    const int32_t box = i < left ? order[i] : -1;
    if (c.reqs[kRecord] != WriteReq::kNull) {
      c.outputs[kRecord].as<int32_t>()[image * e.boxes + i] = box;
    }
    if (c.reqs[kOutput] == WriteReq::kNull) continue;
    T* out = c.outputs[kOutput].as<T>() + image * e.size() + i * e.width;
    for (int64_t k = 0; k < e.width; ++k) {
      Store(out + k, box < 0 ? T{-1} : rule.Output(data + box * e.width, k), add);
    }
  }
}

// Copies the gradient of each row of ograd to its box; boxes without a row get 0.
template <typename T>
void BackwardImage(const KernelContext& c, const NmsExtents& e, int64_t image) {
  using enum BoxNmsGradientArrays::Input;
  const T* ograd = c.inputs[kOgrad].as<T>() + image * e.size();
  const int32_t* record = c.inputs[kRecord].as<int32_t>() + image * e.boxes;
  T* grad = c.outputs[0].as<T>() + image * e.size();
  if (c.reqs[0] == WriteReq::kWrite) std::fill_n(grad, e.size(), T{0});
  for (int64_t i = 0; i < e.boxes; ++i) {
    if (record[i] < 0 || record[i] >= e.boxes) continue;
    for (int64_t k = 0; k < e.width; ++k) grad[record[i] * e.width + k] += ograd[i * e.width + k];
  }
}

absl::Status BoxNmsCpu(const KernelContext& c) {
  const NmsExtents e(c.inputs[0].shape);
  return DispatchFloat32Or64(c.inputs[0].dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    ParallelForPlain(e.images, 1, [&](int64_t begin, int64_t end) {
      for (int64_t image = begin; image < end; ++image) ForwardImage<T>(c, e, image);
    });
  });
}

absl::Status BoxNmsBackwardCpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  const NmsExtents e(c.outputs[0].shape);
  return DispatchFloat32Or64(c.outputs[0].dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    ParallelForPlain(e.images, 1, [&](int64_t begin, int64_t end) {
      for (int64_t image = begin; image < end; ++image) BackwardImage<T>(c, e, image);
    });
  });
}

absl::StatusOr<Prepared> PrepareForward(const PrepareContext& c) {
  const NmsExtents e(c.inputs[0].shape);
  COOPER_RETURN_IF_ERROR(e.Check());
  return Prepared{.workspace_bytes = e.images * e.boxes * static_cast<int64_t>(sizeof(int32_t))};
}

COOPER_REGISTER_KERNEL(_contrib_box_nms, DeviceType::kCpu, kFloat32Or64, BoxNmsCpu, PrepareForward);
COOPER_REGISTER_KERNEL(_backward_contrib_box_nms, DeviceType::kCpu, kFloat32Or64,
                       BoxNmsBackwardCpu);

}  // namespace
}  // namespace cooper
