// GPU kernels of argmax, argmin, argmax_channel and the running sum.

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "executor/cuda/block_limit.h"
#include "executor/cuda/elements.h"
#include "executor/cuda/launch.h"
#include "executor/elements/axis_view.h"
#include "executor/elements/is_nan.h"
#include "executor/kernel.h"
#include "ndarray/shape.h"
#include "ndarray/status_macros.h"
#include "symbol/ops/reduce/reduce_param.h"

namespace cooper {
namespace {

constexpr int kThreads = 256;  // of a block
constexpr int64_t kMaxBlocks = 65536;
constexpr int64_t kLongLine = 64;  // from which on a block shares a line

struct IsGreater {
  template <typename C>
  __device__ static bool Better(C x, C best) {
    return x > best;
  }
};

struct IsLess {
  template <typename C>
  __device__ static bool Better(C x, C best) {
    return x < best;
  }
};

// The best element so far and where it is; none at -1.
template <typename C>
struct Found {
  C value;
  int64_t position;

  // Keeps the better of the two: a NaN before all else, and of equal ones the first.
  template <typename Order>
  __device__ void Take(const Found& other) {
    if (other.position < 0) return;
    if (position >= 0) {
      const bool nan = IsNan(value), other_nan = IsNan(other.value);
      if (nan && !other_nan) return;
      if (nan == other_nan) {
        const bool tied = nan || value == other.value;
        if (tied ? other.position > position : !Order::Better(other.value, value)) return;
      }
    }
    *this = other;
  }
};

// `lanes` threads search one line: 1, or all of a block.
template <typename Order, typename C>
__global__ void Search(const AxisView view, int lanes, const void* data, DType dtype, void* out,
                       DType out_dtype, bool add) {
  __shared__ C values[kThreads];
  __shared__ int64_t positions[kThreads];
  const int t = static_cast<int>(threadIdx.x);
  const int lines = kThreads / lanes;  // that a block has at once
  const int lane = lanes == 1 ? 0 : t;
  const int64_t step = static_cast<int64_t>(gridDim.x) * lines;
  for (int64_t first = static_cast<int64_t>(blockIdx.x) * lines; first < view.lines();
       first += step) {
    const int64_t line = first + (lanes == 1 ? t : 0);
    Found<C> best = {C{0}, -1};
    if (line < view.lines()) {
      const int64_t base = view.First(line);
      for (int64_t k = lane; k < view.length; k += lanes) {
        best.template Take<Order>({LoadElement<C>(data, dtype, base + k * view.inner), k});
      }
    }
    if (lanes > 1) {
      values[t] = best.value;
      positions[t] = best.position;
      __syncthreads();
      for (int width = kThreads / 2; width > 0; width /= 2) {
        if (t < width) {
          best.template Take<Order>({values[t + width], positions[t + width]});
          values[t] = best.value;
          positions[t] = best.position;
        }
        __syncthreads();
      }
    }
    if (lane == 0 && line < view.lines()) {
      StoreElement(out, out_dtype, line, best.position, add);
    }
  }
}

template <typename Order>
absl::Status RunSearch(const KernelContext& c, std::optional<int64_t> axis) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  const ArrayView& data = c.inputs[0];
  const ArrayView& out = c.outputs[0];
  COOPER_ASSIGN_OR_RETURN(const AxisView view, AxisView::Along(data.shape, axis));
  COOPER_RETURN_IF_ERROR(view.CheckSearchable());
  if (view.lines() == 0) return absl::OkStatus();
  const int lanes = view.length >= kLongLine ? kThreads : 1;
  const int64_t lines = kThreads / lanes;
  const dim3 grid(BlocksFor((view.lines() + lines - 1) / lines, kMaxBlocks));
  return DispatchCompute(data.dtype, /*exact_integers=*/true, [&](auto zero) {
    return Launch(c, grid, dim3(kThreads), Search<Order, decltype(zero)>, view, lanes, data.data,
                  data.dtype, out.data, out.dtype, c.reqs[0] == WriteReq::kAdd);
  });
}

template <typename Order>
absl::Status SearchGpu(const KernelContext& c) {
  return RunSearch<Order>(c, c.param<ArgReduceParam>().axis);
}

absl::Status ArgmaxChannelGpu(const KernelContext& c) {
  return RunSearch<IsGreater>(c, c.inputs[0].shape.rank() > 1 ? 1 : 0);
}

// One thread sums along one line.
template <typename C>
__global__ void SumLines(const AxisView view, const void* data, DType dtype, void* out,
                         DType out_dtype, bool add, bool from_last) {
  for (int64_t line = FirstElement(); line < view.lines(); line += ElementStep()) {
    const int64_t base = view.First(line);
    C sum = 0;
    for (int64_t k = 0; k < view.length; ++k) {
      const int64_t at = base + (from_last ? view.length - 1 - k : k) * view.inner;
      sum += LoadElement<C>(data, dtype, at);
      StoreElement(out, out_dtype, at, sum, add);
    }
  }
}

// A block sums along one line, as many elements at a time as it has threads.
template <typename C>
__global__ void SumLongLines(const AxisView view, const void* data, DType dtype, void* out,
                             DType out_dtype, bool add, bool from_last) {
  __shared__ C sums[2][kThreads];
  const int t = static_cast<int>(threadIdx.x);
  for (int64_t line = blockIdx.x; line < view.lines(); line += gridDim.x) {
    const int64_t base = view.First(line);
    C before = 0;  // the sum of what came before these elements
    for (int64_t first = 0; first < view.length; first += kThreads) {
      const int64_t k = first + t;
      const bool inside = k < view.length;
      const int64_t at = base + (from_last ? view.length - 1 - k : k) * view.inner;
      int now = 0;
      sums[now][t] = inside ? LoadElement<C>(data, dtype, at) : C{0};
      __syncthreads();
      for (int width = 1; width < kThreads; width *= 2) {
        sums[1 - now][t] = t < width ? sums[now][t] : sums[now][t - width] + sums[now][t];
        now = 1 - now;
        __syncthreads();
      }
      if (inside) {
        StoreElement(out, out_dtype, at, static_cast<C>(before + sums[now][t]), add);
      }
      before += sums[now][kThreads - 1];
      __syncthreads();  // until all have read it
    }
  }
}

// The axis is one of `shape`, the forward input's.
absl::Status RunCumsum(const KernelContext& c, const Shape& shape, bool from_last) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  const ArrayView& data = c.inputs[0];
  const ArrayView& out = c.outputs[0];
  COOPER_ASSIGN_OR_RETURN(const AxisView view, AxisView::Along(shape, c.param<CumsumParam>().axis));
  if (out.size() == 0) return absl::OkStatus();
  const bool add = c.reqs[0] == WriteReq::kAdd;
  return DispatchCompute(out.dtype, /*exact_integers=*/true, [&](auto zero) {
    using C = decltype(zero);
    if (view.length < kLongLine) {
      return LaunchElements(c, view.lines(), SumLines<C>, view, data.data, data.dtype, out.data,
                            out.dtype, add, from_last);
    }
    return Launch(c, dim3(BlocksFor(view.lines(), kMaxBlocks)), dim3(kThreads), SumLongLines<C>,
                  view, data.data, data.dtype, out.data, out.dtype, add, from_last);
  });
}

absl::Status CumsumGpu(const KernelContext& c) { return RunCumsum(c, c.inputs[0].shape, false); }

absl::Status CumsumBackwardGpu(const KernelContext& c) {
  return RunCumsum(c, c.outputs[0].shape, true);
}

COOPER_REGISTER_KERNEL(argmax, DeviceType::kGpu, kAnyDType, SearchGpu<IsGreater>);
COOPER_REGISTER_KERNEL(argmin, DeviceType::kGpu, kAnyDType, SearchGpu<IsLess>);
COOPER_REGISTER_KERNEL(argmax_channel, DeviceType::kGpu, kAnyDType, ArgmaxChannelGpu);
COOPER_REGISTER_KERNEL(_np_cumsum, DeviceType::kGpu, kAnyDType, CumsumGpu);
COOPER_REGISTER_KERNEL(_backward_np_cumsum, DeviceType::kGpu, kAnyDType, CumsumBackwardGpu);

}  // namespace
}  // namespace cooper
