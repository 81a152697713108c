// GPU kernel of _contrib_MultiBoxDetection.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/detection/ssd_detection.h"
#include "executor/kernels/detection/suppress_in_order.h"
#include "executor/kernels/launch/block_limit.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"
#include "executor/program/kernel.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/detection/multi_box_detection_param.h"

namespace cooper {
namespace {

using enum MultiBoxDetectionArrays::Input;

// Computes the detection of each anchor, and fills `cleared` with None().
template <typename T>
__global__ void Detect(DetectionExtents e, DetectionRule rule, const T* cls_prob, const T* loc_pred,
                       const T* anchors, Detection<T>* rows, Detection<T>* cleared) {
  for (int64_t i = FirstElement(); i < e.rows(); i += ElementStep()) {
    const int64_t image = i / e.anchors, anchor = i % e.anchors;
    rows[i] = rule.Detect(cls_prob + image * e.classes * e.anchors + anchor, e.classes, e.anchors,
                          loc_pred + i * 4, anchors + anchor * 4);
    cleared[i] = Detection<T>::None();
  }
}

// Moves the objects of each image to the front of the image's part of `found`.
template <typename T>
__global__ void Compact(DetectionExtents e, const Detection<T>* rows, Detection<T>* found) {
  for (int64_t i = FirstElement(); i < e.rows(); i += ElementStep()) {
    if (!rows[i].is_object()) continue;
    const int64_t first = i - i % e.anchors;
    found[first + CountIf(i - first, [&](int64_t k) { return rows[first + k].is_object(); })] =
        rows[i];
  }
}

// Sorts the `topk` most probable objects of each image to its front. The positions after them get
// the row of `found` at the same position, without its class.
template <typename T>
__global__ void Rank(DetectionExtents e, int64_t topk, const Detection<T>* found,
                     Detection<T>* sorted) {
  for (int64_t i = FirstElement(); i < e.rows(); i += ElementStep()) {
    const int64_t at = i % e.anchors, first = i - at;
    const Detection<T>* rows = found + first;
    if (at >= topk || !rows[at].is_object()) {
      sorted[i] = rows[at];
      sorted[i].id = -1;
    }
    if (!rows[at].is_object()) continue;
    const int64_t rank = CountIf(
        e.anchors, [&](int64_t k) { return rows[k].is_object() && IsMoreProbable(rows, k, at); });
    if (rank < topk) sorted[first + rank] = rows[at];
  }
}

// Suppresses the detections of each image, in one block per image.
template <typename T>
__global__ void Suppress(DetectionExtents e, DetectionRule rule, int64_t topk,
                         Detection<T>* sorted) {
  for (int64_t image = blockIdx.x; image < e.images; image += gridDim.x) {
    Detection<T>* rows = sorted + image * e.anchors;
    SuppressInOrder(
        topk, [&](int64_t i) { return rows[i].is_object(); },
        [&](int64_t i, int64_t j) { return rule.Suppresses(rows[i], rows[j]); },
        [&](int64_t j) { rows[j].id = -1; });
  }
}

template <typename T>
__global__ void Write(int64_t count, const Detection<T>* rows, T* out, bool add) {
  constexpr int kNumbers = Detection<T>::kNumbers;
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) {
    StoreTo(out + i, rows[i / kNumbers].number(static_cast<int>(i % kNumbers)), add);
  }
}

template <typename T>
absl::Status Run(const KernelContext& c) {
  constexpr int64_t kMaxBlocks = 65535;
  constexpr int kThreads = 256;
  const DetectionRule rule(c.param<MultiBoxDetectionParam>());
  const DetectionExtents e(c.inputs[kClsProb].shape);
  const int64_t rows = e.rows();
  if (rows == 0) return absl::OkStatus();
  auto* first = static_cast<Detection<T>*>(c.workspace);
  Detection<T>* second = first + rows;
  COOPER_RETURN_IF_ERROR(LaunchElements(c, rows, Detect<T>, e, rule, c.inputs[kClsProb].as<T>(),
                                        c.inputs[kLocPred].as<T>(), c.inputs[kAnchor].as<T>(),
                                        first, second));
  COOPER_RETURN_IF_ERROR(LaunchElements(c, rows, Compact<T>, e, first, second));
  const Detection<T>* result = second;
  if (rule.suppresses()) {
    const int64_t topk = rule.topk < 0 || rule.topk > e.anchors ? e.anchors : rule.topk;
    COOPER_RETURN_IF_ERROR(LaunchElements(c, rows, Rank<T>, e, topk, second, first));
    COOPER_RETURN_IF_ERROR(Launch(c, dim3(BlocksFor(e.images, kMaxBlocks)), dim3(kThreads),
                                  Suppress<T>, e, rule, topk, first));
    result = first;
  }
  const int64_t count = c.outputs[0].size();
  return LaunchElements(c, count, Write<T>, count, result, c.outputs[0].as<T>(),
                        c.reqs[0] == WriteReq::kAdd);
}

absl::Status MultiBoxDetectionGpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  return c.outputs[0].dtype == DType::kFloat64 ? Run<double>(c) : Run<float>(c);
}

absl::StatusOr<Prepared> PrepareDetection(const PrepareContext& c) {
  const int64_t rows = DetectionExtents(c.inputs[kClsProb].shape).rows();
  const bool is_double = c.outputs[0].dtype == DType::kFloat64;
  const auto row =
      static_cast<int64_t>(is_double ? sizeof(Detection<double>) : sizeof(Detection<float>));
  return Prepared{.workspace_bytes = 2 * rows * row};
}

COOPER_REGISTER_KERNEL(_contrib_MultiBoxDetection, DeviceType::kGpu, kFloat32Or64,
                       MultiBoxDetectionGpu, PrepareDetection);

}  // namespace
}  // namespace cooper
