// Kernels of _contrib_quadratic and its gradient.

#include "absl/status/status.h"
#include "executor/kernels/launch/dispatch_float.h"
#include "executor/program/kernel.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/elemwise/quadratic_param.h"

namespace cooper {
namespace {

// Writes or adds value(i) to each element of output 0, which may be an input's memory.
template <typename T, typename Fn>
void ForEachElement(const KernelContext& c, Fn value) {
  T* out = c.outputs[0].as<T>();
  const bool add = c.reqs[0] == WriteReq::kAdd;
  ParallelFor(c.outputs[0].size(), /*grain=*/8192, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) Store(out + i, value(i), add);
  });
}

absl::Status QuadraticCpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  return DispatchFloat(c.outputs[0].dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    using C = ComputeType<T>;  // float for float16
    const auto& p = c.param<QuadraticParam>();
    const C a = static_cast<C>(p.a), b = static_cast<C>(p.b), constant = static_cast<C>(p.c);
    const T* x = c.inputs[QuadraticArrays::kData].as<T>();
    ForEachElement<T>(c, [=](int64_t i) { return Load(x[i]) * (a * Load(x[i]) + b) + constant; });
  });
}

absl::Status QuadraticBackwardCpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  return DispatchFloat(c.outputs[0].dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    using C = ComputeType<T>;
    const auto& p = c.param<QuadraticParam>();
    const C a = static_cast<C>(p.a), b = static_cast<C>(p.b);
    const T* ograd = c.inputs[QuadraticGradientArrays::kOgrad].as<T>();
    const T* x = c.inputs[QuadraticGradientArrays::kData].as<T>();
    ForEachElement<T>(c, [=](int64_t i) { return Load(ograd[i]) * (2 * a * Load(x[i]) + b); });
  });
}

COOPER_REGISTER_KERNEL(_contrib_quadratic, DeviceType::kCpu, kFloats, QuadraticCpu);
COOPER_REGISTER_KERNEL(_backward_contrib_quadratic, DeviceType::kCpu, kFloats,
                       QuadraticBackwardCpu);

}  // namespace
}  // namespace cooper
