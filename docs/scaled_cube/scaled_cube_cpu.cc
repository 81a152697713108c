// Kernels of scaled_cube and its gradient.

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "docs/scaled_cube/scaled_cube_param.h"
#include "executor/kernel.h"
#include "ndarray/parallel.h"

namespace cooper {
namespace {

// Writes or adds value(i) to each element of the output, which may be an input's memory.
template <typename Fn>
absl::Status ForEachElement(const KernelContext& c, Fn value) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  float* out = c.outputs[0].as<float>();
  const bool add = c.reqs[0] == WriteReq::kAdd;
  ParallelFor(c.outputs[0].size(), /*grain=*/8192, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) out[i] = value(i) + (add ? out[i] : 0.0f);
  });
  return absl::OkStatus();
}

absl::Status ScaledCubeCpu(const KernelContext& c) {
  const auto scale = static_cast<float>(c.param<ScaledCubeParam>().scale);
  const float* x = c.inputs[0].as<float>();
  return ForEachElement(c, [=](int64_t i) { return scale * x[i] * x[i] * x[i]; });
}

absl::Status ScaledCubeBackwardCpu(const KernelContext& c) {
  const auto scale = static_cast<float>(c.param<ScaledCubeParam>().scale);
  const float* head = c.inputs[0].as<float>();
  const float* x = c.inputs[1].as<float>();
  return ForEachElement(c, [=](int64_t i) { return 3 * scale * x[i] * x[i] * head[i]; });
}

COOPER_REGISTER_KERNEL(scaled_cube, DeviceType::kCpu, kFloat32Only, ScaledCubeCpu);
COOPER_REGISTER_KERNEL(_backward_scaled_cube, DeviceType::kCpu, kFloat32Only,
                       ScaledCubeBackwardCpu);

}  // namespace
}  // namespace cooper
