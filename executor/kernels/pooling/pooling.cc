// Kernels of Pooling, Pooling_v1 and their gradients.

#include <algorithm>
#include <cmath>
#include <memory>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/launch/dispatch_float.h"
#include "executor/kernels/launch/row_grain.h"
#include "executor/kernels/pooling/lowest_element.h"
#include "executor/kernels/pooling/pooling_lanes.h"
#include "executor/kernels/pooling/pooling_rows.h"
#include "executor/kernels/pooling/pooling_window.h"
#include "executor/kernels/reducers/lane_sum.h"
#include "executor/program/kernel.h"
#include "ndarray/threads/cpu_level.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/nn/pooling_param.h"

namespace cooper {
namespace {

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
  // Only the common type and operator have vector code; more instances would take long to compile.
  static constexpr bool kHasLanes = std::is_same_v<T, float> && !kV1;

  Pooling(const Param& param, const PoolingPlanes& planes) : param_(param), p_(planes) {}

  void Forward(const T* data, T* out, bool add) const {
    const bool mean = param_.pool_type == PoolingParam::kAvg;
    if constexpr (kHasLanes) {
      if (IsOnePlane()) {
        return param_.pool_type == PoolingParam::kMax
                   ? ForwardOfPlanes<PoolingMax<T>>(false, data, out, add)
                   : ForwardOfPlanes<PoolingSum<T>>(mean, data, out, add);
      }
      if (HasMaxInLanes()) return ForwardInLanes<PoolingMax<T>>(false, data, out, add);
      if (HasSumInLanes()) return ForwardInLanes<PoolingSum<T>>(mean, data, out, add);
    }
    ForEachPlane([&](int64_t in, int64_t begin) {
      p_.ForEachWindow([&](int64_t position, const PoolingWindow& w) {
        Store(out + begin + position * p_.step(), ValueOf(w, data + in), add);
      });
    });
  }

  // Computes grad = the gradient, or with `add` grad += the gradient.
  void Backward(const T* ograd, const T* data, T* grad, bool add) const {
    if constexpr (kHasLanes) {
      if (HasMaxInLanes() && p_.in_size() <= int64_t{1} << 30) {
        return MaxGradientInLanes(ograd, data, grad, add);
      }
      if (HasSumInLanes()) return SumGradientInLanes(ograd, grad, add);
    }
    if (!add) std::fill_n(grad, p_.batch * p_.channels * p_.in_size(), T{});
    ForEachPlane([&](int64_t in, int64_t begin) {
      p_.ForEachWindow([&](int64_t position, const PoolingWindow& w) {
        AddGradient(w, Load(ograd[begin + position * p_.step()]),
                    data == nullptr ? nullptr : data + in, grad + in);
      });
    });
  }

 private:
  // Returns whether vector code is used. Rows with few windows gain nothing from it.
  bool HasLanes() const { return p_.channels_last || (p_.out[2] >= 4 && FitsPoolingRow(p_)); }
  // Returns whether each plane is one window whose elements are compared or summed.
  bool IsOnePlane() const {
    return p_.out_size() == 1 && param_.pool_type != PoolingParam::kLp &&
           IsWholePlane(p_.WindowAt(0, 0, 0));
  }
  bool HasMaxInLanes() const { return HasLanes() && param_.pool_type == PoolingParam::kMax; }
  bool HasSumInLanes() const {
    return HasLanes() &&
           (param_.pool_type == PoolingParam::kAvg || param_.pool_type == PoolingParam::kSum);
  }

  // Calls fn(n, channel, lanes) for each image and each group of neighbouring channels. `lanes` is
  // AllPoolingLanes or, for the last group, HalfPoolingLanes or a number of channels. Groups share
  // no data, so several threads run them.
  template <typename Fn>
  void ForEachLanes(Fn&& fn) const {
    const int64_t groups = (p_.channels + kPoolingLanes - 1) / kPoolingLanes;
    const int64_t cost = p_.out_size() * p_.kernel_size() * kPoolingLanes;
    ParallelFor(p_.batch * groups, RowGrain(cost), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t channel = i % groups * kPoolingLanes;
        const auto left = static_cast<int>(std::min<int64_t>(p_.channels - channel, kPoolingLanes));
        if (left == AllPoolingLanes()) {
          fn(i / groups, channel, AllPoolingLanes());
        } else if (left == HalfPoolingLanes()) {
          fn(i / groups, channel, HalfPoolingLanes());
        } else {
          fn(i / groups, channel, left);
        }
      }
    });
  }

  // Calls fn(offset in the image, offset in the output) for each plane.
  template <typename Fn>
  void ForEachPlane(Fn&& fn) const {
    const int64_t cost = p_.out_size() * p_.kernel_size();
    ParallelForPlain(p_.batch * p_.channels, RowGrain(cost), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t n = i / p_.channels;
        const int64_t channel = i % p_.channels;
        fn(p_.Begin(n, channel, p_.in_size()), p_.Begin(n, channel, p_.out_size()));
      }
    });
  }

  template <typename Op>
  void ForwardOfPlanes(bool mean, const T* data, T* out, bool add) const {
    const C divisor = mean ? static_cast<C>(p_.WindowAt(0, 0, 0).divisor) : C{1};
    const int64_t size = p_.in_size();
    ParallelFor(p_.batch * p_.channels, RowGrain(size), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        Store(out + i, PoolPlane<Op>(data + i * size, size) / divisor, add);
      }
    });
  }

  template <typename Op>
  void ForwardInLanes(bool mean, const T* data, T* out, bool add) const {
    if (!p_.channels_last) {
      return ForEachPlane([&](int64_t in, int64_t begin) {
        RunAtCpuLevel([&] { PoolRows<Op>(p_, mean, data + in, out + begin, add); });
      });
    }
    ForEachLanes([&](int64_t n, int64_t channel, auto lanes) {
      PoolChannels<Op>(p_, mean, n, channel, lanes, data, out, add);
    });
  }

  void SumGradientInLanes(const T* ograd, T* grad, bool add) const {
    const bool mean = param_.pool_type == PoolingParam::kAvg;
    if (!p_.channels_last) {
      return ForEachPlane([&](int64_t in, int64_t begin) {
        if (!add) std::fill_n(grad + in, p_.in_size(), T{});
        RunAtCpuLevel([&] { SumGradientRows(p_, mean, ograd + begin, grad + in); });
      });
    }
    ForEachLanes([&](int64_t n, int64_t channel, auto lanes) {
      if (!add) ZeroLanes(n, channel, lanes, grad);
      SumGradientChannels(p_, mean, n, channel, lanes, ograd, grad);
    });
  }

  void MaxGradientInLanes(const T* ograd, const T* data, T* grad, bool add) const {
    if (!p_.channels_last) {
      return ForEachPlane([&](int64_t in, int64_t begin) {
        if (!add) std::fill_n(grad + in, p_.in_size(), T{});
        RunAtCpuLevel([&] { MaxGradientRows(p_, ograd + begin, data + in, grad + in); });
      });
    }
    ForEachLanes([&](int64_t n, int64_t channel, auto lanes) {
      if (!add) ZeroLanes(n, channel, lanes, grad);
      MaxGradientChannels(p_, n, channel, lanes, ograd, data, grad);
    });
  }

  // Zeroes the gradient just before it is accumulated, so that it is in a cache.
  void ZeroLanes(int64_t n, int64_t channel, int lanes, T* grad) const {
    grad += p_.Begin(n, channel, p_.in_size());
    for (int64_t i = 0; i < p_.in_size(); ++i) std::fill_n(grad + i * p_.channels, lanes, T{});
  }

  // Returns the maximum and, in `where`, its first position; -1 if only padding or no element has
  // it.
  C Max(const PoolingWindow& w, const T* from, int64_t* where) const {
    const bool sees_padding = kV1 && w.padded;
    C top = sees_padding ? C{0} : kLowestElement<T>;
    *where = -1;
    ForEach(w, [&](int64_t i) {
      if (Load(from[i]) > top || (*where < 0 && Load(from[i]) == top)) {
        top = Load(from[i]);
        *where = i;
      }
    });
    return top;
  }

  bool IsWholePlane(const PoolingWindow& w) const {
    for (int i = 0; i < 3; ++i) {
      if (w.end[i] - w.begin[i] != p_.in[i]) return false;
    }
    return !p_.channels_last;
  }

  C Sum(const PoolingWindow& w, const T* from) const {
    C sum = 0;
    if (param_.pool_type != PoolingParam::kLp && IsWholePlane(w)) {
      return LaneSum<C>(p_.in_size(), [&](int64_t i) { return Load(from[i]); });
    }
    if (param_.pool_type == PoolingParam::kLp) {
      ForEach(w, [&](int64_t i) { sum += Power(Load(from[i]), *param_.p_value); });
    } else {
      ForEach(w, [&](int64_t i) { sum += Load(from[i]); });
    }
    return sum;
  }

  C ValueOf(const PoolingWindow& w, const T* from) const {
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
    return C{0};
  }

  void AddGradient(const PoolingWindow& w, C g, const T* data, T* grad) const {
    switch (param_.pool_type) {
      case PoolingParam::kMax: {
        int64_t where;
        const C top = Max(w, data, &where);
        if (kV1) {
          // Pooling_v1 gives the gradient to every element that equals the maximum.
          ForEach(w, [&](int64_t i) {
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
        ForEach(w, [&](int64_t i) { Store(grad + i, g, true); });
        return;
      case PoolingParam::kLp: {
        // d y / d x = (x / y)^(p - 1)
        const int64_t p = *param_.p_value;
        const C y = Root(Sum(w, data), p);
        if (p > 1 && y == 0) return;
        ForEach(w, [&](int64_t i) {
          const C ratio = Load(data[i]) / y;
          Store(grad + i, p == 1 ? g : p == 2 ? g * ratio : g * ratio * ratio, true);
        });
        return;
      }
    }
  }

  // Calls fn(index) for each element of a window, counted from the plane's first element.
  template <typename Fn>
  void ForEach(const PoolingWindow& w, Fn&& fn) const {
    const int64_t step = p_.step();
    p_.ForEachElement(w, [&](int64_t i) { fn(i * step); });
  }

  const Param& param_;
  const PoolingPlanes& p_;
};

struct PoolingState : KernelState {
  explicit PoolingState(PoolingPlanes p) : planes(std::move(p)) {}
  const PoolingPlanes planes;
};

template <typename Param>
Prepared PreparedFor(const Param& param, const Shape& data, const Shape& output) {
  return {.state = std::make_unique<PoolingState>(
              PoolingPlanes(param, data, output, std::is_same_v<Param, PoolingV1Param>))};
}

template <typename Param>
absl::StatusOr<Prepared> Prepare(const PrepareContext& c) {
  using enum PoolingArrays::Input;
  return PreparedFor(c.param<Param>(), c.inputs[kData].shape, c.outputs[0].shape);
}

template <typename Param>
absl::StatusOr<Prepared> PrepareBackward(const PrepareContext& c) {
  using enum PoolingGradientArrays::Input;
  return PreparedFor(c.param<Param>(), c.outputs[0].shape, c.inputs[kOgrad].shape);
}

template <typename Param, typename T>
Pooling<Param, T> PoolingOf(const KernelContext& c) {
  return {c.param<Param>(), static_cast<const PoolingState*>(c.state)->planes};
}

template <typename Param>
absl::Status PoolingCpu(const KernelContext& c) {
  using enum PoolingArrays::Input;
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  return DispatchFloat(c.outputs[0].dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    PoolingOf<Param, T>(c).Forward(c.inputs[kData].as<T>(), c.outputs[0].as<T>(),
                                   c.reqs[0] == WriteReq::kAdd);
  });
}

template <typename Param>
absl::Status PoolingBackwardCpu(const KernelContext& c) {
  using enum PoolingGradientArrays::Input;
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  return DispatchFloat(c.outputs[0].dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    PoolingOf<Param, T>(c).Backward(c.inputs[kOgrad].as<T>(),
                                    c.inputs.size() > kData ? c.inputs[kData].as<T>() : nullptr,
                                    c.outputs[0].as<T>(), c.reqs[0] == WriteReq::kAdd);
  });
}

COOPER_REGISTER_KERNEL(Pooling, DeviceType::kCpu, kFloats, PoolingCpu<PoolingParam>,
                       Prepare<PoolingParam>);
COOPER_REGISTER_KERNEL(_backward_Pooling, DeviceType::kCpu, kFloats,
                       PoolingBackwardCpu<PoolingParam>, PrepareBackward<PoolingParam>);
COOPER_REGISTER_KERNEL(Pooling_v1, DeviceType::kCpu, kFloats, PoolingCpu<PoolingV1Param>,
                       Prepare<PoolingV1Param>);
COOPER_REGISTER_KERNEL(_backward_Pooling_v1, DeviceType::kCpu, kFloats,
                       PoolingBackwardCpu<PoolingV1Param>, PrepareBackward<PoolingV1Param>);

}  // namespace
}  // namespace cooper
