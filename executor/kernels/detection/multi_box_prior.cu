// GPU kernel of _contrib_MultiBoxPrior: one launch per kind of box.

#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/detection/prior_box.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"
#include "executor/program/kernel.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/detection/multi_box_prior_param.h"

namespace cooper {
namespace {

// Computes the boxes of kind `kind`, one of `kinds` per pixel; `count` numbers in all.
template <typename T>
__global__ void Corners(int64_t count, PriorBoxes boxes, int64_t kind, int64_t kinds, float size,
                        float ratio, T* out, bool add) {
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) {
    const int64_t pixel = i / 4;
    const int corner = static_cast<int>(i % 4);
    const float value = boxes.Corner(pixel / boxes.width, pixel % boxes.width, size, ratio, corner);
    StoreTo(out + (pixel * kinds + kind) * 4 + corner, static_cast<T>(value), add);
  }
}

template <typename T>
absl::Status Run(const KernelContext& c) {
  const auto& param = c.param<MultiBoxPriorParam>();
  const PriorBoxes boxes(param, c.inputs[0].shape[2], c.inputs[0].shape[3]);
  const int64_t kinds = NumPriorKinds(param), count = boxes.height * boxes.width * 4;
  for (int64_t kind = 0; kind < kinds; ++kind) {
    const PriorKind box = PriorKindAt(param, kind);
    COOPER_RETURN_IF_ERROR(LaunchElements(c, count, Corners<T>, count, boxes, kind, kinds, box.size,
                                          box.ratio, c.outputs[0].as<T>(),
                                          c.reqs[0] == WriteReq::kAdd));
  }
  return absl::OkStatus();
}

absl::Status MultiBoxPriorGpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  return c.outputs[0].dtype == DType::kFloat64 ? Run<double>(c) : Run<float>(c);
}

COOPER_REGISTER_KERNEL(_contrib_MultiBoxPrior, DeviceType::kGpu, kFloat32Or64, MultiBoxPriorGpu);

}  // namespace
}  // namespace cooper
