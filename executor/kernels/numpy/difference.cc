// Kernels of _neighbour_difference and of its gradient.

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/loops/row_parts.h"
#include "executor/kernels/loops/wrapping.h"
#include "executor/kernels/numpy/difference_extents.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/rules/one_input.h"

namespace cooper {
namespace {

constexpr int64_t kGrain = 16384;

// Calls fn(row, first, last) for parts of `rows` rows of `row_size` elements, on several threads.
template <typename Fn>
void ForRowParts(int64_t rows, int64_t row_size, const Fn& fn) {
  ParallelFor(rows * row_size, kGrain,
              [&](int64_t begin, int64_t end) { ForEachRowPart(begin, end, row_size, fn); });
}

// Computes out[i] = or += value(i) for i of [begin, end), which the compute type of T holds.
template <bool kAdd, typename T, typename Value>
void Put(int64_t begin, int64_t end, T* out, const Value& value) {
  using C = ComputeType<T>;
  for (int64_t i = begin; i < end; ++i) {
    out[i] = ConvertElement<T>(kAdd ? WrapAdd(ConvertElement<C>(out[i]), value(i)) : value(i));
  }
}

template <bool kAdd>
absl::Status Forward(const KernelContext& c) {
  const ArrayView& data = c.inputs[OneInputArrays::kData];
  COOPER_ASSIGN_OR_RETURN(const auto extents,
                          DifferenceExtents::Of(data.shape, c.param<NeighbourDifferenceParam>()));
  const int64_t stride = extents.stride;
  DispatchDType(data.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using C = ComputeType<T>;
    ForRowParts(extents.rows, extents.short_row(), [&](int64_t row, int64_t first, int64_t last) {
      const T* const x = data.as<T>() + row * extents.long_row;
      Put<kAdd>(first, last, c.outputs[0].as<T>() + row * extents.short_row(), [&](int64_t i) {
        return WrapSub(ConvertElement<C>(x[i + stride]), ConvertElement<C>(x[i]));
      });
    });
  });
  return absl::OkStatus();
}

// Computes gradient[i] = ograd[i - 1] - ograd[i] along the axis. An element outside of ograd counts
// as 0.
template <bool kAdd>
absl::Status Backward(const KernelContext& c) {
  const ArrayView& grad = c.outputs[0];
  COOPER_ASSIGN_OR_RETURN(const auto extents,
                          DifferenceExtents::Of(grad.shape, c.param<NeighbourDifferenceParam>()));
  const int64_t stride = extents.stride, end = extents.short_row();
  DispatchDType(grad.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using C = ComputeType<T>;
    ForRowParts(extents.rows, extents.long_row, [&](int64_t row, int64_t first, int64_t last) {
      const T* const ograd = c.inputs[OneInputGradientArrays::kOgrad].as<T>() + row * end;
      T* const out = grad.as<T>() + row * extents.long_row;
      Put<kAdd>(first, std::min(last, stride), out,
                [&](int64_t i) { return WrapNegate(ConvertElement<C>(ograd[i])); });
      Put<kAdd>(std::max(first, stride), std::min(last, end), out, [&](int64_t i) {
        return WrapSub(ConvertElement<C>(ograd[i - stride]), ConvertElement<C>(ograd[i]));
      });
      Put<kAdd>(std::max(first, end), last, out,
                [&](int64_t i) { return ConvertElement<C>(ograd[i - stride]); });
    });
  });
  return absl::OkStatus();
}

// Runs kWrite or kAdd as the request says. A Kernel::RunFn.
template <Kernel::RunFn kWrite, Kernel::RunFn kAdd>
absl::Status ByRequest(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull || c.outputs[0].size() == 0) return absl::OkStatus();
  return c.reqs[0] == WriteReq::kAdd ? kAdd(c) : kWrite(c);
}

COOPER_REGISTER_KERNEL(_neighbour_difference, DeviceType::kCpu, kAnyDType,
                       ByRequest<Forward<false>, Forward<true>>);
COOPER_REGISTER_KERNEL(_backward_neighbour_difference, DeviceType::kCpu, kAnyDType,
                       ByRequest<Backward<false>, Backward<true>>);

}  // namespace
}  // namespace cooper
