// Kernels of LayerNorm, GroupNorm, InstanceNorm and their gradients. With xhat = (x - mean) / std
// and w = ograd * gamma / std:
//   d x = w - mean(w) - xhat * mean(w * xhat), d gamma = sum(ograd * xhat), d beta = sum(ograd).

#include <algorithm>
#include <cmath>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/cpu/dispatch_float.h"
#include "executor/cpu/nn/lane_sum.h"
#include "executor/cpu/row_grain.h"
#include "executor/kernel.h"
#include "ndarray/parallel.h"
#include "symbol/ops/nn/norm_param.h"

namespace cooper {
namespace {

// data seen as (outer, n, inner): each of the outer * inner sets of n elements, `inner` apart, is
// normalized. Gamma's index is the place in the set (LayerNorm), or the set modulo `groups`.
struct Sets {
  int64_t outer, n, inner;
  int64_t groups;  // 0: gamma goes along the set
  double eps;

  int64_t count() const { return outer * inner; }
  int64_t Begin(int64_t set) const { return set / inner * n * inner + set % inner; }
  int64_t GammaAt(int64_t set, int64_t j) const { return groups == 0 ? j : set % groups; }
  int64_t grain() const { return RowGrain(n); }
};

template <typename Param>
Sets SetsOf(const Param& param, const Shape& shape);

template <>
Sets SetsOf(const LayerNormParam& param, const Shape& shape) {
  const int rank = shape.rank();
  const int axis = static_cast<int>(param.axis < 0 ? param.axis + rank : param.axis);
  return {shape.Product(0, axis), shape[axis], shape.Product(axis + 1, rank), 0, param.eps};
}
template <>
Sets SetsOf(const GroupNormParam& param, const Shape& shape) {
  const int64_t groups = param.num_groups;
  return {shape[0] * groups, shape.Product(1, shape.rank()) / groups, 1, groups, param.eps};
}
template <>
Sets SetsOf(const InstanceNormParam& param, const Shape& shape) {
  return {shape[0] * shape[1], shape.Product(2, shape.rank()), 1, shape[1], param.eps};
}

// The sum over a set; contiguous sets in lanes.
template <typename C, typename Term>
C SumOver(const Sets& s, Term&& term) {
  if (s.inner == 1) return LaneSum<C>(s.n, term);
  C sum = 0;
  for (int64_t j = 0; j < s.n; ++j) sum += term(j);
  return sum;
}

template <typename Param, typename T>
void Forward(const KernelContext& c) {
  using enum LayerNormArrays::Input;
  using enum LayerNormArrays::Output;
  using C = ComputeType<T>;
  const Sets s = SetsOf(c.param<Param>(), c.inputs[kData].shape);
  const T* data = c.inputs[kData].as<T>();
  const T* gamma = c.inputs[kGamma].as<T>();
  const T* beta = c.inputs[kBeta].as<T>();
  const bool add = c.reqs[0] == WriteReq::kAdd;
  ParallelFor(s.count(), s.grain(), [&](int64_t begin, int64_t end) {
    for (int64_t set = begin; set < end; ++set) {
      const T* x = data + s.Begin(set);
      const int64_t step = s.inner;
      const C n = static_cast<C>(s.n);
      const C mean = SumOver<C>(s, [&](int64_t j) { return Load(x[j * step]); }) / n;
      const C square = SumOver<C>(s, [&](int64_t j) {
        const C d = Load(x[j * step]) - mean;
        return d * d;
      });
      const C std = std::sqrt(square / n + static_cast<C>(s.eps));
      if (c.reqs[kMean] != WriteReq::kNull) {
        Store(c.outputs[kMean].as<T>() + set, mean, c.reqs[kMean] == WriteReq::kAdd);
      }
      if (c.reqs[kStd] != WriteReq::kNull) {
        Store(c.outputs[kStd].as<T>() + set, std, c.reqs[kStd] == WriteReq::kAdd);
      }
      if (c.reqs[0] == WriteReq::kNull) continue;
      T* y = c.outputs[0].as<T>() + s.Begin(set);
      const C scale = C{1} / std;
      if (s.groups == 0) {
        for (int64_t j = 0; j < s.n; ++j) {
          Store(y + j * step, (Load(x[j * step]) - mean) * scale * Load(gamma[j]) + Load(beta[j]),
                add);
        }
      } else {
        const C g = Load(gamma[set % s.groups]) * scale;
        const C b = Load(beta[set % s.groups]);
        for (int64_t j = 0; j < s.n; ++j) {
          Store(y + j * step, (Load(x[j * step]) - mean) * g + b, add);
        }
      }
    }
  });
}

template <typename T>
void DataGradient(const KernelContext& c, const Sets& s) {
  using enum LayerNormGradientArrays::Input;
  using C = ComputeType<T>;
  const T* ograd = c.inputs[kOgrad].as<T>();
  const T* data = c.inputs[kData].as<T>();
  const T* gamma = c.inputs[kGamma].as<T>();
  const T* means = c.inputs[kMean].as<T>();
  const T* stds = c.inputs[kStd].as<T>();
  T* grad = c.outputs[0].as<T>();
  const bool add = c.reqs[0] == WriteReq::kAdd;
  ParallelFor(s.count(), s.grain(), [&](int64_t begin, int64_t end) {
    for (int64_t set = begin; set < end; ++set) {
      const int64_t at = s.Begin(set), step = s.inner;
      const C mean = Load(means[set]);
      const C scale = C{1} / Load(stds[set]);
      const auto w = [&](int64_t j) {
        return Load(ograd[at + j * step]) * Load(gamma[s.GammaAt(set, j)]);
      };
      const auto xhat = [&](int64_t j) { return (Load(data[at + j * step]) - mean) * scale; };
      const C n = static_cast<C>(s.n);
      const C w_mean = SumOver<C>(s, w) / n;
      const C dot = SumOver<C>(s, [&](int64_t j) { return w(j) * xhat(j); }) / n;
      for (int64_t j = 0; j < s.n; ++j) {
        Store(grad + at + j * step, (w(j) - w_mean - xhat(j) * dot) * scale, add);
      }
    }
  });
}

// Output `i` is gamma's gradient or beta's. The workspace holds one sum per gamma; sets are
// added in their order.
template <typename T>
void GammaGradient(const KernelContext& c, const Sets& s, int i) {
  using enum LayerNormGradientArrays::Input;
  using enum LayerNormGradientArrays::Output;
  using C = ComputeType<T>;
  if (c.reqs[i] == WriteReq::kNull) return;
  const T* ograd = c.inputs[kOgrad].as<T>();
  const T* data = c.inputs[kData].as<T>();
  const T* means = c.inputs[kMean].as<T>();
  const T* stds = c.inputs[kStd].as<T>();
  C* sums = static_cast<C*>(c.workspace);
  const int64_t size = c.outputs[i].size();
  std::fill_n(sums, size, C{0});
  const auto term = [&](int64_t set, int64_t at) {
    const C g = Load(ograd[at]);
    return i == kBetaGrad ? g : g * (Load(data[at]) - Load(means[set])) / Load(stds[set]);
  };
  if (s.groups == 0) {
    ParallelFor(s.n, std::max<int64_t>(16, 16384 / std::max<int64_t>(s.count(), 1)),
                [&](int64_t begin, int64_t end) {
                  for (int64_t set = 0; set < s.count(); ++set) {
                    for (int64_t j = begin; j < end; ++j) {
                      sums[j] += term(set, s.Begin(set) + j * s.inner);
                    }
                  }
                });
  } else {
    for (int64_t set = 0; set < s.count(); ++set) {
      sums[set % s.groups] +=
          LaneSum<C>(s.n, [&](int64_t j) { return term(set, s.Begin(set) + j); });
    }
  }
  T* grad = c.outputs[i].as<T>();
  for (int64_t k = 0; k < size; ++k) Store(grad + k, sums[k], c.reqs[i] == WriteReq::kAdd);
}

absl::StatusOr<Prepared> PrepareBackward(const PrepareContext& c) {
  using enum LayerNormGradientArrays::Output;
  return Prepared{.workspace_bytes = c.outputs[kGammaGrad].size() *
                                     (c.outputs[kGammaGrad].dtype == DType::kFloat64 ? 8 : 4)};
}

template <typename Param>
absl::Status ForwardCpu(const KernelContext& c) {
  using enum LayerNormArrays::Input;
  return DispatchFloat(c.inputs[kData].dtype,
                       [&](auto type) { Forward<Param, typename decltype(type)::type>(c); });
}

template <typename Param>
absl::Status BackwardCpu(const KernelContext& c) {
  using enum LayerNormGradientArrays::Input;
  using enum LayerNormGradientArrays::Output;
  return DispatchFloat(c.inputs[kOgrad].dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    const Sets s = SetsOf(c.param<Param>(), c.inputs[kData].shape);
    GammaGradient<T>(c, s, kGammaGrad);
    GammaGradient<T>(c, s, kBetaGrad);
    if (c.reqs[0] != WriteReq::kNull) DataGradient<T>(c, s);
  });
}

constexpr DeviceType kCpu = DeviceType::kCpu;
COOPER_REGISTER_KERNEL(LayerNorm, kCpu, kFloats, ForwardCpu<LayerNormParam>);
COOPER_REGISTER_KERNEL(_backward_LayerNorm, kCpu, kFloats, BackwardCpu<LayerNormParam>,
                       PrepareBackward);
COOPER_REGISTER_KERNEL(GroupNorm, kCpu, kFloats, ForwardCpu<GroupNormParam>);
COOPER_REGISTER_KERNEL(_backward_GroupNorm, kCpu, kFloats, BackwardCpu<GroupNormParam>,
                       PrepareBackward);
COOPER_REGISTER_KERNEL(InstanceNorm, kCpu, kFloats, ForwardCpu<InstanceNormParam>);
COOPER_REGISTER_KERNEL(_backward_InstanceNorm, kCpu, kFloats, BackwardCpu<InstanceNormParam>,
                       PrepareBackward);

}  // namespace
}  // namespace cooper
