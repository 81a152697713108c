// Kernels of the regression outputs and their gradients.

#include <algorithm>

#include "absl/status/status.h"
#include "executor/kernels/launch/dispatch_float.h"
#include "executor/kernels/loops/vector_math.h"
#include "executor/program/kernel.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/loss/loss_param.h"

namespace cooper {
namespace {

enum class Loss { kLinear, kLogistic, kAbsolute };

template <Loss loss>
absl::Status ForwardCpu(const KernelContext& c) {
  using enum LossArrays::Input;
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  const bool add = c.reqs[0] == WriteReq::kAdd;
  return DispatchFloat(c.outputs[0].dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    using C = ComputeType<T>;
    const T* in = c.inputs[kData].as<T>();
    T* out = c.outputs[0].as<T>();
    ParallelFor(c.outputs[0].size(), 16384, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        C y = Load(in[i]);
        if (loss == Loss::kLogistic) y = VectorSigmoid(y);
        Store(out + i, y, add);
      }
    });
  });
}

// Computes the gradient. As MXNet, it divides by the number of outputs of a sample, not by the
// batch size.
template <Loss loss>
absl::Status BackwardCpu(const KernelContext& c) {
  using enum LossGradientArrays::Input;
  if (c.reqs[0] == WriteReq::kNull || c.outputs[0].size() == 0) return absl::OkStatus();
  const bool add = c.reqs[0] == WriteReq::kAdd;
  const Shape& label_shape = c.inputs[kLabel].shape;
  const double outputs = static_cast<double>(label_shape.Product(1, label_shape.rank()));
  const double scale = c.param<RegressionOutputParam>().grad_scale / outputs;
  return DispatchFloat(c.outputs[0].dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    using C = ComputeType<T>;
    const T* label = c.inputs[kLabel].as<T>();
    const T* out = c.inputs[kOutput].as<T>();
    T* grad = c.outputs[0].as<T>();
    ParallelFor(c.outputs[0].size(), 16384, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        C d = Load(out[i]) - Load(label[i]);
        if (loss == Loss::kAbsolute) d = d > 0 ? C{1} : C{-1};  // as MXNet: -1 for 0 too
        Store(grad + i, d * static_cast<C>(scale), add);
      }
    });
  });
}

constexpr DeviceType kCpu = DeviceType::kCpu;
COOPER_REGISTER_KERNEL(LinearRegressionOutput, kCpu, kFloats, ForwardCpu<Loss::kLinear>);
COOPER_REGISTER_KERNEL(LogisticRegressionOutput, kCpu, kFloats, ForwardCpu<Loss::kLogistic>);
COOPER_REGISTER_KERNEL(MAERegressionOutput, kCpu, kFloats, ForwardCpu<Loss::kAbsolute>);
COOPER_REGISTER_KERNEL(_backward_LinearRegressionOutput, kCpu, kFloats, BackwardCpu<Loss::kLinear>);
COOPER_REGISTER_KERNEL(_backward_LogisticRegressionOutput, kCpu, kFloats,
                       BackwardCpu<Loss::kLogistic>);
COOPER_REGISTER_KERNEL(_backward_MAERegressionOutput, kCpu, kFloats, BackwardCpu<Loss::kAbsolute>);

}  // namespace
}  // namespace cooper
