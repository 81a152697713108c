// GPU kernels of Pooling, Pooling_v1 and their gradients. Gradients are gathered: a thread computes
// one element of the image and adds the windows that contain it, in order.

#include <cstdint>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"
#include "executor/kernels/pooling/lowest_element.h"
#include "executor/kernels/pooling/pooling_windows.h"
#include "executor/kernels/reducers/set_reduce.h"
#include "executor/program/kernel.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/nn/pooling_param.h"

namespace cooper {
namespace {

// Returns the maximum and, in `where`, its first position; -1 if only padding or no element has it.
template <typename T, typename I>
__device__ ComputeType<T> Max(const PoolingGeometry<I>& g, const PoolingSpans<I>& w, const T* from,
                              int64_t* where) {
  using C = ComputeType<T>;
  C top = g.v1 && w.padded() ? C{0} : kLowestElement<T>;
  I at = -1;
  w.ForEach(g, [&](I i) {
    const C x = ConvertElement<C>(from[i]);
    if (x > top || (at < 0 && x == top)) {
      top = x;
      at = i;
    }
  });
  *where = at;
  return top;
}

template <typename C>
__device__ C Power(C x, int p) {
  return p == 1 ? x : p == 2 ? x * x : x * x * x;
}
template <typename C>
__device__ C Root(C sum, int p) {
  return p == 1 ? sum : p == 2 ? sqrt(sum) : cbrt(sum);
}

// Returns the sum of a window; for lp pooling the root of the sum of powers.
template <typename T, typename I>
__device__ ComputeType<T> Sum(const PoolingGeometry<I>& g, const PoolingSpans<I>& w,
                              const T* from) {
  using C = ComputeType<T>;
  C sum = 0;
  const int p = g.type == PoolingParam::kLp ? g.p : 1;
  w.ForEach(g, [&](I i) { sum += Power(ConvertElement<C>(from[i]), p); });
  return Root(sum, p);
}

// The value of a window that the gradient needs: for max pooling the position of the maximum in the
// plane (-1: none), for lp pooling the result.
union WindowFact {
  int64_t where;
  double value;
};

// Calls found(window, its value, the position of its maximum) for each window.
template <typename T, typename I, typename Found>
__global__ void EachWindow(int64_t count, PoolingGeometry<I> g, const T* data, Found found) {
  using C = ComputeType<T>;
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) {
    const PoolingPlace<I> place(g, g.out, static_cast<I>(i));
    const PoolingSpans<I> w(g, place.at);
    const T* from = data + g.Begin(place.n, place.channel, g.in_size());
    C value;
    int64_t where = -1;
    if (g.type == PoolingParam::kMax) {
      value = Max(g, w, from, &where);
    } else {
      value = Sum(g, w, from);
      if (g.type == PoolingParam::kAvg) value /= static_cast<C>(w.Divisor(g));
    }
    found(i, value, where);
  }
}

// Calls found for each window, when windows are whole images. Several threads share a window; sums
// are added in a fixed order.
template <typename T, typename Found>
__global__ void EachImage(SetPlan plan, PoolingGeometry<int64_t> g, const T* data, Found found) {
  using C = ComputeType<T>;
  const SetThread thread(plan);
  const int p = g.type == PoolingParam::kLp ? g.p : 1;
  thread.ForEachSet([&](int64_t set) {
    C value = 0;
    int64_t where = -1;
    if (g.type == PoolingParam::kMax) {
      C top = kLowestElement<T>;
      int64_t first = INT64_MAX;  // the first position of this thread's maximum
      thread.ForEach(set, [&](int64_t i, int64_t at) {
        const C x = ConvertElement<C>(data[i]);
        if (x > top || (first == INT64_MAX && x == top)) {
          top = x;
          first = at;
        }
      });
      value = thread.Max(top);
      if (top != value) first = INT64_MAX;
      first = thread.Reduce(first, [](int64_t a, int64_t b) { return b < a ? b : a; });
      if (first != INT64_MAX) where = first * g.step();
    } else {
      value = thread.SumOver<C>(
          set, [&](int64_t i, int64_t) { return Power(ConvertElement<C>(data[i]), p); });
      value = Root(value, p);
      if (g.type == PoolingParam::kAvg) value /= static_cast<C>(g.in_size() > 1 ? g.in_size() : 1);
    }
    if (set >= 0 && thread.IsFirst()) found(set, value, where);
  });
}

template <typename T>
struct StoreValue {
  T* out;
  bool add;

  __device__ void operator()(int64_t i, ComputeType<T> value, int64_t) const {
    StoreTo(out + i, value, add);
  }
};

template <typename T>
struct StoreFact {
  WindowFact* facts;
  bool is_max;

  __device__ void operator()(int64_t i, ComputeType<T> value, int64_t where) const {
    if (is_max) {
      facts[i].where = where;
    } else {
      facts[i].value = value;
    }
  }
};

template <typename T, typename Found>
absl::Status RunWindows(const KernelContext& c, const PoolingGeometry<int64_t>& g, int64_t windows,
                        int64_t elements, const T* data, const Found& found) {
  // With many small images, as in the last layers of a network, one thread for each image is
  // faster: a warp's loads then touch few cache lines.
  const bool many_small = g.in_size() <= 64 && windows >= 1 << 14;
  if (windows > 0 && g.in_size() > 0 && g.IsGlobal() && !many_small) {
    const SetPlan plan = g.channels_last ? PlanSets(windows / g.channels, g.in_size(), g.channels)
                                         : PlanSets(windows, g.in_size(), 1);
    return LaunchSets(c, plan, EachImage<T, Found>, g, data, found);
  }
  return DispatchPooling(g, windows > elements ? windows : elements, [&](const auto& few) {
    using I = std::remove_cvref_t<decltype(few.channels)>;
    return LaunchElements(c, windows, EachWindow<T, I, Found>, windows, few, data, found);
  });
}

// Returns what one window contributes to the gradient of an element of a plane.
template <typename T, typename I>
__device__ ComputeType<T> Share(const PoolingGeometry<I>& g, const PoolingSpans<I>& window,
                                ComputeType<T> grad, const T* plane, I element,
                                const WindowFact* fact) {
  using C = ComputeType<T>;
  switch (g.type) {
    case PoolingParam::kMax: {
      if (fact->where < 0) return C{0};
      // Pooling_v1 gives the gradient to every element that equals the maximum.
      const bool has =
          g.v1 ? ConvertElement<C>(plane[element]) == ConvertElement<C>(plane[fact->where])
               : element == fact->where;
      return has ? grad : C{0};
    }
    case PoolingParam::kAvg:
      return grad / static_cast<C>(window.Divisor(g));
    case PoolingParam::kSum:
      return grad;
    case PoolingParam::kLp: {
      // d y / d x = (x / y)^(p - 1)
      const C y = static_cast<C>(fact->value);
      if (g.p > 1 && y == 0) return C{0};
      const C ratio = ConvertElement<C>(plane[element]) / y;
      return g.p == 1 ? grad : g.p == 2 ? grad * ratio : grad * ratio * ratio;
    }
  }
  return C{0};
}

template <typename T, typename I>
__global__ void Backward(int64_t count, PoolingGeometry<I> g, const T* ograd, const T* data,
                         const WindowFact* facts, T* grad, bool add) {
  using C = ComputeType<T>;
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) {
    const PoolingPlace<I> place(g, g.in, static_cast<I>(i));
    const I plane = g.Begin(place.n, place.channel, g.in_size());
    const I windows = g.Begin(place.n, place.channel, g.out_size());
    // The positions on each axis whose windows contain the element.
    I begin[3], end[3];
    for (int axis = 0; axis < 3; ++axis) {
      const I x = place.at[axis] + g.pad[axis];
      const I from = x - g.kernel[axis] + 1;
      begin[axis] = from <= 0 ? 0 : g.Steps(axis, from + g.stride[axis] - 1);
      end[axis] = g.Steps(axis, x) + 1;
      if (end[axis] > g.out[axis]) end[axis] = g.out[axis];
    }
    C sum = 0;
    for (I d = begin[0]; d < end[0]; ++d) {
      const PoolingAxisSpan<I> of_d = g.SpanAt(0, d);
      for (I h = begin[1]; h < end[1]; ++h) {
        const PoolingAxisSpan<I> of_h = g.SpanAt(1, h);
        for (I w = begin[2]; w < end[2]; ++w) {
          const PoolingSpans<I> window(of_d, of_h, g.SpanAt(2, w));
          const I from = windows + ((d * g.out[1] + h) * g.out[2] + w) * g.step();
          sum += Share(g, window, ConvertElement<C>(ograd[from]), data + plane,
                       static_cast<I>(i) - plane, facts + from);
        }
      }
    }
    StoreTo(grad + i, sum, add);
  }
}

// Computes the gradient when windows are whole images.
template <typename T, typename I>
__global__ void ImageBackward(int64_t count, PoolingGeometry<I> g, const T* ograd, const T* data,
                              const WindowFact* facts, T* grad, bool add) {
  using C = ComputeType<T>;
  const I size = g.in_size(), sample = g.channels_last ? g.channels * size : size;
  const I first[3] = {0, 0, 0};
  const PoolingSpans<I> window(g, first);
  const auto load = [&](int64_t i) {
    const I at = static_cast<I>(i), n = at / sample;
    const I channel = g.channels_last ? at % g.channels : 0;
    const I plane = n * sample + channel, from = g.channels_last ? n * g.channels + channel : n;
    return Share(g, window, ConvertElement<C>(ograd[from]), data + plane, at - plane, facts + from);
  };
  ForEachLoaded(count, load, [&](int64_t i, C value) { StoreTo(grad + i, value, add); });
}

template <typename Param>
absl::Status PoolingGpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  const PoolingGeometry<int64_t> g =
      PoolingGeometryOf(c.param<Param>(), c.inputs[0].shape, c.outputs[0].shape);
  return DispatchCudaFloat(c.outputs[0].dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    return RunWindows(c, g, c.outputs[0].size(), c.inputs[0].size(), c.inputs[0].as<const T>(),
                      StoreValue<T>{c.outputs[0].as<T>(), c.reqs[0] == WriteReq::kAdd});
  });
}

bool NeedsFacts(PoolingParam::Type type) {
  return type == PoolingParam::kMax || type == PoolingParam::kLp;
}

template <typename Param>
absl::StatusOr<Prepared> PrepareBackward(const PrepareContext& c) {
  using enum PoolingGradientArrays::Input;
  if (!NeedsFacts(c.param<Param>().pool_type)) return Prepared{};
  return Prepared{.workspace_bytes =
                      c.inputs[kOgrad].size() * static_cast<int64_t>(sizeof(WindowFact))};
}

template <typename Param>
absl::Status PoolingBackwardGpu(const KernelContext& c) {
  using enum PoolingGradientArrays::Input;
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  const PoolingGeometry<int64_t> g =
      PoolingGeometryOf(c.param<Param>(), c.outputs[0].shape, c.inputs[kOgrad].shape);
  return DispatchCudaFloat(c.outputs[0].dtype, [&](auto type) -> absl::Status {
    using T = typename decltype(type)::type;
    const T* data = c.inputs.size() > kData ? c.inputs[kData].as<T>() : nullptr;
    auto* facts = static_cast<WindowFact*>(c.workspace);
    const int64_t windows = c.inputs[kOgrad].size(), count = c.outputs[0].size();
    if (NeedsFacts(g.type)) {
      const StoreFact<T> store = {facts, g.type == PoolingParam::kMax};
      COOPER_RETURN_IF_ERROR(RunWindows(c, g, windows, count, data, store));
    }
    return DispatchPooling(g, windows > count ? windows : count, [&](const auto& few) {
      using I = std::remove_cvref_t<decltype(few.channels)>;
      const auto kernel = g.IsGlobal() ? ImageBackward<T, I> : Backward<T, I>;
      return LaunchElements(c, count, kernel, count, few, c.inputs[kOgrad].as<T>(), data, facts,
                            c.outputs[0].as<T>(), c.reqs[0] == WriteReq::kAdd);
    });
  });
}

constexpr DeviceType kGpu = DeviceType::kGpu;
COOPER_REGISTER_KERNEL(Pooling, kGpu, kCudaFloats, PoolingGpu<PoolingParam>);
COOPER_REGISTER_KERNEL(_backward_Pooling, kGpu, kCudaFloats, PoolingBackwardGpu<PoolingParam>,
                       PrepareBackward<PoolingParam>);
COOPER_REGISTER_KERNEL(Pooling_v1, kGpu, kCudaFloats, PoolingGpu<PoolingV1Param>);
COOPER_REGISTER_KERNEL(_backward_Pooling_v1, kGpu, kCudaFloats, PoolingBackwardGpu<PoolingV1Param>,
                       PrepareBackward<PoolingV1Param>);

}  // namespace
}  // namespace cooper
