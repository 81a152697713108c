// Kernels of dot, batch_dot and their gradients, through Gemm.

#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/launch/dispatch_float.h"
#include "executor/kernels/launch/product_grain.h"
#include "executor/kernels/linalg/dot_extents.h"
#include "executor/program/kernel.h"
#include "ndarray/products/gemm.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/linalg/dot_param.h"

namespace cooper {
namespace {

// Calls fn(i) for each pair of matrices, on several threads.
template <typename Fn>
void ForBatch(const DotExtents& e, const Fn& fn) {
  ParallelForPlain(e.batch, ProductGrain(e.batch, e.m * e.n * e.k),
                   [&](int64_t begin, int64_t end) {
                     for (int64_t i = begin; i < end; ++i) fn(i);
                   });
}

template <typename T>
void Forward(const KernelContext& c, const DotParam& param, const DotExtents& e) {
  using enum DotArrays::Input;
  const auto [batch, m, n, k] = e;
  const bool ta = param.transpose_a, tb = param.transpose_b;
  const T beta = c.reqs[0] == WriteReq::kAdd ? T{1} : T{0};
  ForBatch(e, [&, m = m, n = n, k = k](int64_t i) {
    Gemm(ta, tb, m, n, k, T{1}, c.inputs[kLhs].as<T>() + i * m * k, ta ? m : k,
         c.inputs[kRhs].as<T>() + i * k * n, tb ? k : n, beta, c.outputs[0].as<T>() + i * m * n, n);
  });
}

template <typename T>
void Backward(const KernelContext& c, const DotParam& param, const DotExtents& e) {
  using enum DotGradientArrays::Input;
  using enum DotGradientArrays::Output;
  const auto [batch, m, n, k] = e;
  const bool ta = param.transpose_a, tb = param.transpose_b;
  auto beta = [&](int i) { return c.reqs[i] == WriteReq::kAdd ? T{1} : T{0}; };
  ForBatch(e, [&, m = m, n = n, k = k](int64_t i) {
    const T* ograd = c.inputs[kOgrad].as<T>() + i * m * n;
    const T* lhs = c.inputs[kLhs].as<T>() + i * m * k;
    const T* rhs = c.inputs[kRhs].as<T>() + i * k * n;
    const int64_t lda = ta ? m : k, ldb = tb ? k : n;
    if (c.reqs[kLhsGrad] != WriteReq::kNull) {
      T* grad = c.outputs[kLhsGrad].as<T>() + i * m * k;
      if (ta) {  // (k, m) = op(rhs) * ograd^T
        Gemm(tb, true, k, m, n, T{1}, rhs, ldb, ograd, n, beta(kLhsGrad), grad, lda);
      } else {  // (m, k) = ograd * op(rhs)^T
        Gemm(false, !tb, m, k, n, T{1}, ograd, n, rhs, ldb, beta(kLhsGrad), grad, lda);
      }
    }
    if (c.reqs[kRhsGrad] != WriteReq::kNull) {
      T* grad = c.outputs[kRhsGrad].as<T>() + i * k * n;
      if (tb) {  // (n, k) = ograd^T * op(lhs)
        Gemm(true, ta, n, k, m, T{1}, ograd, n, lhs, lda, beta(kRhsGrad), grad, ldb);
      } else {  // (k, n) = op(lhs)^T * ograd
        Gemm(!ta, false, k, n, m, T{1}, lhs, lda, ograd, n, beta(kRhsGrad), grad, ldb);
      }
    }
  });
}

using ExtentsFn = DotExtents (*)(const DotParam&, const Shape&, const Shape&);

template <ExtentsFn kExtents>
absl::Status ProductCpu(const KernelContext& c) {
  using enum DotArrays::Input;
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  const auto& param = c.param<DotParam>();
  const DotExtents e = kExtents(param, c.inputs[kLhs].shape, c.inputs[kRhs].shape);
  return DispatchFloat32Or64(
      c.outputs[0].dtype, [&](auto type) { Forward<typename decltype(type)::type>(c, param, e); });
}

template <ExtentsFn kExtents>
absl::Status ProductBackwardCpu(const KernelContext& c) {
  using enum DotGradientArrays::Input;
  const auto& param = c.param<DotParam>();
  const DotExtents e = kExtents(param, c.inputs[kLhs].shape, c.inputs[kRhs].shape);
  return DispatchFloat32Or64(
      c.outputs[0].dtype, [&](auto type) { Backward<typename decltype(type)::type>(c, param, e); });
}

COOPER_REGISTER_KERNEL(dot, DeviceType::kCpu, kFloat32Or64, ProductCpu<ExtentsOfDot>);
COOPER_REGISTER_KERNEL(_backward_dot, DeviceType::kCpu, kFloat32Or64,
                       ProductBackwardCpu<ExtentsOfDot>);
COOPER_REGISTER_KERNEL(batch_dot, DeviceType::kCpu, kFloat32Or64, ProductCpu<ExtentsOfBatchDot>);
COOPER_REGISTER_KERNEL(_backward_batch_dot, DeviceType::kCpu, kFloat32Or64,
                       ProductBackwardCpu<ExtentsOfBatchDot>);

}  // namespace
}  // namespace cooper
