// GPU kernels of LayerNorm, GroupNorm, InstanceNorm and their gradients. With xhat = (x - mean) /
// std and w = ograd * gamma:
//   d x = (w - mean(w) - xhat * mean(w * xhat)) / std,
//   d gamma = sum(ograd * xhat), d beta = sum(ograd).

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/cuda/elements.h"
#include "executor/cuda/launch.h"
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

// Outputs that are not wanted are null.
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

template <typename T>
struct BackwardArrays {
  const T *ograd, *data, *gamma, *mean, *std;
};

template <typename C>
struct GradientPair {
  C ograd, data;
};

template <typename T, int kHeld>
__global__ void __launch_bounds__(kThreadsHolding<ComputeType<T>, kHeld>,
                                  kBlocksHolding<ComputeType<T>, kHeld>)
    DataGradient(SetPlan plan, BackwardArrays<T> a, int64_t groups, T* grad, bool add) {
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
    const auto w = [&](int64_t j, const Pair& p) {
      return p.ograd * ConvertElement<C>(a.gamma[GammaAt(groups, set, j)]);
    };
    const auto xhat = [&](const Pair& p) { return (p.data - mean) * scale; };
    C sum = 0, dot = 0;
    values.ForEach([&](int64_t, int64_t j, const Pair& p) {
      sum += w(j, p);
      dot += w(j, p) * xhat(p);
    });
    const C w_mean = thread.Sum(sum) / n;
    const C slope = thread.Sum(dot) / n;
    values.ForEach([&](int64_t i, int64_t j, const Pair& p) {
      StoreTo(grad + i, (w(j, p) - w_mean - xhat(p) * slope) * scale, add);
    });
  });
}

// The sets of `plan` are the channels that one element of gamma stands for; place j of a channel
// is in the normalized set j (LayerNorm) or j / inner * n + channel.
template <typename T>
__global__ void __launch_bounds__(kThreadsHolding<ComputeType<T>, 0>, 1)
    GammaGradient(SetPlan plan, BackwardArrays<T> a, bool along_set, T* gamma_grad, bool add_gamma,
                  T* beta_grad, bool add_beta) {
  using C = ComputeType<T>;
  using Pair = GradientPair<C>;
  const SetThread thread(plan);
  thread.ForEachSet([&](int64_t k) {
    C sum = 0, dot = 0;
    const auto load = [&](int64_t i) {
      return Pair{ConvertElement<C>(a.ograd[i]), ConvertElement<C>(a.data[i])};
    };
    thread.ForEachLoaded(k, load, [&](int64_t, int64_t j, const Pair& p) {
      const int64_t set = along_set ? j : j / plan.inner * plan.n + k;
      sum += p.ograd;
      dot += p.ograd * (p.data - ConvertElement<C>(a.mean[set])) / ConvertElement<C>(a.std[set]);
    });
    dot = thread.Sum(dot);
    sum = thread.Sum(sum);
    if (k < 0 || !thread.IsFirst()) return;
    if (gamma_grad != nullptr) StoreTo(gamma_grad + k, dot, add_gamma);
    if (beta_grad != nullptr) StoreTo(beta_grad + k, sum, add_beta);
  });
}

// Where each row is normalized on its own (LayerNorm's last axis), rows are cut into parts, so that
// there are enough blocks; each has 32 columns, next to each other for a warp, of a part.
constexpr int kPartColumns = 32, kPartRows = 8;

int64_t RowParts(int64_t rows, int64_t columns) {
  constexpr int64_t kBlocks = 1024, kLeastPerThread = 8;
  const int64_t blocks = (columns + kPartColumns - 1) / kPartColumns;
  return std::max<int64_t>(
      1, std::min(kBlocks / std::max<int64_t>(blocks, 1), rows / (kPartRows * kLeastPerThread)));
}

// The sums of a part for gamma and for beta: partial is (parts, 2, columns).
template <typename T>
__global__ void GammaParts(int64_t rows, int64_t columns, BackwardArrays<T> a,
                           ComputeType<T>* partial) {
  using C = ComputeType<T>;
  using Pair = GradientPair<C>;
  constexpr int kLoads = 4;
  __shared__ C dots[kPartRows][kPartColumns], sums[kPartRows][kPartColumns];
  const int64_t column = blockIdx.x * int64_t{kPartColumns} + threadIdx.x;
  const int64_t parts = gridDim.y, part = blockIdx.y;
  const int64_t end = rows * (part + 1) / parts;
  C dot = 0, sum = 0;
  if (column < columns) {
    for (int64_t row = rows * part / parts + threadIdx.y; row < end; row += kLoads * kPartRows) {
      Pair values[kLoads];
#pragma unroll
      for (int k = 0; k < kLoads; ++k) {
        const int64_t r = row + k * kPartRows;
        if (r >= end) continue;
        const int64_t i = r * columns + column;
        values[k] = {ConvertElement<C>(a.ograd[i]), ConvertElement<C>(a.data[i])};
      }
#pragma unroll
      for (int k = 0; k < kLoads; ++k) {
        const int64_t r = row + k * kPartRows;
        if (r >= end) continue;
        sum += values[k].ograd;
        dot += values[k].ograd * (values[k].data - ConvertElement<C>(a.mean[r])) /
               ConvertElement<C>(a.std[r]);
      }
    }
  }
  dots[threadIdx.y][threadIdx.x] = dot;
  sums[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y != 0 || column >= columns) return;
  for (int k = 1; k < kPartRows; ++k) {
    dot += dots[k][threadIdx.x];
    sum += sums[k][threadIdx.x];
  }
  C* const own = partial + part * 2 * columns;
  own[column] = dot;
  own[columns + column] = sum;
}

// Outputs that are not wanted are null.
template <typename T>
__global__ void SumGammaParts(int64_t parts, int64_t columns, const ComputeType<T>* partial,
                              T* gamma_grad, bool add_gamma, T* beta_grad, bool add_beta) {
  using C = ComputeType<T>;
  for (int64_t i = FirstElement(); i < 2 * columns; i += ElementStep()) {
    const bool is_gamma = i < columns;
    T* const grad = is_gamma ? gamma_grad : beta_grad;
    if (grad == nullptr) continue;
    C sum = 0;
    for (int64_t part = 0; part < parts; ++part) sum += partial[part * 2 * columns + i];
    StoreTo(grad + (is_gamma ? i : i - columns), sum, is_gamma ? add_gamma : add_beta);
  }
}

bool HasRows(const Norm& norm) { return norm.groups == 0 && norm.sets.inner == 1; }

absl::StatusOr<Prepared> PrepareLayerNormBackward(const PrepareContext& c) {
  using enum LayerNormGradientArrays::Input;
  const Norm norm = NormOf(c.param<LayerNormParam>(), c.inputs[kData].shape, kSetThreads);
  if (!HasRows(norm)) return Prepared{};
  const int64_t numbers = RowParts(norm.sets.outer, norm.sets.n) * 2 * norm.sets.n;
  return Prepared{.workspace_bytes = numbers * (c.inputs[kData].dtype == DType::kFloat64 ? 8 : 4)};
}

// Null where nothing is to be written.
template <typename T>
T* Wanted(const KernelContext& c, int i) {
  return c.reqs[i] == WriteReq::kNull ? nullptr : c.outputs[i].as<T>();
}

template <typename Param>
absl::Status ForwardGpu(const KernelContext& c) {
  using enum LayerNormArrays::Input;
  const DType dtype = c.inputs[kData].dtype;
  const Norm norm = NormOf(c.param<Param>(), c.inputs[kData].shape, MostThreadsFor(dtype, dtype));
  return DispatchCudaFloat(dtype, [&](auto type) {
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
    return DispatchHeld<ComputeType<T>, kManyHeld>(norm.sets, [&](auto held) {
      return LaunchSets(c, norm.sets, Forward<T, decltype(held)::value>, a, norm.groups,
                        static_cast<ComputeType<T>>(norm.eps));
    });
  });
}

template <typename T>
absl::Status GammaGradients(const KernelContext& c, const Norm& norm, const BackwardArrays<T>& a) {
  const SetPlan& s = norm.sets;
  T *const gamma = Wanted<T>(c, 1), *const beta = Wanted<T>(c, 2);
  const bool add_gamma = c.reqs[1] == WriteReq::kAdd, add_beta = c.reqs[2] == WriteReq::kAdd;
  if (HasRows(norm)) {
    if (s.n == 0) return absl::OkStatus();
    auto* const partial = static_cast<ComputeType<T>*>(c.workspace);
    const int64_t parts = RowParts(s.outer, s.n);
    const int64_t blocks = (s.n + kPartColumns - 1) / kPartColumns;
    COOPER_RETURN_IF_ERROR(
        Launch(c, dim3(static_cast<unsigned>(blocks), static_cast<unsigned>(parts)),
               dim3(kPartColumns, kPartRows), GammaParts<T>, s.outer, s.n, a, partial));
    return LaunchElements(c, 2 * s.n, SumGammaParts<T>, parts, s.n, partial, gamma, add_gamma, beta,
                          add_beta);
  }
  const SetPlan channels = norm.groups == 0 ? PlanChannels(s.outer, s.n, s.inner)
                                            : PlanChannels(s.outer / norm.groups, norm.groups, s.n);
  return LaunchSets(c, channels, GammaGradient<T>, a, norm.groups == 0, gamma, add_gamma, beta,
                    add_beta);
}

template <typename Param>
absl::Status BackwardGpu(const KernelContext& c) {
  using enum LayerNormGradientArrays::Input;
  const DType dtype = c.inputs[kData].dtype;
  const Norm norm = NormOf(c.param<Param>(), c.inputs[kData].shape, MostThreadsFor(dtype, dtype));
  const SetPlan& s = norm.sets;
  return DispatchCudaFloat(dtype, [&](auto type) -> absl::Status {
    using T = typename decltype(type)::type;
    const BackwardArrays<T> a{.ograd = c.inputs[kOgrad].as<T>(),
                              .data = c.inputs[kData].as<T>(),
                              .gamma = c.inputs[kGamma].as<T>(),
                              .mean = c.inputs[kMean].as<T>(),
                              .std = c.inputs[kStd].as<T>()};
    if (c.reqs[1] != WriteReq::kNull || c.reqs[2] != WriteReq::kNull) {
      COOPER_RETURN_IF_ERROR(GammaGradients(c, norm, a));
    }
    if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
    return DispatchHeld<ComputeType<T>, kManyHeld>(s, [&](auto held) {
      return LaunchSets(c, s, DataGradient<T, decltype(held)::value>, a, norm.groups,
                        c.outputs[0].as<T>(), c.reqs[0] == WriteReq::kAdd);
    });
  });
}

constexpr DeviceType kGpu = DeviceType::kGpu;
COOPER_REGISTER_KERNEL(LayerNorm, kGpu, kCudaFloats, ForwardGpu<LayerNormParam>);
COOPER_REGISTER_KERNEL(_backward_LayerNorm, kGpu, kCudaFloats, BackwardGpu<LayerNormParam>,
                       PrepareLayerNormBackward);
COOPER_REGISTER_KERNEL(GroupNorm, kGpu, kCudaFloats, ForwardGpu<GroupNormParam>);
COOPER_REGISTER_KERNEL(_backward_GroupNorm, kGpu, kCudaFloats, BackwardGpu<GroupNormParam>);
COOPER_REGISTER_KERNEL(InstanceNorm, kGpu, kCudaFloats, ForwardGpu<InstanceNormParam>);
COOPER_REGISTER_KERNEL(_backward_InstanceNorm, kGpu, kCudaFloats, BackwardGpu<InstanceNormParam>);

}  // namespace
}  // namespace cooper
