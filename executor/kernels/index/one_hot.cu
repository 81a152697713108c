// GPU kernel of one_hot.

#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"
#include "executor/kernels/launch/words.h"
#include "executor/kernels/loops/move_rows.h"
#include "executor/program/kernel.h"
#include "symbol/ops/index/one_hot_param.h"

namespace cooper {
namespace {

template <typename C>
__global__ void OneHot(int64_t count, int64_t depth, const DeviceIndices indices, C on, C off,
                       DType dtype, void* out, bool add) {
  for (int64_t i = FirstElement(); i < count * depth; i += ElementStep()) {
    const int64_t row = i / depth;
    StoreElement(out, dtype, i, indices[row] == i - row * depth ? on : off, add);
  }
}

absl::Status OneHotGpu(const KernelContext& c) {
  const ArrayView& out = c.outputs[0];
  if (c.reqs[0] == WriteReq::kNull || out.size() == 0) return absl::OkStatus();
  const auto& param = c.param<OneHotParam>();
  return DispatchCompute(out.dtype, /*exact_integers=*/true, [&](auto zero) {
    using C = decltype(zero);
    return LaunchElements(c, out.size(), OneHot<C>, c.inputs[0].size(), param.depth,
                          DeviceIndices(c.inputs[0]), RoundedTo<C>(out.dtype, param.on_value),
                          RoundedTo<C>(out.dtype, param.off_value), out.dtype, out.data,
                          c.reqs[0] == WriteReq::kAdd);
  });
}

COOPER_REGISTER_KERNEL(one_hot, DeviceType::kGpu, kAnyDType, OneHotGpu);

}  // namespace
}  // namespace cooper
