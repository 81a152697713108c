// GPU kernel of _contrib_box_iou.

#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/detection/box.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"
#include "executor/program/kernel.h"
#include "symbol/ops/detection/box_iou_param.h"

namespace cooper {
namespace {

template <typename T>
__global__ void Overlaps(int64_t count, int64_t columns, BoxFormat format, const T* lhs,
                         const T* rhs, T* out, bool add) {
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) {
    StoreTo(out + i, BoxOverlap(lhs + i / columns * 4, rhs + i % columns * 4, format), add);
  }
}

template <typename T>
absl::Status Run(const KernelContext& c) {
  using enum BoxIouArrays::Input;
  const int64_t count = c.outputs[0].size(), columns = c.inputs[kRhs].size() / 4;
  return LaunchElements(c, count, Overlaps<T>, count, columns, c.param<BoxIouParam>().format,
                        c.inputs[kLhs].as<T>(), c.inputs[kRhs].as<T>(), c.outputs[0].as<T>(),
                        c.reqs[0] == WriteReq::kAdd);
}

absl::Status BoxIouGpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  return c.outputs[0].dtype == DType::kFloat64 ? Run<double>(c) : Run<float>(c);
}

COOPER_REGISTER_KERNEL(_contrib_box_iou, DeviceType::kGpu, kFloat32Or64, BoxIouGpu);

}  // namespace
}  // namespace cooper
