// Kernels of Pooling, Pooling_v1 and their gradients.

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "absl/status/status.h"
#include "executor/cpu/dispatch_float.h"
#include "executor/cpu/row_grain.h"
#include "executor/kernel.h"
#include "ndarray/parallel.h"
#include "symbol/ops/nn/pooling_param.h"

namespace cooper {
namespace {

// One image and channel is a plane: three spatial axes, those that are missing being 1 in front,
// whose elements are `step` apart.
struct Planes {
  int64_t count = 0, channels = 0, step = 1;
  int64_t in[3] = {1, 1, 1};
  int64_t out[3] = {1, 1, 1};
  int64_t kernel[3] = {1, 1, 1};
  int64_t stride[3] = {1, 1, 1};
  int64_t pad[3] = {0, 0, 0};

  int64_t in_size() const { return in[0] * in[1] * in[2]; }
  int64_t out_size() const { return out[0] * out[1] * out[2]; }
  // The first element of plane i, in an array whose planes have `size` elements.
  int64_t Begin(int64_t i, int64_t size) const {
    return step == 1 ? i * size : i / channels * size * channels + i % channels;
  }
};

Planes PlanesOf(const PoolingParam& param, const Shape& data, const Shape& output) {
  Planes p;
  const bool last = ChannelsLast(param.layout);
  const int spatial = data.rank() - 2;
  p.channels = data[last ? spatial + 1 : 1];
  p.count = data[0] * p.channels;
  p.step = last ? p.channels : 1;
  for (int i = 0; i < spatial; ++i) {
    const int at = 3 - spatial + i;
    p.in[at] = data[i + (last ? 1 : 2)];
    p.out[at] = output[i + (last ? 1 : 2)];
    p.kernel[at] = param.global_pool ? p.in[at] : param.kernel[i];
    if (param.global_pool) continue;
    p.stride[at] = WindowValue(param.stride, i, 1);
    p.pad[at] = WindowValue(param.pad, i, 0);
  }
  return p;
}

// A window's elements inside the image, [begin, end), and the divisor of its mean.
struct Window {
  int64_t begin[3], end[3];
  int64_t divisor = 1;
  bool padded = false;  // whether it holds padding too

  template <typename Fn>  // fn(index within the plane, in elements)
  void ForEach(const Planes& p, Fn&& fn) const {
    for (int64_t d = begin[0]; d < end[0]; ++d) {
      for (int64_t h = begin[1]; h < end[1]; ++h) {
        const int64_t row = (d * p.in[1] + h) * p.in[2];
        for (int64_t w = begin[2]; w < end[2]; ++w) fn((row + w) * p.step);
      }
    }
  }
};

Window WindowAt(const Planes& p, int64_t position, bool count_pad, bool v1) {
  const int64_t at[3] = {position / (p.out[1] * p.out[2]), position / p.out[2] % p.out[1],
                         position % p.out[2]};
  Window w;
  int64_t with_pad = 1, inside = 1;
  for (int i = 0; i < 3; ++i) {
    const int64_t begin = at[i] * p.stride[i] - p.pad[i];
    const int64_t end = std::min(begin + p.kernel[i], p.in[i] + p.pad[i]);
    w.begin[i] = std::max<int64_t>(begin, 0);
    w.end[i] = std::max(std::min(end, p.in[i]), w.begin[i]);
    with_pad *= end - begin;
    inside *= w.end[i] - w.begin[i];
    w.padded |= begin < 0 || end > p.in[i];
  }
  // The older operator divides by the kernel even where "full" lets it reach beyond the padding.
  const int64_t kernel = p.kernel[0] * p.kernel[1] * p.kernel[2];
  w.divisor = std::max<int64_t>(v1 ? kernel : count_pad ? with_pad : inside, 1);
  return w;
}

template <typename C>
C Power(C x, int64_t p) {
  return p == 1 ? x : p == 2 ? x * x : x * x * x;
}
template <typename C>
C Root(C x, int64_t p) {
  return p == 1 ? x : p == 2 ? std::sqrt(x) : std::cbrt(x);
}

template <typename Param, typename T>
class Pooling {
 public:
  using C = ComputeType<T>;
  static constexpr bool kV1 = std::is_same_v<Param, PoolingV1Param>;

  Pooling(const Param& param, const Shape& data, const Shape& output)
      : param_(param), planes_(PlanesOf(param, data, output)) {}

  void Forward(const T* data, T* out, bool add) const {
    ForEachWindow([&](int64_t plane, int64_t position, const Window& w) {
      const T* from = data + planes_.Begin(plane, planes_.in_size());
      T* to = out + planes_.Begin(plane, planes_.out_size()) + position * planes_.step;
      Store(to, ValueOf(w, from), add);
    });
  }

  // grad += the gradient; the caller has set it to zero for kWrite.
  void BackwardAdd(const T* ograd, const T* data, T* grad) const {
    ForEachWindow([&](int64_t plane, int64_t position, const Window& w) {
      const C g = Load(ograd[planes_.Begin(plane, planes_.out_size()) + position * planes_.step]);
      const int64_t begin = planes_.Begin(plane, planes_.in_size());
      AddGradient(w, g, data == nullptr ? nullptr : data + begin, grad + begin);
    });
  }

 private:
  // Planes share nothing, so that threads may take one each.
  template <typename Fn>
  void ForEachWindow(Fn&& fn) const {
    const bool count_pad = param_.count_include_pad.value_or(true);
    const int64_t positions = planes_.out_size();
    const int64_t cost = positions * planes_.kernel[0] * planes_.kernel[1] * planes_.kernel[2];
    ParallelForPlain(planes_.count, RowGrain(cost), [&](int64_t begin, int64_t end) {
      for (int64_t position = 0; position < positions; ++position) {
        const Window w = WindowAt(planes_, position, count_pad, kV1);
        for (int64_t i = begin; i < end; ++i) fn(i, position, w);
      }
    });
  }

  // The maximum, and where it is first reached; -1 if that is padding or nowhere.
  C Max(const Window& w, const T* from, int64_t* where) const {
    const bool sees_padding = kV1 && w.padded;
    C top = sees_padding ? C(0) : std::numeric_limits<C>::lowest();
    *where = -1;
    w.ForEach(planes_, [&](int64_t i) {
      if (Load(from[i]) > top || (*where < 0 && Load(from[i]) == top)) {
        top = Load(from[i]);
        *where = i;
      }
    });
    return top;
  }

  C Sum(const Window& w, const T* from) const {
    C sum = 0;
    if (param_.pool_type == PoolingParam::kLp) {
      w.ForEach(planes_, [&](int64_t i) { sum += Power(Load(from[i]), *param_.p_value); });
    } else {
      w.ForEach(planes_, [&](int64_t i) { sum += Load(from[i]); });
    }
    return sum;
  }

  C ValueOf(const Window& w, const T* from) const {
    int64_t where;
    switch (param_.pool_type) {
      case PoolingParam::kMax:
        return Max(w, from, &where);
      case PoolingParam::kAvg:
        return Sum(w, from) / static_cast<C>(w.divisor);
      case PoolingParam::kSum:
        return Sum(w, from);
      case PoolingParam::kLp:
        return Root(Sum(w, from), *param_.p_value);
    }
    return C(0);
  }

  void AddGradient(const Window& w, C g, const T* data, T* grad) const {
    switch (param_.pool_type) {
      case PoolingParam::kMax: {
        int64_t where;
        const C top = Max(w, data, &where);
        if (kV1) {
          // The older operator gives it to every element that reaches the maximum.
          w.ForEach(planes_, [&](int64_t i) {
            if (Load(data[i]) == top) Store(grad + i, g, true);
          });
        } else if (where >= 0) {
          Store(grad + where, g, true);
        }
        return;
      }
      case PoolingParam::kAvg:
        g /= static_cast<C>(w.divisor);
        [[fallthrough]];
      case PoolingParam::kSum:
        w.ForEach(planes_, [&](int64_t i) { Store(grad + i, g, true); });
        return;
      case PoolingParam::kLp: {
        // d y / d x = (x / y)^(p - 1)
        const int64_t p = *param_.p_value;
        const C y = Root(Sum(w, data), p);
        if (y == 0) return;
        w.ForEach(planes_, [&](int64_t i) {
          const C ratio = Load(data[i]) / y;
          Store(grad + i, p == 1 ? g : p == 2 ? g * ratio : g * ratio * ratio, true);
        });
        return;
      }
    }
  }

  const Param& param_;
  const Planes planes_;
};

template <typename Param>
absl::Status PoolingCpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  return DispatchFloat(c.outputs[0].dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    Pooling<Param, T>(c.param<Param>(), c.inputs[0].shape, c.outputs[0].shape)
        .Forward(c.inputs[0].as<T>(), c.outputs[0].as<T>(), c.reqs[0] == WriteReq::kAdd);
  });
}

template <typename Param>
absl::Status PoolingBackwardCpu(const KernelContext& c) {
  using enum PoolingGradientArrays::Input;
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  return DispatchFloat(c.outputs[0].dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    T* grad = c.outputs[0].as<T>();
    if (c.reqs[0] == WriteReq::kWrite) std::fill_n(grad, c.outputs[0].size(), T(0));
    Pooling<Param, T>(c.param<Param>(), c.outputs[0].shape, c.inputs[kOgrad].shape)
        .BackwardAdd(c.inputs[kOgrad].as<T>(),
                     c.inputs.size() > kData ? c.inputs[kData].as<T>() : nullptr, grad);
  });
}

COOPER_REGISTER_KERNEL(Pooling, DeviceType::kCpu, kFloats, PoolingCpu<PoolingParam>);
COOPER_REGISTER_KERNEL(_backward_Pooling, DeviceType::kCpu, kFloats,
                       PoolingBackwardCpu<PoolingParam>);
COOPER_REGISTER_KERNEL(Pooling_v1, DeviceType::kCpu, kFloats, PoolingCpu<PoolingV1Param>);
COOPER_REGISTER_KERNEL(_backward_Pooling_v1, DeviceType::kCpu, kFloats,
                       PoolingBackwardCpu<PoolingV1Param>);

}  // namespace
}  // namespace cooper
