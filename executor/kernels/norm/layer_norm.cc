// Kernels of LayerNorm, GroupNorm, InstanceNorm and their gradients. With xhat = (x - mean) / std
// and w = ograd * gamma / std:
//   d x = w - mean(w) - xhat * mean(w * xhat), d gamma = sum(ograd * xhat), d beta = sum(ograd).

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/launch/dispatch_float.h"
#include "executor/kernels/launch/row_grain.h"
#include "executor/kernels/loops/elemwise_loop.h"
#include "executor/kernels/norm/interleaved_sets.h"
#include "executor/kernels/norm/norm_sets.h"
#include "executor/kernels/reducers/lane_sum.h"
#include "executor/program/kernel.h"
#include "ndarray/threads/cpu_level.h"
#include "ndarray/threads/element_ranges.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/nn/norm_param.h"

namespace cooper {
namespace {

template <typename Param>
NormSets SetsOf(const Param& param, const Shape& shape);

template <>
NormSets SetsOf(const LayerNormParam& param, const Shape& shape) {
  const int rank = shape.rank();
  const int axis = static_cast<int>(param.axis < 0 ? param.axis + rank : param.axis);
  return {shape.Product(0, axis), shape[axis], shape.Product(axis + 1, rank), 0, param.eps};
}
template <>
NormSets SetsOf(const GroupNormParam& param, const Shape& shape) {
  const int64_t groups = param.num_groups;
  return {shape[0] * groups, shape.Product(1, shape.rank()) / groups, 1, groups, param.eps};
}
template <>
NormSets SetsOf(const InstanceNormParam& param, const Shape& shape) {
  return {shape[0] * shape[1], shape.Product(2, shape.rank()), 1, shape[1], param.eps};
}

// Calls fn(j) for each element of a set. The calls are independent of each other.
template <typename Fn>
void ForEachOf(const NormSets& s, const Fn& fn) {
  const int64_t n = s.n;
  COOPER_INDEPENDENT_ITERATIONS
  for (int64_t j = 0; j < n; ++j) fn(j);
}

// Returns the number of blocks of sets in which LayerNorm's gradients of gamma and beta are summed:
// 1 where threads share the positions of a set.
int64_t GammaBlocks(const NormSets& s) {
  constexpr int64_t kMaxBlocks = 16, kPlaces = 512, kElements = 32768;
  if (s.groups != 0 || s.n >= kPlaces) return 1;
  return std::clamp<int64_t>(s.count() * s.n / kElements, 1, kMaxBlocks);
}

// Normalizes sets [begin, end) of adjacent elements.
template <typename T>
void NormalizeSets(const KernelContext& c, const NormSets& s, int64_t begin, int64_t end) {
  using enum LayerNormArrays::Input;
  using enum LayerNormArrays::Output;
  using C = ComputeType<T>;
  const T* const gamma = c.inputs[kGamma].as<T>();
  const T* const beta = c.inputs[kBeta].as<T>();
  const bool add = c.reqs[0] == WriteReq::kAdd;
  const C n = static_cast<C>(s.n);
  for (int64_t set = begin; set < end; ++set) {
    const T* const x = c.inputs[kData].as<T>() + s.Begin(set);
    const C mean = LaneSum<C>(s.n, [=](int64_t j) { return Load(x[j]); }) / n;
    const C square = LaneSum<C>(s.n, [=](int64_t j) {
      const C d = Load(x[j]) - mean;
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
    T* const y = c.outputs[0].as<T>() + s.Begin(set);
    const C scale = C{1} / std;
    if (s.groups == 0) {
      ForEachOf(s, [=](int64_t j) {
        Store(y + j, (Load(x[j]) - mean) * scale * Load(gamma[j]) + Load(beta[j]), add);
      });
    } else {
      const C g = Load(gamma[set % s.groups]) * scale;
      const C b = Load(beta[set % s.groups]);
      ForEachOf(s, [=](int64_t j) { Store(y + j, (Load(x[j]) - mean) * g + b, add); });
    }
  }
}

template <typename T>
void Forward(const KernelContext& c, const NormSets& s) {
  ParallelFor(s.count(), RowGrain(s.n), [&c, &s](int64_t begin, int64_t end) {
    if (s.inner == 1) return NormalizeSets<T>(c, s, begin, end);
    ForNeighbours(s, begin, end, [&c, &s](int64_t set, int64_t width) {
      NormalizeNeighbours<T>(c, s, set, width);
    });
  });
}

// Writes the gradient of the data of sets [begin, end) of adjacent elements.
template <typename T>
void DataGradientOfSets(const KernelContext& c, const NormSets& s, int64_t begin, int64_t end) {
  using enum LayerNormGradientArrays::Input;
  using C = ComputeType<T>;
  const bool add = c.reqs[0] == WriteReq::kAdd;
  const C n = static_cast<C>(s.n);
  for (int64_t set = begin; set < end; ++set) {
    const T* const ograd = c.inputs[kOgrad].as<T>() + s.Begin(set);
    const T* const x = c.inputs[kData].as<T>() + s.Begin(set);
    T* const grad = c.outputs[0].as<T>() + s.Begin(set);
    const C mean = Load(c.inputs[kMean].as<T>()[set]);
    const C scale = C{1} / Load(c.inputs[kStd].as<T>()[set]);
    // The index is gamma[j], or gamma[0] of the set's group.
    const T* const gamma = c.inputs[kGamma].as<T>() + (s.groups == 0 ? 0 : set % s.groups);
    const auto run = [&](const auto w) {
      const auto xhat = [=](int64_t j) { return (Load(x[j]) - mean) * scale; };
      const C w_mean = LaneSum<C>(s.n, w) / n;
      const C dot = LaneSum<C>(s.n, [=](int64_t j) { return w(j) * xhat(j); }) / n;
      ForEachOf(s,
                [=](int64_t j) { Store(grad + j, (w(j) - w_mean - xhat(j) * dot) * scale, add); });
    };
    if (s.groups == 0) {
      run([=](int64_t j) { return Load(ograd[j]) * Load(gamma[j]); });
    } else {
      const C g = Load(*gamma);
      run([=](int64_t j) { return Load(ograd[j]) * g; });
    }
  }
}

// Adds the terms of sets [first, last), at positions [begin, end) of each set, in the order of the
// sets.
template <typename T, typename C>
void SumPlaces(const KernelContext& c, const NormSets& s, int64_t first, int64_t last,
               int64_t begin, int64_t end, const GammaSums<C>& sums) {
  using enum LayerNormGradientArrays::Input;
  if (s.inner > 1) {
    return ForNeighbours(s, first, last, [&](int64_t set, int64_t width) {
      SumPlacesOfNeighbours<T>(c, s, set, width, begin, end, sums);
    });
  }
  for (int64_t set = first; set < last; ++set) {
    const T* const ograd = c.inputs[kOgrad].as<T>() + s.Begin(set);
    const T* const x = c.inputs[kData].as<T>() + s.Begin(set);
    const C mean = Load(c.inputs[kMean].as<T>()[set]);
    const C scale = C{1} / Load(c.inputs[kStd].as<T>()[set]);
    C* const gamma = sums.gamma;
    C* const beta = sums.beta;
    COOPER_INDEPENDENT_ITERATIONS
    for (int64_t j = begin; j < end; ++j) {
      const C g = Load(ograd[j]);
      gamma[j] += g * ((Load(x[j]) - mean) * scale);
      beta[j] += g;
    }
  }
}

// Computes the gradients of gamma and beta of LayerNorm. Threads share the positions of a long set,
// else blocks of sets, whose sums are added in order: the result has the same bits for any number
// of threads.
template <typename T, typename C>
void SumByPlaces(const KernelContext& c, const NormSets& s, const GammaSums<C>& sums) {
  const int64_t blocks = GammaBlocks(s);
  if (blocks == 1) {
    ParallelFor(s.n, std::max<int64_t>(64, 16384 / std::max<int64_t>(s.count(), 1)),
                [&c, &s, &sums](int64_t begin, int64_t end) {
                  SumPlaces<T>(c, s, 0, s.count(), begin, end, sums);
                });
    return;
  }
  ParallelFor(blocks, 1, [&c, &s, &sums, blocks](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      SumPlaces<T>(c, s, RangeBegin(s.count(), k, blocks), RangeBegin(s.count(), k + 1, blocks), 0,
                   s.n, GammaSums<C>{sums.gamma + 2 * k * s.n, sums.beta + 2 * k * s.n});
    }
  });
  for (int64_t k = 2; k < 2 * blocks; ++k) {
    for (int64_t j = 0; j < s.n; ++j) sums.gamma[k % 2 * s.n + j] += sums.gamma[k * s.n + j];
  }
}

// Computes the gradients of gamma and beta of GroupNorm and InstanceNorm. A set has one element of
// each.
template <typename T, typename C>
void SumBySets(const KernelContext& c, const NormSets& s, const GammaSums<C>& sums) {
  using enum LayerNormGradientArrays::Input;
  for (int64_t set = 0; set < s.count(); ++set) {
    const T* const ograd = c.inputs[kOgrad].as<T>() + s.Begin(set);
    const T* const x = c.inputs[kData].as<T>() + s.Begin(set);
    const C mean = Load(c.inputs[kMean].as<T>()[set]);
    const C scale = C{1} / Load(c.inputs[kStd].as<T>()[set]);
    RunAtCpuLevel([&] {
      sums.gamma[set % s.groups] += LaneSum<C>(
          s.n, [=](int64_t j) { return Load(ograd[j]) * ((Load(x[j]) - mean) * scale); });
      sums.beta[set % s.groups] += LaneSum<C>(s.n, [=](int64_t j) { return Load(ograd[j]); });
    });
  }
}

template <typename T>
void GammaAndBetaGradients(const KernelContext& c, const NormSets& s) {
  using enum LayerNormGradientArrays::Output;
  using C = ComputeType<T>;
  if (c.reqs[kGammaGrad] == WriteReq::kNull && c.reqs[kBetaGrad] == WriteReq::kNull) return;
  const int64_t size = c.outputs[kGammaGrad].size();
  C* const workspace = static_cast<C*>(c.workspace);
  std::fill_n(workspace, 2 * size * GammaBlocks(s), C{0});
  const GammaSums<C> sums{workspace, workspace + size};
  if (s.groups == 0) {
    SumByPlaces<T>(c, s, sums);
  } else {
    SumBySets<T>(c, s, sums);
  }
  for (int i : {kGammaGrad, kBetaGrad}) {
    if (c.reqs[i] == WriteReq::kNull) continue;
    const C* const from = i == kGammaGrad ? sums.gamma : sums.beta;
    T* const grad = c.outputs[i].as<T>();
    for (int64_t k = 0; k < size; ++k) Store(grad + k, from[k], c.reqs[i] == WriteReq::kAdd);
  }
}

template <typename T>
void Backward(const KernelContext& c, const NormSets& s) {
  GammaAndBetaGradients<T>(c, s);
  if (c.reqs[0] == WriteReq::kNull) return;
  ParallelFor(s.count(), RowGrain(s.n), [&c, &s](int64_t begin, int64_t end) {
    if (s.inner == 1) return DataGradientOfSets<T>(c, s, begin, end);
    ForNeighbours(s, begin, end, [&c, &s](int64_t set, int64_t width) {
      DataGradientOfNeighbours<T>(c, s, set, width);
    });
  });
}

template <typename Param>
absl::StatusOr<Prepared> PrepareBackward(const PrepareContext& c) {
  using enum LayerNormGradientArrays::Input;
  using enum LayerNormGradientArrays::Output;
  const NormSets s = SetsOf(c.param<Param>(), c.inputs[kData].shape);
  return Prepared{.workspace_bytes = 2 * c.outputs[kGammaGrad].size() * GammaBlocks(s) *
                                     (c.outputs[kGammaGrad].dtype == DType::kFloat64 ? 8 : 4)};
}

// The loops do not depend on the operator, so that they are compiled once for the three.
template <typename Param>
absl::Status ForwardCpu(const KernelContext& c) {
  using enum LayerNormArrays::Input;
  const NormSets s = SetsOf(c.param<Param>(), c.inputs[kData].shape);
  return DispatchFloat(c.inputs[kData].dtype,
                       [&](auto type) { Forward<typename decltype(type)::type>(c, s); });
}

template <typename Param>
absl::Status BackwardCpu(const KernelContext& c) {
  using enum LayerNormGradientArrays::Input;
  const NormSets s = SetsOf(c.param<Param>(), c.inputs[kData].shape);
  return DispatchFloat(c.inputs[kOgrad].dtype,
                       [&](auto type) { Backward<typename decltype(type)::type>(c, s); });
}

constexpr DeviceType kCpu = DeviceType::kCpu;
COOPER_REGISTER_KERNEL(LayerNorm, kCpu, kFloats, ForwardCpu<LayerNormParam>);
COOPER_REGISTER_KERNEL(_backward_LayerNorm, kCpu, kFloats, BackwardCpu<LayerNormParam>,
                       PrepareBackward<LayerNormParam>);
COOPER_REGISTER_KERNEL(GroupNorm, kCpu, kFloats, ForwardCpu<GroupNormParam>);
COOPER_REGISTER_KERNEL(_backward_GroupNorm, kCpu, kFloats, BackwardCpu<GroupNormParam>,
                       PrepareBackward<GroupNormParam>);
COOPER_REGISTER_KERNEL(InstanceNorm, kCpu, kFloats, ForwardCpu<InstanceNormParam>);
COOPER_REGISTER_KERNEL(_backward_InstanceNorm, kCpu, kFloats, BackwardCpu<InstanceNormParam>,
                       PrepareBackward<InstanceNormParam>);

}  // namespace
}  // namespace cooper
