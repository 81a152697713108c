// Kernel of _contrib_box_iou.

#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/detection/box.h"
#include "executor/kernels/launch/dispatch_float.h"
#include "executor/kernels/launch/row_grain.h"
#include "executor/program/kernel.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/detection/box_iou_param.h"

namespace cooper {
namespace {

using enum BoxIouArrays::Input;

template <typename T>
void Run(const KernelContext& c) {
  const BoxFormat format = c.param<BoxIouParam>().format;
  const int64_t columns = c.inputs[kRhs].size() / 4;
  const T *lhs = c.inputs[kLhs].as<T>(), *rhs = c.inputs[kRhs].as<T>();
  T* out = c.outputs[0].as<T>();
  const bool add = c.reqs[0] == WriteReq::kAdd;
  constexpr int64_t kBoxesPerThread = 2048;
  ParallelFor(c.inputs[kLhs].size() / 4, RowGrain(columns, kBoxesPerThread),
              [&](int64_t begin, int64_t end) {
                for (int64_t i = begin; i < end; ++i) {
                  for (int64_t j = 0; j < columns; ++j) {
                    Store(out + i * columns + j, BoxOverlap(lhs + i * 4, rhs + j * 4, format), add);
                  }
                }
              });
}

absl::Status BoxIouCpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  return DispatchFloat32Or64(c.outputs[0].dtype,
                             [&](auto type) { Run<typename decltype(type)::type>(c); });
}

COOPER_REGISTER_KERNEL(_contrib_box_iou, DeviceType::kCpu, kFloat32Or64, BoxIouCpu);

}  // namespace
}  // namespace cooper
