// GPU kernels of Pooling, Pooling_v1 and their gradients. A gradient is gathered: a thread has one
// element of the image and adds up, in their order, the windows that reach it.

#include <cstdint>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/cuda/elements.h"
#include "executor/cuda/launch.h"
#include "executor/elements/lowest_element.h"
#include "executor/elements/pooling_span.h"
#include "executor/kernel.h"
#include "ndarray/status_macros.h"
#include "symbol/ops/nn/pooling_param.h"

namespace cooper {
namespace {

// An image of channels of three spatial axes, those that are missing being 1 in front, and the
// windows over it.
struct Geometry {
  int64_t in[3], out[3], kernel[3], stride[3], pad[3];
  int64_t channels = 1;
  bool channels_last = false, count_pad = true, v1 = false;
  PoolingParam::Type type = PoolingParam::kMax;
  int p = 1;  // of lp

  __device__ int64_t in_size() const { return in[0] * in[1] * in[2]; }
  __device__ int64_t out_size() const { return out[0] * out[1] * out[2]; }
  __device__ int64_t step() const { return channels_last ? channels : 1; }
  // The first element of a plane, in an array whose planes have `size` elements.
  __device__ int64_t Begin(int64_t n, int64_t channel, int64_t size) const {
    return n * channels * size + channel * (channels_last ? 1 : size);
  }
  __device__ PoolingSpan SpanAt(int axis, int64_t position) const {
    return PoolingSpanAt(position, stride[axis], pad[axis], kernel[axis], in[axis]);
  }
};

template <typename Param>
Geometry GeometryOf(const Param& param, const Shape& data, const Shape& output) {
  Geometry g{.in = {1, 1, 1},
             .out = {1, 1, 1},
             .kernel = {1, 1, 1},
             .stride = {1, 1, 1},
             .pad = {0, 0, 0}};
  g.channels_last = ChannelsLast(param.layout);
  g.count_pad = param.count_include_pad.value_or(true);
  g.v1 = std::is_same_v<Param, PoolingV1Param>;
  g.type = param.pool_type;
  g.p = static_cast<int>(param.p_value.value_or(1));
  const int spatial = data.rank() - 2;
  const int first = g.channels_last ? 1 : 2;
  g.channels = data[g.channels_last ? spatial + 1 : 1];
  for (int i = 0; i < spatial; ++i) {
    const int at = 3 - spatial + i;
    g.in[at] = data[first + i];
    g.out[at] = output[first + i];
    g.kernel[at] = param.global_pool ? g.in[at] : param.kernel[i];
    if (param.global_pool) continue;
    g.stride[at] = WindowValue(param.stride, i, 1);
    g.pad[at] = WindowValue(param.pad, i, 0);
  }
  return g;
}

// Where element i of an array of planes of these extents is.
struct Place {
  int64_t n, channel, at[3];

  __device__ Place(const Geometry& g, const int64_t (&extents)[3], int64_t i) {
    if (g.channels_last) {
      channel = i % g.channels;
      i /= g.channels;
    }
    for (int axis = 2; axis >= 0; --axis) {
      at[axis] = i % extents[axis];
      i /= extents[axis];
    }
    if (!g.channels_last) {
      channel = i % g.channels;
      i /= g.channels;
    }
    n = i;
  }
};

struct Window {
  PoolingSpan d, h, w;

  __device__ Window(const Geometry& g, const int64_t (&at)[3])
      : d(g.SpanAt(0, at[0])), h(g.SpanAt(1, at[1])), w(g.SpanAt(2, at[2])) {}

  __device__ bool padded() const { return d.padded || h.padded || w.padded; }
  // Of its mean.
  __device__ int64_t Divisor(const Geometry& g) const {
    const int64_t inside = (d.end - d.begin) * (h.end - h.begin) * (w.end - w.begin);
    const int64_t elements = g.v1          ? g.kernel[0] * g.kernel[1] * g.kernel[2]
                             : g.count_pad ? d.with_pad * h.with_pad * w.with_pad
                                           : inside;
    return elements > 1 ? elements : 1;
  }
  // Calls fn(index in the plane) for each element.
  template <typename Fn>
  __device__ void ForEach(const Geometry& g, Fn&& fn) const {
    for (int64_t z = d.begin; z < d.end; ++z) {
      for (int64_t y = h.begin; y < h.end; ++y) {
        const int64_t row = (z * g.in[1] + y) * g.in[2];
        for (int64_t x = w.begin; x < w.end; ++x) fn((row + x) * g.step());
      }
    }
  }
};

// The maximum, and where it is first reached; -1 if that is padding or nowhere.
template <typename T>
__device__ ComputeType<T> Max(const Geometry& g, const Window& w, const T* from, int64_t* where) {
  using C = ComputeType<T>;
  C top = g.v1 && w.padded() ? C{0} : kLowestElement<T>;
  *where = -1;
  w.ForEach(g, [&](int64_t i) {
    const C x = ConvertElement<C>(from[i]);
    if (x > top || (*where < 0 && x == top)) {
      top = x;
      *where = i;
    }
  });
  return top;
}

// Of lp its root.
template <typename T>
__device__ ComputeType<T> Sum(const Geometry& g, const Window& w, const T* from) {
  using C = ComputeType<T>;
  C sum = 0;
  const int p = g.type == PoolingParam::kLp ? g.p : 1;
  w.ForEach(g, [&](int64_t i) {
    const C x = ConvertElement<C>(from[i]);
    sum += p == 1 ? x : p == 2 ? x * x : x * x * x;
  });
  return p == 1 ? sum : p == 2 ? sqrt(sum) : cbrt(sum);
}

template <typename T>
__global__ void Forward(int64_t count, Geometry g, const T* data, T* out, bool add) {
  using C = ComputeType<T>;
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) {
    const Place place(g, g.out, i);
    const Window w(g, place.at);
    const T* from = data + g.Begin(place.n, place.channel, g.in_size());
    C value;
    if (g.type == PoolingParam::kMax) {
      int64_t where;
      value = Max(g, w, from, &where);
    } else {
      value = Sum(g, w, from);
      if (g.type == PoolingParam::kAvg) value /= static_cast<C>(w.Divisor(g));
    }
    StoreTo(out + i, value, add);
  }
}

// What the gradient has to know of each window: of maxima where they are, in the plane (-1:
// nowhere); of lp the value.
union WindowFact {
  int64_t where;
  double value;
};

template <typename T>
__global__ void FindFacts(int64_t count, Geometry g, const T* data, WindowFact* facts) {
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) {
    const Place place(g, g.out, i);
    const Window w(g, place.at);
    const T* from = data + g.Begin(place.n, place.channel, g.in_size());
    if (g.type == PoolingParam::kMax) {
      Max(g, w, from, &facts[i].where);
    } else {
      facts[i].value = Sum(g, w, from);
    }
  }
}

// What an element of a plane gets of the gradient of the window at `at`.
template <typename T>
__device__ ComputeType<T> Share(const Geometry& g, const int64_t (&at)[3], ComputeType<T> grad,
                                const T* plane, int64_t element, const WindowFact* fact) {
  using C = ComputeType<T>;
  switch (g.type) {
    case PoolingParam::kMax: {
      if (fact->where < 0) return C{0};
      // The older operator gives it to every element that reaches the maximum.
      const bool has =
          g.v1 ? ConvertElement<C>(plane[element]) == ConvertElement<C>(plane[fact->where])
               : element == fact->where;
      return has ? grad : C{0};
    }
    case PoolingParam::kAvg:
      return grad / static_cast<C>(Window(g, at).Divisor(g));
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

template <typename T>
__global__ void Backward(int64_t count, Geometry g, const T* ograd, const T* data,
                         const WindowFact* facts, T* grad, bool add) {
  using C = ComputeType<T>;
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) {
    const Place place(g, g.in, i);
    const int64_t plane = g.Begin(place.n, place.channel, g.in_size());
    const int64_t windows = g.Begin(place.n, place.channel, g.out_size());
    // The positions on each axis whose windows hold the element.
    int64_t begin[3], end[3];
    for (int axis = 0; axis < 3; ++axis) {
      const int64_t x = place.at[axis] + g.pad[axis];
      const int64_t from = x - g.kernel[axis] + 1;
      begin[axis] = from <= 0 ? 0 : (from + g.stride[axis] - 1) / g.stride[axis];
      end[axis] = x / g.stride[axis] + 1;
      if (end[axis] > g.out[axis]) end[axis] = g.out[axis];
    }
    C sum = 0;
    for (int64_t d = begin[0]; d < end[0]; ++d) {
      for (int64_t h = begin[1]; h < end[1]; ++h) {
        for (int64_t w = begin[2]; w < end[2]; ++w) {
          const int64_t at[3] = {d, h, w};
          const int64_t from = windows + ((d * g.out[1] + h) * g.out[2] + w) * g.step();
          sum +=
              Share(g, at, ConvertElement<C>(ograd[from]), data + plane, i - plane, facts + from);
        }
      }
    }
    StoreTo(grad + i, sum, add);
  }
}

template <typename Param>
absl::Status PoolingGpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  const Geometry g = GeometryOf(c.param<Param>(), c.inputs[0].shape, c.outputs[0].shape);
  return DispatchCudaFloat(c.outputs[0].dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    const int64_t count = c.outputs[0].size();
    return LaunchElements(c, count, Forward<T>, count, g, c.inputs[0].as<T>(), c.outputs[0].as<T>(),
                          c.reqs[0] == WriteReq::kAdd);
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
  const Geometry g = GeometryOf(c.param<Param>(), c.outputs[0].shape, c.inputs[kOgrad].shape);
  return DispatchCudaFloat(c.outputs[0].dtype, [&](auto type) -> absl::Status {
    using T = typename decltype(type)::type;
    const T* data = c.inputs.size() > kData ? c.inputs[kData].as<T>() : nullptr;
    auto* facts = static_cast<WindowFact*>(c.workspace);
    if (NeedsFacts(g.type)) {
      const int64_t windows = c.inputs[kOgrad].size();
      COOPER_RETURN_IF_ERROR(LaunchElements(c, windows, FindFacts<T>, windows, g, data, facts));
    }
    const int64_t count = c.outputs[0].size();
    return LaunchElements(c, count, Backward<T>, count, g, c.inputs[kOgrad].as<T>(), data, facts,
                          c.outputs[0].as<T>(), c.reqs[0] == WriteReq::kAdd);
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
