// Kernel of _contrib_MultiBoxDetection.

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/detection/greedy_suppression.h"
#include "executor/kernels/detection/ssd_detection.h"
#include "executor/kernels/launch/dispatch_float.h"
#include "executor/kernels/launch/row_grain.h"
#include "executor/program/kernel.h"
#include "executor/program/scratch_cursor.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/detection/multi_box_detection_param.h"

namespace cooper {
namespace {

using enum MultiBoxDetectionArrays::Input;

// The detections of all images, and scratch memory to sort those of each.
template <typename T>
struct Scratch {
  Detection<T>*rows, *sorted;
  int64_t* order;

  Scratch(const DetectionExtents& e, ScratchCursor& cursor)
      : rows(cursor.Take<Detection<T>>(e.rows())),
        sorted(cursor.Take<Detection<T>>(e.rows())),
        order(cursor.Take<int64_t>(e.rows())) {}
};

// Sorts the most probable of `count` rows to the front, and removes the class of those that they
// suppress. `order` and `sorted` have `count` elements.
template <typename T>
void Suppress(const DetectionRule& rule, int64_t count, Detection<T>* rows, int64_t* order,
              Detection<T>* sorted) {
  std::iota(order, order + count, int64_t{0});
  const int64_t kept = rule.topk < 0 ? count : std::min(rule.topk, count);
  std::partial_sort(order, order + kept, order + count,
                    [&](int64_t a, int64_t b) { return IsMoreProbable(rows, a, b); });
  for (int64_t i = 0; i < kept; ++i) sorted[i] = rows[order[i]];
  std::copy_n(sorted, kept, rows);
  // As in MXNet, the rows after them keep their previous contents, except for the class.
  for (int64_t i = kept; i < count; ++i) rows[i].id = -1;
  SuppressGreedily(
      kept, [&](int64_t i) { return rows[i].is_object(); },
      [&](int64_t i, int64_t j) { return rule.Suppresses(rows[i], rows[j]); },
      [&](int64_t j) { rows[j].id = -1; });
}

template <typename T>
void Run(const KernelContext& c) {
  const DetectionRule rule(c.param<MultiBoxDetectionParam>());
  const DetectionExtents e(c.inputs[kClsProb].shape);
  ScratchCursor cursor(c.workspace);
  const Scratch<T> scratch(e, cursor);
  constexpr int64_t kProbabilitiesPerThread = 8192;
  ParallelForPlain(e.images * e.anchors, RowGrain(e.classes, kProbabilitiesPerThread),
                   [&](int64_t begin, int64_t end) {
                     for (int64_t i = begin; i < end; ++i) {
                       const int64_t image = i / e.anchors, anchor = i % e.anchors;
                       scratch.rows[i] = rule.Detect(
                           c.inputs[kClsProb].as<T>() + image * e.classes * e.anchors + anchor,
                           e.classes, e.anchors, c.inputs[kLocPred].as<T>() + i * 4,
                           c.inputs[kAnchor].as<T>() + anchor * 4);
                     }
                   });
  const bool add = c.reqs[0] == WriteReq::kAdd;
  ParallelForPlain(e.images, 1, [&](int64_t begin, int64_t end) {
    for (int64_t first = begin * e.anchors; first < end * e.anchors; first += e.anchors) {
      Detection<T>* rows = scratch.rows + first;
      const int64_t count =
          std::remove_if(rows, rows + e.anchors, [](const auto& row) { return !row.is_object(); }) -
          rows;
      std::fill(rows + count, rows + e.anchors, Detection<T>::None());
      if (rule.suppresses()) {
        Suppress(rule, count, rows, scratch.order + first, scratch.sorted + first);
      }
      T* out = c.outputs[0].as<T>() + first * Detection<T>::kNumbers;
      for (int64_t i = 0; i < e.anchors; ++i) {
        for (int k = 0; k < Detection<T>::kNumbers; ++k) Store(out++, rows[i].number(k), add);
      }
    }
  });
}

absl::Status MultiBoxDetectionCpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  return DispatchFloat32Or64(c.outputs[0].dtype,
                             [&](auto type) { Run<typename decltype(type)::type>(c); });
}

absl::StatusOr<Prepared> PrepareDetection(const PrepareContext& c) {
  const DetectionExtents e(c.inputs[kClsProb].shape);
  ScratchCursor cursor(nullptr);
  if (c.outputs[0].dtype == DType::kFloat64) {
    const Scratch<double> scratch(e, cursor);
  } else {
    const Scratch<float> scratch(e, cursor);
  }
  return Prepared{.workspace_bytes = cursor.bytes()};
}

COOPER_REGISTER_KERNEL(_contrib_MultiBoxDetection, DeviceType::kCpu, kFloat32Or64,
                       MultiBoxDetectionCpu, PrepareDetection);

}  // namespace
}  // namespace cooper
