// Kernels of argmax, argmin, argmax_channel and the running sum.

#include <algorithm>
#include <cmath>

#include "executor/cpu/elemwise/element_block.h"
#include "executor/cpu/row_grain.h"
#include "executor/elements/axis_view.h"
#include "executor/elements/is_nan.h"
#include "executor/elements/wrapping.h"
#include "executor/kernel.h"
#include "ndarray/parallel.h"
#include "ndarray/status_macros.h"
#include "symbol/ops/one_input.h"
#include "symbol/ops/reduce/reduce_param.h"

namespace cooper {
namespace {

using enum OneInputArrays::Input;

struct IsGreater {
  template <typename C>
  static bool Better(C x, C best) {
    return x > best;
  }
};

struct IsLess {
  template <typename C>
  static bool Better(C x, C best) {
    return x < best;
  }
};

// The first best element, or the first NaN.
template <typename Order, typename T>
void Search(const AxisView& view, const T* data, const ArrayView& output, WriteReq req) {
  using C = ComputeType<T>;
  ParallelForPlain(view.lines(), RowGrain(view.length), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const T* at = data + view.First(i);
      C best = ConvertElement<C>(at[0]);
      int64_t position = 0;
      for (int64_t k = 1; k < view.length && !IsNan(best); ++k) {
        const C x = ConvertElement<C>(at[k * view.inner]);
        if (Order::Better(x, best) || IsNan(x)) {
          best = x;
          position = k;
        }
      }
      StoreBlock(&position, 1, req, ElementAt(output.data, output.dtype, i), output.dtype);
    }
  });
}

template <typename Order>
absl::Status RunSearch(const KernelContext& c, std::optional<int64_t> axis) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  COOPER_ASSIGN_OR_RETURN(const AxisView view, AxisView::Along(c.inputs[kData].shape, axis));
  COOPER_RETURN_IF_ERROR(view.CheckSearchable());
  DispatchDType(c.inputs[kData].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    Search<Order, T>(view, c.inputs[kData].as<T>(), c.outputs[0], c.reqs[0]);
  });
  return absl::OkStatus();
}

template <typename Order>
absl::Status SearchCpu(const KernelContext& c) {
  return RunSearch<Order>(c, c.param<ArgReduceParam>().axis);
}

absl::Status ArgmaxChannelCpu(const KernelContext& c) {
  return RunSearch<IsGreater>(c, c.inputs[kData].shape.rank() > 1 ? 1 : 0);
}

// Sums along the axis in the type to compute in for the output, from the first element on or, for
// the gradient, from the last.
template <typename C>
void RunningSum(const AxisView& view, const ArrayView& input, const ArrayView& output, WriteReq req,
                bool from_last) {
  ParallelForPlain(view.lines(), RowGrain(view.length), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t base = view.First(i);
      C sum = 0;
      for (int64_t k = 0; k < view.length; ++k) {
        const int64_t step = from_last ? view.length - 1 - k : k;
        const int64_t at = base + step * view.inner;
        C value;
        LoadBlock(ElementAt(input.data, input.dtype, at), input.dtype, 1, &value);
        sum = WrapAdd(sum, value);
        StoreBlock(&sum, 1, req, ElementAt(output.data, output.dtype, at), output.dtype);
      }
    }
  });
}

// The axis is one of `shape`, the forward input's.
absl::Status RunCumsum(const KernelContext& c, const Shape& shape, bool from_last) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  COOPER_ASSIGN_OR_RETURN(const AxisView view, AxisView::Along(shape, c.param<CumsumParam>().axis));
  DispatchComputeType(c.outputs[0].dtype, /*exact_integers=*/true, [&](auto zero) {
    RunningSum<decltype(zero)>(view, c.inputs[kData], c.outputs[0], c.reqs[0], from_last);
  });
  return absl::OkStatus();
}

absl::Status CumsumCpu(const KernelContext& c) {
  return RunCumsum(c, c.inputs[kData].shape, false);
}

absl::Status CumsumBackwardCpu(const KernelContext& c) {
  return RunCumsum(c, c.outputs[0].shape, true);
}

COOPER_REGISTER_KERNEL(argmax, DeviceType::kCpu, kAnyDType, SearchCpu<IsGreater>);
COOPER_REGISTER_KERNEL(argmin, DeviceType::kCpu, kAnyDType, SearchCpu<IsLess>);
COOPER_REGISTER_KERNEL(argmax_channel, DeviceType::kCpu, kAnyDType, ArgmaxChannelCpu);
COOPER_REGISTER_KERNEL(_np_cumsum, DeviceType::kCpu, kAnyDType, CumsumCpu);
COOPER_REGISTER_KERNEL(_backward_np_cumsum, DeviceType::kCpu, kAnyDType, CumsumBackwardCpu);

}  // namespace
}  // namespace cooper
