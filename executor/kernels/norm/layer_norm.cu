// GPU kernels of LayerNorm, GroupNorm, InstanceNorm and their gradients. With xhat = (x - mean) /
// std and w = ograd * gamma:
//   d x = (w - mean(w) - xhat * mean(w * xhat)) / std,
//   d gamma = sum(ograd * xhat), d beta = sum(ograd).

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"
#include "executor/kernels/norm/gamma_gradient.h"
#include "executor/kernels/reducers/set_reduce.h"
#include "executor/kernels/reducers/set_values.h"
#include "executor/program/kernel.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/nn/norm_param.h"

namespace cooper {
namespace {

// The sets that are normalized. The index into gamma is the position in the set (LayerNorm), or the
// set modulo `groups`.
struct Norm {
  SetPlan sets;
  int64_t groups;  // 0: gamma goes along the set
  double eps;
};

Norm NormOf(const LayerNormParam& param, const Shape& shape, int most_threads) {
  const int rank = shape.rank();
  const int axis = static_cast<int>(param.axis < 0 ? param.axis + rank : param.axis);
  return {
      PlanSets(shape.Product(0, axis), shape[axis], shape.Product(axis + 1, rank), most_threads), 0,
      param.eps};
}
Norm NormOf(const GroupNormParam& param, const Shape& shape, int most_threads) {
  const int64_t groups = param.num_groups;
  return {PlanSets(shape[0] * groups, shape.Product(1, shape.rank()) / groups, 1, most_threads),
          groups, param.eps};
}
Norm NormOf(const InstanceNormParam& param, const Shape& shape, int most_threads) {
  return {PlanSets(shape[0] * shape[1], shape.Product(2, shape.rank()), 1, most_threads), shape[1],
          param.eps};
}

__device__ int64_t GammaAt(int64_t groups, int64_t set, int64_t j) {
  return groups == 0 ? j : set % groups;
}

// Outputs that are not requested are null.
template <typename T>
struct ForwardArrays {
  const T *data, *gamma, *beta;
  T *out, *mean, *std;
  bool add, add_mean, add_std;
};

template <typename T, int kHeld>
__global__ void __launch_bounds__(kThreadsHolding<ComputeType<T>, kHeld>,
                                  kBlocksHolding<ComputeType<T>, kHeld>)
    Forward(SetPlan plan, ForwardArrays<T> a, int64_t groups, ComputeType<T> eps) {
  using C = ComputeType<T>;
  const SetThread thread(plan);
  const C n = static_cast<C>(plan.n);
  thread.ForEachSet([&](int64_t set) {
    const auto values =
        ValuesOf<kHeld>(thread, set, [&](int64_t i) { return ConvertElement<C>(a.data[i]); });
    const C mean = values.template Sum<C>([](int64_t, C x) { return x; }) / n;
    const C square =
        values.template Sum<C>([mean](int64_t, C x) { return (x - mean) * (x - mean); });
    const C std = sqrt(square / n + eps);
    if (set < 0) return;
    if (thread.IsFirst()) {
      if (a.mean != nullptr) StoreTo(a.mean + set, mean, a.add_mean);
      if (a.std != nullptr) StoreTo(a.std + set, std, a.add_std);
    }
    if (a.out == nullptr) return;
    const C scale = C{1} / std;
    values.ForEach([&](int64_t i, int64_t j, C x) {
      const int64_t k = GammaAt(groups, set, j);
      const C xhat = (x - mean) * scale;
      StoreTo(a.out + i, xhat * ConvertElement<C>(a.gamma[k]) + ConvertElement<C>(a.beta[k]),
              a.add);
    });
  });
}

// With groups, `partial` (outer, 2, groups) receives the terms of each set for gamma and beta;
// without groups it is null. `partial` and `grad` may be null.
template <typename T, int kHeld>
__global__ void __launch_bounds__(kThreadsHolding<ComputeType<T>, kHeld>,
                                  kBlocksHolding<ComputeType<T>, kHeld>)
    DataGradient(SetPlan plan, BackwardArrays<T> a, int64_t groups, T* grad, bool add,
                 ComputeType<T>* partial) {
  using C = ComputeType<T>;
  using Pair = GradientPair<C>;
  const SetThread thread(plan);
  const C n = static_cast<C>(plan.n);
  thread.ForEachSet([&](int64_t set) {
    const C mean = set < 0 ? C{0} : ConvertElement<C>(a.mean[set]);
    const C scale = set < 0 ? C{1} : C{1} / ConvertElement<C>(a.std[set]);
    const auto values = ValuesOf<kHeld>(thread, set, [&](int64_t i) {
      return Pair{ConvertElement<C>(a.ograd[i]), ConvertElement<C>(a.data[i])};
    });
    // If gamma is the same for the whole set, the sums are computed without it and multiplied
    // later.
    const C factor =
        set < 0 || groups == 0 ? C{1} : ConvertElement<C>(a.gamma[GammaAt(groups, set, 0)]);
    const auto w = [&](int64_t j, const Pair& p) {
      return groups == 0 ? p.ograd * ConvertElement<C>(a.gamma[j]) : p.ograd;
    };
    const auto xhat = [&](const Pair& p) { return (p.data - mean) * scale; };
    C sum = 0, dot = 0;
    values.ForEach([&](int64_t, int64_t j, const Pair& p) {
      sum += w(j, p);
      dot += w(j, p) * xhat(p);
    });
    sum = thread.Sum(sum);
    dot = thread.Sum(dot);
    if (partial != nullptr && set >= 0 && thread.IsFirst()) {
      C* const own = partial + set / groups * 2 * groups + set % groups;
      own[0] = dot;
      own[groups] = sum;
    }
    if (grad == nullptr) return;
    const C w_mean = sum / n, slope = dot / n;
    values.ForEach([&](int64_t i, int64_t j, const Pair& p) {
      StoreTo(grad + i, (w(j, p) - w_mean - xhat(p) * slope) * (scale * factor), add);
    });
  });
}

// Returns the number of partial sums that SumGammaParts adds.
int64_t GammaPartsOf(const Norm& norm) {
  if (norm.groups != 0) return norm.sets.outer / std::max<int64_t>(norm.groups, 1);
  return norm.sets.inner == 1 ? RowParts(norm.sets.outer, norm.sets.n) : 0;
}
int64_t GammaSize(const Norm& norm) { return norm.groups == 0 ? norm.sets.n : norm.groups; }

template <typename Param>
absl::StatusOr<Prepared> PrepareBackward(const PrepareContext& c) {
  using enum LayerNormGradientArrays::Input;
  const Norm norm = NormOf(c.param<Param>(), c.inputs[kData].shape, kSetThreads);
  const int64_t numbers = GammaPartsOf(norm) * 2 * GammaSize(norm);
  return Prepared{.workspace_bytes = numbers * (c.inputs[kData].dtype == DType::kFloat64 ? 8 : 4)};
}

template <typename Param>
absl::Status ForwardGpu(const KernelContext& c) {
  using enum LayerNormArrays::Input;
  const DType dtype = c.inputs[kData].dtype;
  const Norm norm = NormOf(c.param<Param>(), c.inputs[kData].shape, MaxThreadsFor(dtype, dtype));
  return DispatchCudaFloat(dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    const ForwardArrays<T> a{.data = c.inputs[kData].as<T>(),
                             .gamma = c.inputs[kGamma].as<T>(),
                             .beta = c.inputs[kBeta].as<T>(),
                             .out = OutputOrNull<T>(c, 0),
                             .mean = OutputOrNull<T>(c, 1),
                             .std = OutputOrNull<T>(c, 2),
                             .add = c.reqs[0] == WriteReq::kAdd,
                             .add_mean = c.reqs[1] == WriteReq::kAdd,
                             .add_std = c.reqs[2] == WriteReq::kAdd};
    return DispatchHeld<ComputeType<T>, kManyHeld>(norm.sets, [&](auto held) {
      return LaunchSets(c, norm.sets, Forward<T, decltype(held)::value>, a, norm.groups,
                        static_cast<ComputeType<T>>(norm.eps));
    });
  });
}

// Computes the gradients of gamma and beta. With groups it adds the sums that DataGradient wrote to
// the workspace.
template <typename T>
absl::Status GammaGradients(const KernelContext& c, const Norm& norm, const BackwardArrays<T>& a) {
  const SetPlan& s = norm.sets;
  T *const gamma = OutputOrNull<T>(c, 1), *const beta = OutputOrNull<T>(c, 2);
  const bool add_gamma = c.reqs[1] == WriteReq::kAdd, add_beta = c.reqs[2] == WriteReq::kAdd;
  const int64_t size = GammaSize(norm), parts = GammaPartsOf(norm);
  // Without channels InstanceNorm has no groups, as LayerNorm, and no output to write.
  if (size == 0 || c.outputs[1].size() == 0) return absl::OkStatus();
  if (norm.groups == 0 && s.inner != 1) {
    return LaunchSets(c, PlanChannels(s.outer, s.n, s.inner), GammaGradient<T>, a, gamma, add_gamma,
                      beta, add_beta);
  }
  auto* const partial = static_cast<ComputeType<T>*>(c.workspace);
  if (norm.groups == 0) {
    const int64_t blocks = (s.n + kPartColumns - 1) / kPartColumns;
    COOPER_RETURN_IF_ERROR(
        Launch(c, dim3(static_cast<unsigned>(blocks), static_cast<unsigned>(parts)),
               dim3(kPartColumns, kPartRows), GammaParts<T>, s.outer, s.n, a, partial));
  }
  return LaunchElements(c, 2 * size, SumGammaParts<T>, parts, size, partial, gamma, add_gamma, beta,
                        add_beta);
}

template <typename Param>
absl::Status BackwardGpu(const KernelContext& c) {
  using enum LayerNormGradientArrays::Input;
  const DType dtype = c.inputs[kData].dtype;
  const Norm norm = NormOf(c.param<Param>(), c.inputs[kData].shape, MaxThreadsFor(dtype, dtype));
  const SetPlan& s = norm.sets;
  return DispatchCudaFloat(dtype, [&](auto type) -> absl::Status {
    using T = typename decltype(type)::type;
    const BackwardArrays<T> a{.ograd = c.inputs[kOgrad].as<T>(),
                              .data = c.inputs[kData].as<T>(),
                              .gamma = c.inputs[kGamma].as<T>(),
                              .mean = c.inputs[kMean].as<T>(),
                              .std = c.inputs[kStd].as<T>()};
    const bool gammas = c.reqs[1] != WriteReq::kNull || c.reqs[2] != WriteReq::kNull;
    using C = ComputeType<T>;
    C* const partial = gammas && norm.groups != 0 ? static_cast<C*>(c.workspace) : nullptr;
    T* const grad = OutputOrNull<T>(c, 0);
    if (grad != nullptr || partial != nullptr) {
      const absl::Status status = DispatchHeld<C, kManyHeld>(s, [&](auto held) {
        return LaunchSets(c, s, DataGradient<T, decltype(held)::value>, a, norm.groups, grad,
                          c.reqs[0] == WriteReq::kAdd, partial);
      });
      COOPER_RETURN_IF_ERROR(status);
    }
    return gammas ? GammaGradients(c, norm, a) : absl::OkStatus();
  });
}

constexpr DeviceType kGpu = DeviceType::kGpu;
COOPER_REGISTER_KERNEL(LayerNorm, kGpu, kCudaFloats, ForwardGpu<LayerNormParam>);
COOPER_REGISTER_KERNEL(_backward_LayerNorm, kGpu, kCudaFloats, BackwardGpu<LayerNormParam>,
                       PrepareBackward<LayerNormParam>);
COOPER_REGISTER_KERNEL(GroupNorm, kGpu, kCudaFloats, ForwardGpu<GroupNormParam>);
COOPER_REGISTER_KERNEL(_backward_GroupNorm, kGpu, kCudaFloats, BackwardGpu<GroupNormParam>,
                       PrepareBackward<GroupNormParam>);
COOPER_REGISTER_KERNEL(InstanceNorm, kGpu, kCudaFloats, ForwardGpu<InstanceNormParam>);
COOPER_REGISTER_KERNEL(_backward_InstanceNorm, kGpu, kCudaFloats, BackwardGpu<InstanceNormParam>,
                       PrepareBackward<InstanceNormParam>);

}  // namespace
}  // namespace cooper
