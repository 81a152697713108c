// GPU kernels of _contrib_box_nms and its gradient.

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/detection/nms_extents.h"
#include "executor/kernels/detection/nms_rule.h"
#include "executor/kernels/detection/suppress_in_order.h"
#include "executor/kernels/detection/suppression_bits.h"
#include "executor/kernels/index/radix_sort.h"
#include "executor/kernels/index/sort_key.h"
#include "executor/kernels/launch/block_limit.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"
#include "executor/kernels/loops/strided_copy_cuda.h"
#include "executor/program/kernel.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/detection/box_nms_param.h"

namespace cooper {
namespace {

// Marks every box as kept, at its own position.
__global__ void KeepAll(int64_t count, int64_t boxes, int32_t* kept) {
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) {
    kept[i] = static_cast<int32_t>(i % boxes);
  }
}

// Writes sort keys that rank by score, from high to low.
template <typename T>
__global__ void MakeScoreKeys(int64_t count, NmsExtents e, NmsRule<T> rule, const T* data,
                              uint64_t* keys, int32_t* values) {
  constexpr uint64_t kBits = sizeof(T) == sizeof(double) ? ~uint64_t{0} : 0xffffffff;
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) {
    keys[i] = ~SortKeyOf(rule.Score(data + i * e.width)) & kBits;
    values[i] = static_cast<int32_t>(i);
  }
}

// Writes sort keys that group rows by image, with those that are not candidates last.
template <typename T>
__global__ void MakeImageKeys(int64_t count, NmsExtents e, NmsRule<T> rule, const T* data,
                              uint64_t* keys, const int32_t* values) {
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) {
    const int64_t row = values[i];
    const bool last = !rule.IsCandidate(data + row * e.width);
    keys[i] = static_cast<uint64_t>(row / e.boxes * 2 + (last ? 1 : 0));
  }
}

// Writes to `order` the first `most` candidates of each image, and -1 for the rest.
__global__ void TakeBest(int64_t count, int64_t boxes, int64_t most, const uint64_t* keys,
                         const int32_t* values, int32_t* order) {
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) {
    const bool takes = keys[i] % 2 == 0 && i % boxes < most;
    order[i] = takes ? static_cast<int32_t>(values[i] % boxes) : -1;
  }
}

// Suppresses the boxes of `order` before the first -1, in one block per image.
template <typename T>
__global__ void Suppress(NmsExtents e, NmsRule<T> rule, const T* data, int32_t* all_orders) {
  for (int64_t image = blockIdx.x; image < e.images; image += gridDim.x) {
    const T* rows = data + image * e.size();
    int32_t* order = all_orders + image * e.boxes;
    const int64_t count = CountFirst(e.boxes, [&](int64_t i) { return order[i] >= 0; });
    __syncthreads();  // before boxes are removed
    SuppressInOrder(
        count, [&](int64_t i) { return order[i] >= 0; },
        [&](int64_t i, int64_t j) {
          return rule.Suppresses(rows + order[i] * e.width, rows + order[j] * e.width);
        },
        [&](int64_t j) { order[j] = -1; });
  }
}

// Suppress the boxes of `orders` in two kernels with a bit matrix (suppression_bits.h), for the
// first `bits.boxes` boxes of each image.
template <typename T>
__global__ void FindSuppressed(NmsExtents e, NmsRule<T> rule, const T* data, const int32_t* orders,
                               SuppressionBits bits) {
  for (int64_t item = blockIdx.x; item < bits.tiles(); item += gridDim.x) {
    bits.FindTile(
        item, [&](int64_t image, int64_t i) { return orders[image * e.boxes + i] >= 0; },
        [&](int64_t image, int64_t i, int64_t j) {
          const T* const rows = data + image * e.size();
          const int32_t* const order = orders + image * e.boxes;
          return rule.Suppresses(rows + order[i] * e.width, rows + order[j] * e.width);
        });
  }
}

__global__ void __launch_bounds__(SuppressionBits::kSuppressThreads, 1)
    SuppressByBits(NmsExtents e, int32_t* all_orders, SuppressionBits bits) {
  for (int64_t image = blockIdx.x; image < e.images; image += gridDim.x) {
    int32_t* const order = all_orders + image * e.boxes;
    const int64_t count = CountFirst(bits.boxes, [&](int64_t i) { return order[i] >= 0; });
    __syncthreads();  // before boxes are removed
    bits.Suppress(image, count, [&](int64_t i) { order[i] = -1; });
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

__global__ void Copy(int64_t count, const int32_t* from, int32_t* to) {
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) to[i] = from[i];
}

int64_t MostOf(const BoxNmsParam& param, const NmsExtents& e) {
  return param.topk < 0 ? e.boxes : std::min(e.boxes, param.topk);
}

// Sets the suppressed elements of `order`, which has at most `most` boxes per image, to -1.
// `scratch` has SuppressionBits::Bytes() bytes.
template <typename T>
absl::Status RunSuppress(const KernelContext& c, const NmsExtents& e, const NmsRule<T>& rule,
                         int64_t most, const T* data, int32_t* order, void* scratch) {
  constexpr int64_t kMaxBlocks = 65535;
  constexpr int64_t kMaxTiles = 1 << 20;
  constexpr int kThreads = 256;
  const SuppressionBits bits = {e.images, most, static_cast<uint64_t*>(scratch)};
  const dim3 grid(BlocksFor(e.images, kMaxBlocks));
  if (bits.Bytes() == 0) {
    return Launch(c, grid, dim3(kThreads), Suppress<T>, e, rule, data, order);
  }
  COOPER_RETURN_IF_ERROR(Launch(c, dim3(BlocksFor(bits.tiles(), kMaxTiles)),
                                dim3(SuppressionBits::kFindThreads), FindSuppressed<T>, e, rule,
                                data, order, bits));
  return Launch(c, grid, dim3(SuppressionBits::kSuppressThreads), SuppressByBits, e, order, bits);
}

// Writes to `kept` the remaining boxes of each image, sorted from best to worst, and then -1.
// `order` is scratch with as many elements. `scratch`, for RunSuppress, may share memory with the
// workspace of `sort`.
template <typename T>
absl::Status KeepBest(const KernelContext& c, const NmsExtents& e, const NmsRule<T>& rule,
                      int64_t most, const T* data, PairSort& sort, int32_t* order, void* scratch,
                      int32_t* kept) {
  const int64_t rows = e.images * e.boxes;
  const int image_bits = BitsOf(2 * e.images);
  COOPER_RETURN_IF_ERROR(
      LaunchElements(c, rows, MakeScoreKeys<T>, rows, e, rule, data, sort.keys(), sort.values()));
  COOPER_RETURN_IF_ERROR(sort.Sort(8 * static_cast<int>(sizeof(T))));
  COOPER_RETURN_IF_ERROR(
      LaunchElements(c, rows, MakeImageKeys<T>, rows, e, rule, data, sort.keys(), sort.values()));
  COOPER_RETURN_IF_ERROR(sort.Sort(image_bits));
  COOPER_RETURN_IF_ERROR(
      LaunchElements(c, rows, TakeBest, rows, e.boxes, most, sort.keys(), sort.values(), order));
  COOPER_RETURN_IF_ERROR(RunSuppress(c, e, rule, most, data, order, scratch));
  COOPER_RETURN_IF_ERROR(
      LaunchElements(c, rows, MakeKeptKeys, rows, e.boxes, order, sort.keys(), sort.values()));
  COOPER_RETURN_IF_ERROR(sort.Sort(image_bits));
  return LaunchElements(c, rows, Copy, rows, sort.values(), kept);
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

// Returns the bytes of one int32 per row, rounded up to the alignment that PairSort needs for its
// offset.
int64_t OrderBytes(int64_t rows) {
  return (rows * static_cast<int64_t>(sizeof(int32_t)) + 255) / 256 * 256;
}

template <typename T>
absl::Status RunForward(const KernelContext& c) {
  using enum BoxNmsArrays::Output;
  const auto& param = c.param<BoxNmsParam>();
  const NmsExtents e(c.inputs[0].shape);
  const NmsRule<T> rule(param, e.width);
  const int64_t rows = e.images * e.boxes;
  if (rows == 0) return absl::OkStatus();
  const T* data = c.inputs[0].as<T>();
  auto* kept = static_cast<int32_t*>(c.workspace);
  if (param.topk == 0) {
    COOPER_RETURN_IF_ERROR(LaunchElements(c, rows, KeepAll, rows, e.boxes, kept));
  } else {
    char* const orders = static_cast<char*>(c.workspace);
    PairSort sort(c, rows, /*offset=*/2 * OrderBytes(rows));
    auto* order = reinterpret_cast<int32_t*>(orders + OrderBytes(rows));
    void* const scratch = orders + 2 * OrderBytes(rows);
    COOPER_RETURN_IF_ERROR(
        KeepBest(c, e, rule, MostOf(param, e), data, sort, order, scratch, kept));
  }
  if (c.reqs[kRecord] != WriteReq::kNull) {
    COOPER_RETURN_IF_ERROR(
        LaunchElements(c, rows, Copy, rows, kept, c.outputs[kRecord].as<int32_t>()));
  }
  if (c.reqs[kOutput] == WriteReq::kNull) return absl::OkStatus();
  const int64_t count = rows * e.width;
  return LaunchElements(c, count, Write<T>, count, e, rule, data, kept, c.outputs[kOutput].as<T>(),
                        c.reqs[kOutput] == WriteReq::kAdd);
}

// Copies the gradient of each row to its box; no two rows have the same box.
template <typename T>
__global__ void Backward(int64_t count, NmsExtents e, const T* ograd, const int32_t* record,
                         T* grad) {
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) {
    const int32_t box = record[i / e.width];
    if (box >= 0 && box < e.boxes)
      grad[i / e.size() * e.size() + box * e.width + i % e.width] += ograd[i];
  }
}

template <typename T>
absl::Status RunBackward(const KernelContext& c) {
  using enum BoxNmsGradientArrays::Input;
  const NmsExtents e(c.outputs[0].shape);
  const int64_t count = c.outputs[0].size();
  if (count == 0) return absl::OkStatus();
  COOPER_RETURN_IF_ERROR(CudaMover::Zero(c, c.reqs[0], c.outputs[0]));
  return LaunchElements(c, count, Backward<T>, count, e, c.inputs[kOgrad].as<T>(),
                        c.inputs[kRecord].as<int32_t>(), c.outputs[0].as<T>());
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
  const int64_t rows = e.images * e.boxes;
  COOPER_ASSIGN_OR_RETURN(const int64_t sort, PairSort::WorkspaceBytes(c.context, rows));
  // The sort and the suppression do not run at the same time, so they share memory.
  const SuppressionBits bits = {e.images, MostOf(c.param<BoxNmsParam>(), e)};
  return Prepared{.workspace_bytes = 2 * OrderBytes(rows) + std::max(sort, bits.Bytes())};
}

COOPER_REGISTER_KERNEL(_contrib_box_nms, DeviceType::kGpu, kFloat32Or64, BoxNmsGpu, PrepareForward);
COOPER_REGISTER_KERNEL(_backward_contrib_box_nms, DeviceType::kGpu, kFloat32Or64,
                       BoxNmsBackwardGpu);

}  // namespace
}  // namespace cooper
