// GPU kernels of _contrib_box_nms and its gradient.

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/cuda/block_limit.h"
#include "executor/cuda/detection/suppress_in_order.h"
#include "executor/cuda/elements.h"
#include "executor/cuda/launch.h"
#include "executor/elements/nms_extents.h"
#include "executor/elements/nms_rule.h"
#include "executor/kernel.h"
#include "ndarray/status_macros.h"
#include "symbol/ops/detection/box_nms_param.h"

namespace cooper {
namespace {

// Every box in its place, or no box anywhere.
__global__ void FillOrder(int64_t count, int64_t boxes, bool in_place, int32_t* order) {
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) {
    order[i] = in_place ? static_cast<int32_t>(i % boxes) : -1;
  }
}

// Puts the `most` best candidates of each image into its part of `order`.
template <typename T>
__global__ void Rank(int64_t count, NmsExtents e, NmsRule<T> rule, int64_t most, const T* data,
                     int32_t* order) {
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) {
    const T* rows = data + i / e.boxes * e.size();
    const int64_t box = i % e.boxes;
    if (!rule.IsCandidate(rows + box * e.width)) continue;
    const int64_t rank = CountIf(e.boxes, [&](int64_t k) {
      return rule.IsCandidate(rows + k * e.width) && rule.IsBefore(rows, k, box);
    });
    if (rank < most) order[i - box + rank] = static_cast<int32_t>(box);
  }
}

// A block for each image, of whose `order` it looks at the first `most`.
template <typename T>
__global__ void Suppress(NmsExtents e, NmsRule<T> rule, int64_t most, const T* data,
                         int32_t* all_orders) {
  for (int64_t image = blockIdx.x; image < e.images; image += gridDim.x) {
    const T* rows = data + image * e.size();
    int32_t* order = all_orders + image * e.boxes;
    SuppressInOrder(
        most, [&](int64_t i) { return order[i] >= 0; },
        [&](int64_t i, int64_t j) {
          return rule.Suppresses(rows + order[i] * e.width, rows + order[j] * e.width);
        },
        [&](int64_t j) { order[j] = -1; });
  }
}

// Moves the boxes of each image's `order` to the front of its `kept`, which is -1 everywhere.
__global__ void Compact(int64_t count, int64_t boxes, const int32_t* order, int32_t* kept) {
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) {
    if (order[i] < 0) continue;
    const int64_t first = i - i % boxes;
    const int64_t before = CountIf(i - first, [&](int64_t k) { return order[first + k] >= 0; });
    kept[first + before] = order[i];
  }
}

template <typename T>
__global__ void Write(int64_t count, NmsExtents e, NmsRule<T> rule, const T* data,
                      const int32_t* kept, T* out, bool add) {
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) {
    const int32_t box = kept[i / e.width];
    const T* row = data + i / e.size() * e.size() + box * e.width;
    StoreTo(out + i, box < 0 ? T{-1} : rule.Output(row, i % e.width), add);
  }
}

__global__ void CopyRecord(int64_t count, const int32_t* kept, int32_t* record) {
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) record[i] = kept[i];
}

template <typename T>
absl::Status RunForward(const KernelContext& c) {
  using enum BoxNmsArrays::Output;
  constexpr int64_t kMaxBlocks = 65535;
  constexpr int kThreads = 256;
  const auto& param = c.param<BoxNmsParam>();
  const NmsExtents e(c.inputs[0].shape);
  const NmsRule<T> rule(param, e.width);
  const int64_t rows = e.images * e.boxes;
  if (rows == 0) return absl::OkStatus();
  const T* data = c.inputs[0].as<T>();
  auto* order = static_cast<int32_t*>(c.workspace);
  int32_t* kept = order + rows;
  COOPER_RETURN_IF_ERROR(LaunchElements(c, rows, FillOrder, rows, e.boxes, param.topk == 0, kept));
  if (param.topk != 0) {
    const int64_t most = param.topk < 0 ? e.boxes : std::min(e.boxes, param.topk);
    COOPER_RETURN_IF_ERROR(LaunchElements(c, rows, FillOrder, rows, e.boxes, false, order));
    COOPER_RETURN_IF_ERROR(LaunchElements(c, rows, Rank<T>, rows, e, rule, most, data, order));
    COOPER_RETURN_IF_ERROR(Launch(c, dim3(BlocksFor(e.images, kMaxBlocks)), dim3(kThreads),
                                  Suppress<T>, e, rule, most, data, order));
    COOPER_RETURN_IF_ERROR(LaunchElements(c, rows, Compact, rows, e.boxes, order, kept));
  }
  if (c.reqs[kRecord] != WriteReq::kNull) {
    COOPER_RETURN_IF_ERROR(
        LaunchElements(c, rows, CopyRecord, rows, kept, c.outputs[kRecord].as<int32_t>()));
  }
  if (c.reqs[kOutput] == WriteReq::kNull) return absl::OkStatus();
  const int64_t count = rows * e.width;
  return LaunchElements(c, count, Write<T>, count, e, rule, data, kept, c.outputs[kOutput].as<T>(),
                        c.reqs[kOutput] == WriteReq::kAdd);
}

// A box looks for the row that it is.
template <typename T>
__global__ void Backward(int64_t count, NmsExtents e, const T* ograd, const int32_t* record,
                         T* grad, bool add) {
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) {
    const int64_t first = i / e.size() * e.boxes, box = i / e.width - first;
    T sum = 0;
    for (int64_t row = first; row < first + e.boxes; ++row) {
      if (record[row] == box) sum = ograd[row * e.width + i % e.width];
    }
    StoreTo(grad + i, sum, add);
  }
}

template <typename T>
absl::Status RunBackward(const KernelContext& c) {
  using enum BoxNmsGradientArrays::Input;
  const NmsExtents e(c.outputs[0].shape);
  const int64_t count = c.outputs[0].size();
  return LaunchElements(c, count, Backward<T>, count, e, c.inputs[kOgrad].as<T>(),
                        c.inputs[kRecord].as<int32_t>(), c.outputs[0].as<T>(),
                        c.reqs[0] == WriteReq::kAdd);
}

absl::Status BoxNmsGpu(const KernelContext& c) {
  return c.inputs[0].dtype == DType::kFloat64 ? RunForward<double>(c) : RunForward<float>(c);
}

absl::Status BoxNmsBackwardGpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  return c.outputs[0].dtype == DType::kFloat64 ? RunBackward<double>(c) : RunBackward<float>(c);
}

absl::StatusOr<Prepared> PrepareForward(const PrepareContext& c) {
  const NmsExtents e(c.inputs[0].shape);
  COOPER_RETURN_IF_ERROR(e.Check());
  return Prepared{.workspace_bytes =
                      2 * e.images * e.boxes * static_cast<int64_t>(sizeof(int32_t))};
}

COOPER_REGISTER_KERNEL(_contrib_box_nms, DeviceType::kGpu, kFloat32Or64, BoxNmsGpu, PrepareForward);
COOPER_REGISTER_KERNEL(_backward_contrib_box_nms, DeviceType::kGpu, kFloat32Or64,
                       BoxNmsBackwardGpu);

}  // namespace
}  // namespace cooper
