// Kernels of Dropout and its gradient.

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/launch/dispatch_float.h"
#include "executor/kernels/loops/copy_data.h"
#include "executor/kernels/random/dropout_mask.h"
#include "executor/program/kernel.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/nn/dropout_param.h"

namespace cooper {
namespace {

// Computes out = in * mask / (1 - p). The mask is broadcast along its axes of extent 1.
template <typename T>
void ApplyMask(const ArrayView& in, const ArrayView& mask, double p, const ArrayView& out,
               bool add) {
  const auto scale = static_cast<ComputeType<T>>(DropoutScale(p));
  const T* x = in.as<T>();
  const uint8_t* m = mask.as<uint8_t>();
  T* y = out.as<T>();
  if (mask.size() == in.size()) {
    ParallelFor(in.size(), 16384, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        Store(y + i, Load(x[i]) * (static_cast<ComputeType<T>>(m[i]) * scale), add);
      }
    });
    return;
  }
  const Shape& shape = in.shape;
  const int rank = shape.rank();
  ParallelFor(in.size(), 16384, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t rest = i, stride = 1, at = 0;
      for (int axis = rank - 1; axis >= 0; --axis) {
        if (mask.shape[axis] != 1) {
          at += rest % shape[axis] * stride;
          stride *= shape[axis];
        }
        rest /= shape[axis];
      }
      Store(y + i, Load(x[i]) * (static_cast<ComputeType<T>>(m[at]) * scale), add);
    }
  });
}

// Prepares Dropout. The workspace holds the mask if its request is kNull: the kernel draws it even
// if no gradient needs it.
absl::StatusOr<Prepared> Prepare(const PrepareContext& c) {
  using enum DropoutArrays::Output;
  return Prepared{.workspace_bytes =
                      c.reqs[kMask] == WriteReq::kNull ? c.outputs[kMask].size() : 0};
}

absl::Status DropoutCpu(const KernelContext& c) {
  using enum DropoutArrays::Input;
  using enum DropoutArrays::Output;
  const auto& param = c.param<DropoutParam>();
  if (c.reqs[0] == WriteReq::kNull || c.outputs[0].size() == 0) return absl::OkStatus();
  if (!param.Drops(c.is_train)) return CopyData(c);
  const bool add = c.reqs[0] == WriteReq::kAdd;
  return DispatchFloat(c.outputs[0].dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    ArrayView mask = c.outputs[kMask];
    if (c.reqs[kMask] == WriteReq::kNull) mask.data = c.workspace;
    DrawMask(c.random, /*position=*/0, param.p, mask.size(), mask.as<uint8_t>());
    ApplyMask<T>(c.inputs[kData], mask, param.p, c.outputs[0], add);
  });
}

absl::Status DropoutBackwardCpu(const KernelContext& c) {
  using enum DropoutGradientArrays::Input;
  const auto& param = c.param<DropoutParam>();
  if (c.reqs[0] == WriteReq::kNull || c.outputs[0].size() == 0) return absl::OkStatus();
  if (!param.Drops(c.is_train)) return CopyData(c);
  const bool add = c.reqs[0] == WriteReq::kAdd;
  return DispatchFloat(c.outputs[0].dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    ApplyMask<T>(c.inputs[kOgrad], c.inputs[kMask], param.p, c.outputs[0], add);
  });
}

COOPER_REGISTER_KERNEL(Dropout, DeviceType::kCpu, kFloats, DropoutCpu, Prepare);
COOPER_REGISTER_KERNEL(_backward_Dropout, DeviceType::kCpu, kFloats, DropoutBackwardCpu);

}  // namespace
}  // namespace cooper
