// GPU kernels of dot, batch_dot and their gradients, through cuBLAS.

#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/launch/cublas_state.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"
#include "executor/kernels/linalg/dot_extents.h"
#include "executor/program/kernel.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/cuda/cublas.h"
#include "ndarray/cuda/device_scope.h"
#include "symbol/ops/linalg/dot_param.h"

namespace cooper {
namespace {

// A matrix per pair, stored as (rows, columns), that the product may transpose.
struct Factor {
  const void* data;
  bool transposed;
  int64_t rows, columns;
};

// Computes out (m, n) = or += a * b for each pair.
absl::Status Multiply(const KernelContext& c, int64_t batch, const Factor& a, const Factor& b,
                      const ArrayView& out, WriteReq req) {
  if (req == WriteReq::kNull) return absl::OkStatus();
  const int64_t m = a.transposed ? a.columns : a.rows;
  const int64_t k = a.transposed ? a.rows : a.columns;
  const int64_t n = b.transposed ? b.rows : b.columns;
  const GemmBatch strides{.count = batch, .stride_a = m * k, .stride_b = k * n, .stride_c = m * n};
  return CublasOf(c).GemmBatched(StreamOf(c), out.dtype, strides, a.transposed, b.transposed, m, n,
                                 k, 1, a.data, a.columns, b.data, b.columns, req == WriteReq::kAdd,
                                 out.data, n);
}

using ExtentsFn = DotExtents (*)(const DotParam&, const Shape&, const Shape&);

// The two operands as they are stored.
struct Sides {
  DotExtents e;
  Factor lhs, rhs;

  Sides(ExtentsFn extents, const DotParam& param, const ArrayView& l, const ArrayView& r)
      : e(extents(param, l.shape, r.shape)) {
    const bool ta = param.transpose_a, tb = param.transpose_b;
    lhs = {l.data, ta, ta ? e.k : e.m, ta ? e.m : e.k};
    rhs = {r.data, tb, tb ? e.n : e.k, tb ? e.k : e.n};
  }
};

Factor Transposed(Factor factor) {
  factor.transposed = !factor.transposed;
  return factor;
}

template <ExtentsFn kExtents>
absl::Status ProductGpu(const KernelContext& c) {
  using enum DotArrays::Input;
  const CudaDeviceScope scope(c.context.device_id);
  COOPER_RETURN_IF_ERROR(scope.status());
  const Sides s(kExtents, c.param<DotParam>(), c.inputs[kLhs], c.inputs[kRhs]);
  return Multiply(c, s.e.batch, s.lhs, s.rhs, c.outputs[0], c.reqs[0]);
}

template <ExtentsFn kExtents>
absl::Status ProductBackwardGpu(const KernelContext& c) {
  using enum DotGradientArrays::Input;
  const CudaDeviceScope scope(c.context.device_id);
  COOPER_RETURN_IF_ERROR(scope.status());
  const Sides s(kExtents, c.param<DotParam>(), c.inputs[kLhs], c.inputs[kRhs]);
  const Factor ograd{c.inputs[kOgrad].data, false, s.e.m, s.e.n};
  // The gradient of op(lhs) is ograd * op(rhs)^T, that of op(rhs) is op(lhs)^T * ograd. Each is
  // transposed if its operand is.
  COOPER_RETURN_IF_ERROR(
      s.lhs.transposed ? Multiply(c, s.e.batch, s.rhs, Transposed(ograd), c.outputs[0], c.reqs[0])
                       : Multiply(c, s.e.batch, ograd, Transposed(s.rhs), c.outputs[0], c.reqs[0]));
  return s.rhs.transposed
             ? Multiply(c, s.e.batch, Transposed(ograd), s.lhs, c.outputs[1], c.reqs[1])
             : Multiply(c, s.e.batch, Transposed(s.lhs), ograd, c.outputs[1], c.reqs[1]);
}

COOPER_REGISTER_KERNEL(dot, DeviceType::kGpu, kCudaFloats, ProductGpu<ExtentsOfDot>, PrepareCublas);
COOPER_REGISTER_KERNEL(_backward_dot, DeviceType::kGpu, kCudaFloats,
                       ProductBackwardGpu<ExtentsOfDot>, PrepareCublas);
COOPER_REGISTER_KERNEL(batch_dot, DeviceType::kGpu, kCudaFloats, ProductGpu<ExtentsOfBatchDot>,
                       PrepareCublas);
COOPER_REGISTER_KERNEL(_backward_batch_dot, DeviceType::kGpu, kCudaFloats,
                       ProductBackwardGpu<ExtentsOfBatchDot>, PrepareCublas);

}  // namespace
}  // namespace cooper
