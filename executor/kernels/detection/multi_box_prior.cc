// Kernel of _contrib_MultiBoxPrior.

#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/detection/prior_box.h"
#include "executor/kernels/launch/dispatch_float.h"
#include "executor/program/kernel.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/detection/multi_box_prior_param.h"

namespace cooper {
namespace {

template <typename T>
void Run(const KernelContext& c) {
  const auto& param = c.param<MultiBoxPriorParam>();
  const PriorBoxes boxes(param, c.inputs[0].shape[2], c.inputs[0].shape[3]);
  const int64_t kinds = NumPriorKinds(param);
  T* out = c.outputs[0].as<T>();
  const bool add = c.reqs[0] == WriteReq::kAdd;
  ParallelForPlain(boxes.height, 1, [&](int64_t begin, int64_t end) {
    T* to = out + begin * boxes.width * kinds * 4;
    for (int64_t row = begin; row < end; ++row) {
      for (int64_t column = 0; column < boxes.width; ++column) {
        for (int64_t i = 0; i < kinds; ++i) {
          const PriorKind kind = PriorKindAt(param, i);
          for (int corner = 0; corner < 4; ++corner, ++to) {
            Store(to, static_cast<T>(boxes.Corner(row, column, kind.size, kind.ratio, corner)),
                  add);
          }
        }
      }
    }
  });
}

absl::Status MultiBoxPriorCpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  return DispatchFloat32Or64(c.outputs[0].dtype,
                             [&](auto type) { Run<typename decltype(type)::type>(c); });
}

COOPER_REGISTER_KERNEL(_contrib_MultiBoxPrior, DeviceType::kCpu, kFloat32Or64, MultiBoxPriorCpu);

}  // namespace
}  // namespace cooper
