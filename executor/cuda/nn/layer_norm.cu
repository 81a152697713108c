// GPU kernels of LayerNorm, GroupNorm, InstanceNorm and their gradients. With xhat = (x - mean) /
// std and w = ograd * gamma:
//   d x = (w - mean(w) - xhat * mean(w * xhat)) / std,
//   d gamma = sum(ograd * xhat), d beta = sum(ograd).

#include <cstdint>

#include "absl/status/status.h"
#include "executor/cuda/elements.h"
#include "executor/cuda/reduce/set_reduce.h"
#include "executor/kernel.h"
#include "ndarray/status_macros.h"
#include "symbol/ops/nn/norm_param.h"

namespace cooper {
namespace {

// The sets that are normalized. Gamma's index is the place in the set (LayerNorm), or the set
// modulo `groups`.
struct Norm {
  SetPlan sets;
  int64_t groups;  // 0: gamma goes along the set
  double eps;
};

Norm NormOf(const LayerNormParam& param, const Shape& shape) {
  const int rank = shape.rank();
  const int axis = static_cast<int>(param.axis < 0 ? param.axis + rank : param.axis);
  return {PlanSets(shape.Product(0, axis), shape[axis], shape.Product(axis + 1, rank)), 0,
          param.eps};
}
Norm NormOf(const GroupNormParam& param, const Shape& shape) {
  const int64_t groups = param.num_groups;
  return {PlanSets(shape[0] * groups, shape.Product(1, shape.rank()) / groups, 1), groups,
          param.eps};
}
Norm NormOf(const InstanceNormParam& param, const Shape& shape) {
  return {PlanSets(shape[0] * shape[1], shape.Product(2, shape.rank()), 1), shape[1], param.eps};
}

__device__ int64_t GammaAt(int64_t groups, int64_t set, int64_t j) {
  return groups == 0 ? j : set % groups;
}

// Outputs that are not wanted are null.
template <typename T>
struct ForwardArrays {
  const T *data, *gamma, *beta;
  T *out, *mean, *std;
  bool add, add_mean, add_std;
};

template <typename T>
__global__ void Forward(SetPlan plan, ForwardArrays<T> a, int64_t groups, ComputeType<T> eps) {
  using C = ComputeType<T>;
  const SetThread thread(plan);
  const C n = static_cast<C>(plan.n);
  thread.ForEachSet([&](int64_t set) {
    const C mean = thread.SumOver<C>(set, [&](int64_t i, int64_t) {
      return ConvertElement<C>(a.data[i]);
    }) / n;
    const C square = thread.SumOver<C>(set, [&](int64_t i, int64_t) {
      const C d = ConvertElement<C>(a.data[i]) - mean;
      return d * d;
    });
    const C std = sqrt(square / n + eps);
    if (set < 0) return;
    if (thread.IsFirst()) {
      if (a.mean != nullptr) StoreTo(a.mean + set, mean, a.add_mean);
      if (a.std != nullptr) StoreTo(a.std + set, std, a.add_std);
    }
    if (a.out == nullptr) return;
    const C scale = C{1} / std;
    thread.ForEach(set, [&](int64_t i, int64_t j) {
      const int64_t k = GammaAt(groups, set, j);
      const C xhat = (ConvertElement<C>(a.data[i]) - mean) * scale;
      StoreTo(a.out + i, xhat * ConvertElement<C>(a.gamma[k]) + ConvertElement<C>(a.beta[k]),
              a.add);
    });
  });
}

template <typename T>
struct BackwardArrays {
  const T *ograd, *data, *gamma, *mean, *std;
};

template <typename T>
__global__ void DataGradient(SetPlan plan, BackwardArrays<T> a, int64_t groups, T* grad, bool add) {
  using C = ComputeType<T>;
  const SetThread thread(plan);
  const C n = static_cast<C>(plan.n);
  thread.ForEachSet([&](int64_t set) {
    const C mean = set < 0 ? C{0} : ConvertElement<C>(a.mean[set]);
    const C scale = set < 0 ? C{1} : C{1} / ConvertElement<C>(a.std[set]);
    const auto w = [&](int64_t i, int64_t j) {
      return ConvertElement<C>(a.ograd[i]) * ConvertElement<C>(a.gamma[GammaAt(groups, set, j)]);
    };
    const auto xhat = [&](int64_t i) { return (ConvertElement<C>(a.data[i]) - mean) * scale; };
    C sum = 0, dot = 0;
    thread.ForEach(set, [&](int64_t i, int64_t j) {
      sum += w(i, j);
      dot += w(i, j) * xhat(i);
    });
    const C w_mean = thread.Sum(sum) / n;
    const C slope = thread.Sum(dot) / n;
    thread.ForEach(set, [&](int64_t i, int64_t j) {
      StoreTo(grad + i, (w(i, j) - w_mean - xhat(i) * slope) * scale, add);
    });
  });
}

// The sets of `plan` are the channels that one element of gamma stands for; place j of a channel
// is in the normalized set j (LayerNorm) or j / inner * n + channel.
template <typename T>
__global__ void GammaGradient(SetPlan plan, BackwardArrays<T> a, bool along_set, T* gamma_grad,
                              bool add_gamma, T* beta_grad, bool add_beta) {
  using C = ComputeType<T>;
  const SetThread thread(plan);
  thread.ForEachSet([&](int64_t k) {
    C sum = 0, dot = 0;
    thread.ForEach(k, [&](int64_t i, int64_t j) {
      const int64_t set = along_set ? j : j / plan.inner * plan.n + k;
      const C g = ConvertElement<C>(a.ograd[i]);
      sum += g;
      dot += g * (ConvertElement<C>(a.data[i]) - ConvertElement<C>(a.mean[set])) /
             ConvertElement<C>(a.std[set]);
    });
    dot = thread.Sum(dot);
    sum = thread.Sum(sum);
    if (k < 0 || !thread.IsFirst()) return;
    if (gamma_grad != nullptr) StoreTo(gamma_grad + k, dot, add_gamma);
    if (beta_grad != nullptr) StoreTo(beta_grad + k, sum, add_beta);
  });
}

// Null where nothing is to be written.
template <typename T>
T* Wanted(const KernelContext& c, int i) {
  return c.reqs[i] == WriteReq::kNull ? nullptr : c.outputs[i].as<T>();
}

template <typename Param>
absl::Status ForwardGpu(const KernelContext& c) {
  using enum LayerNormArrays::Input;
  const Norm norm = NormOf(c.param<Param>(), c.inputs[kData].shape);
  return DispatchCudaFloat(c.inputs[kData].dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    const ForwardArrays<T> a{.data = c.inputs[kData].as<T>(),
                             .gamma = c.inputs[kGamma].as<T>(),
                             .beta = c.inputs[kBeta].as<T>(),
                             .out = Wanted<T>(c, 0),
                             .mean = Wanted<T>(c, 1),
                             .std = Wanted<T>(c, 2),
                             .add = c.reqs[0] == WriteReq::kAdd,
                             .add_mean = c.reqs[1] == WriteReq::kAdd,
                             .add_std = c.reqs[2] == WriteReq::kAdd};
    return LaunchSets(c, norm.sets, Forward<T>, a, norm.groups,
                      static_cast<ComputeType<T>>(norm.eps));
  });
}

template <typename Param>
absl::Status BackwardGpu(const KernelContext& c) {
  using enum LayerNormGradientArrays::Input;
  const Norm norm = NormOf(c.param<Param>(), c.inputs[kData].shape);
  const SetPlan& s = norm.sets;
  return DispatchCudaFloat(c.inputs[kData].dtype, [&](auto type) -> absl::Status {
    using T = typename decltype(type)::type;
    const BackwardArrays<T> a{.ograd = c.inputs[kOgrad].as<T>(),
                              .data = c.inputs[kData].as<T>(),
                              .gamma = c.inputs[kGamma].as<T>(),
                              .mean = c.inputs[kMean].as<T>(),
                              .std = c.inputs[kStd].as<T>()};
    if (c.reqs[1] != WriteReq::kNull || c.reqs[2] != WriteReq::kNull) {
      const SetPlan channels = norm.groups == 0
                                   ? PlanChannels(s.outer, s.n, s.inner)
                                   : PlanChannels(s.outer / norm.groups, norm.groups, s.n);
      COOPER_RETURN_IF_ERROR(LaunchSets(c, channels, GammaGradient<T>, a, norm.groups == 0,
                                        Wanted<T>(c, 1), c.reqs[1] == WriteReq::kAdd,
                                        Wanted<T>(c, 2), c.reqs[2] == WriteReq::kAdd));
    }
    if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
    return LaunchSets(c, s, DataGradient<T>, a, norm.groups, c.outputs[0].as<T>(),
                      c.reqs[0] == WriteReq::kAdd);
  });
}

constexpr DeviceType kGpu = DeviceType::kGpu;
COOPER_REGISTER_KERNEL(LayerNorm, kGpu, kCudaFloats, ForwardGpu<LayerNormParam>);
COOPER_REGISTER_KERNEL(_backward_LayerNorm, kGpu, kCudaFloats, BackwardGpu<LayerNormParam>);
COOPER_REGISTER_KERNEL(GroupNorm, kGpu, kCudaFloats, ForwardGpu<GroupNormParam>);
COOPER_REGISTER_KERNEL(_backward_GroupNorm, kGpu, kCudaFloats, BackwardGpu<GroupNormParam>);
COOPER_REGISTER_KERNEL(InstanceNorm, kGpu, kCudaFloats, ForwardGpu<InstanceNormParam>);
COOPER_REGISTER_KERNEL(_backward_InstanceNorm, kGpu, kCudaFloats, BackwardGpu<InstanceNormParam>);

}  // namespace
}  // namespace cooper
