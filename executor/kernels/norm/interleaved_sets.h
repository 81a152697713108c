#ifndef COOPER_EXECUTOR_KERNELS_NORM_INTERLEAVED_SETS_H_
#define COOPER_EXECUTOR_KERNELS_NORM_INTERLEAVED_SETS_H_

// LayerNorm along another axis than the last: the elements of a set are `inner` apart (NormSets),
// and those of neighbouring sets are adjacent. Up to kMaxNeighbours sets are computed side by side,
// so that every loop goes over adjacent elements and vectorises. All sums are in the compute type,
// in an order that depends on the shapes alone. The functions run on a part of the data, on one
// thread; layer_norm.cc shares the parts among threads.

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "executor/kernels/loops/elemwise_loop.h"
#include "executor/kernels/norm/norm_sets.h"
#include "executor/kernels/reducers/lane_sum.h"
#include "executor/program/kernel.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/nn/norm_param.h"

namespace cooper {

// The most sets that are computed side by side. Their means, deviations and sums are arrays of this
// size on the stack, at most 2 KB in all for double.
inline constexpr int64_t kMaxNeighbours = 64;

// Calls fn(set, width) for blocks of at most kMaxNeighbours neighbouring sets, [set, set + width),
// that make up [begin, end). A block ends where the position in `inner` starts anew, since sets on
// both sides of that are not adjacent. The widths of blocks depend on `begin`, so a result must not
// depend on its width.
template <typename Fn>
void ForNeighbours(const NormSets& s, int64_t begin, int64_t end, const Fn& fn) {
  for (int64_t set = begin; set < end;) {
    const int64_t width = std::min({kMaxNeighbours, s.inner - set % s.inner, end - set});
    fn(set, width);
    set += width;
  }
}

// Calls fn(k) for k in [0, width). The calls are independent of each other. Reads of one call must
// not overlap writes of another: compilers are told to vectorise the loop without a check.
template <typename Fn>
void SideBySide(int64_t width, const Fn& fn) {
  COOPER_INDEPENDENT_ITERATIONS
  for (int64_t k = 0; k < width; ++k) fn(k);
}

// Normalizes the sets [set, set + width) and writes their means and deviations, where requested: y
// = (x - mean) / std * gamma + beta with std = sqrt(variance + eps), the mean of squared
// differences from the mean in a second pass. gamma and beta have an element for each position of a
// set. A sum adds a set's elements in their order, whatever the width.
template <typename T>
void NormalizeNeighbours(const KernelContext& c, const NormSets& s, int64_t set, int64_t width) {
  using enum LayerNormArrays::Input;
  using enum LayerNormArrays::Output;
  using C = ComputeType<T>;
  const int64_t inner = s.inner;
  const T* const x = c.inputs[kData].as<T>() + s.Begin(set);
  C mean[kMaxNeighbours] = {}, std[kMaxNeighbours] = {}, scale[kMaxNeighbours];
  const C n = static_cast<C>(s.n), eps = static_cast<C>(s.eps);
  for (int64_t j = 0; j < s.n; ++j) {
    SideBySide(width, [&mean, row = x + j * inner](int64_t k) { mean[k] += Load(row[k]); });
  }
  SideBySide(width, [&mean, n](int64_t k) { mean[k] /= n; });
  for (int64_t j = 0; j < s.n; ++j) {
    SideBySide(width, [&mean, &std, row = x + j * inner](int64_t k) {
      const C d = Load(row[k]) - mean[k];
      std[k] += d * d;
    });
  }
  SideBySide(width, [&std, &scale, n, eps](int64_t k) {
    std[k] = std::sqrt(std[k] / n + eps);
    scale[k] = C{1} / std[k];
  });
  const auto store = [&c, set, width](int output, const C* values) {
    if (c.reqs[output] == WriteReq::kNull) return;
    T* const to = c.outputs[output].as<T>() + set;
    SideBySide(width, [to, values, add = c.reqs[output] == WriteReq::kAdd](int64_t k) {
      Store(to + k, values[k], add);
    });
  };
  store(kMean, mean);
  store(kStd, std);
  if (c.reqs[0] == WriteReq::kNull) return;
  const bool add = c.reqs[0] == WriteReq::kAdd;
  T* const y = c.outputs[0].as<T>() + s.Begin(set);
  for (int64_t j = 0; j < s.n; ++j) {
    const C gamma = Load(c.inputs[kGamma].as<T>()[j]), beta = Load(c.inputs[kBeta].as<T>()[j]);
    SideBySide(width, [&mean, &scale, row = x + j * inner, to = y + j * inner, gamma, beta,
                       add](int64_t k) {
      Store(to + k, (Load(row[k]) - mean[k]) * scale[k] * gamma + beta, add);
    });
  }
}

// The means of neighbours and the reciprocals of their deviations, read from the inputs of the
// gradient. Reciprocals are taken once for each set, because a product is faster than a division
// for each element.
template <typename T>
struct NeighbourScales {
  using C = ComputeType<T>;
  C mean[kMaxNeighbours], scale[kMaxNeighbours];

  NeighbourScales(const KernelContext& c, int64_t set, int64_t width) {
    using enum LayerNormGradientArrays::Input;
    const T* const means = c.inputs[kMean].as<T>() + set;
    const T* const deviations = c.inputs[kStd].as<T>() + set;
    SideBySide(width, [this, means, deviations](int64_t k) {
      mean[k] = Load(means[k]);
      scale[k] = C{1} / Load(deviations[k]);
    });
  }
  // Returns element x of neighbour k, normalized, before gamma and beta.
  C Normalize(T x, int64_t k) const { return (Load(x) - mean[k]) * scale[k]; }
};

// Writes the gradient of the data of `width` neighbours. With w = ograd * gamma, n the normalized
// data and means over the elements of a set:
//
//   grad = (w - mean(w) - n * mean(w * n)) / std
//
// Reads the data twice: once for the means, once for the result.
template <typename T>
void DataGradientOfNeighbours(const KernelContext& c, const NormSets& s, int64_t set,
                              int64_t width) {
  using enum LayerNormGradientArrays::Input;
  using C = ComputeType<T>;
  const NeighbourScales<T> of(c, set, width);
  const T* const gamma = c.inputs[kGamma].as<T>();
  const int64_t begin = s.Begin(set);
  C w_mean[kMaxNeighbours] = {}, dot[kMaxNeighbours] = {};
  // Calls fn(position in the data, gamma) for each row of adjacent elements.
  const auto for_rows = [&s, gamma, begin](const auto& fn) {
    for (int64_t j = 0; j < s.n; ++j) fn(begin + j * s.inner, Load(gamma[j]));
  };
  const T* const ograd = c.inputs[kOgrad].as<T>();
  const T* const data = c.inputs[kData].as<T>();
  for_rows([&](int64_t at, C g) {
    SideBySide(width, [&of, &w_mean, &dot, head = ograd + at, x = data + at, g](int64_t k) {
      const C w = Load(head[k]) * g;
      w_mean[k] += w;
      dot[k] += w * of.Normalize(x[k], k);
    });
  });
  SideBySide(width, [&w_mean, &dot, n = static_cast<C>(s.n)](int64_t k) {
    w_mean[k] /= n;
    dot[k] /= n;
  });
  T* const grad = c.outputs[0].as<T>();
  for_rows([&, add = c.reqs[0] == WriteReq::kAdd](int64_t at, C g) {
    SideBySide(width, [&of, &w_mean, &dot, head = ograd + at, x = data + at, to = grad + at, g,
                       add](int64_t k) {
      const C w = Load(head[k]) * g;
      Store(to + k, (w - w_mean[k] - of.Normalize(x[k], k) * dot[k]) * of.scale[k], add);
    });
  });
}

// Adds the terms of `width` neighbours, at positions [begin, end) of each set, to the sums for the
// gradients of gamma and beta: ograd * n for gamma and ograd for beta, with n the normalized data.
// No other thread may add to the same positions of `sums` at the same time.
template <typename T, typename C>
void SumPlacesOfNeighbours(const KernelContext& c, const NormSets& s, int64_t set, int64_t width,
                           int64_t begin, int64_t end, const GammaSums<C>& sums) {
  using enum LayerNormGradientArrays::Input;
  const NeighbourScales<T> of(c, set, width);
  for (int64_t j = begin; j < end; ++j) {
    const int64_t at = s.Begin(set) + j * s.inner;
    const T* const head = c.inputs[kOgrad].as<T>() + at;
    const T* const x = c.inputs[kData].as<T>() + at;
    sums.gamma[j] += LaneSum<C>(
        width, [&of, head, x](int64_t k) { return Load(head[k]) * of.Normalize(x[k], k); });
    sums.beta[j] += LaneSum<C>(width, [head](int64_t k) { return C{Load(head[k])}; });
  }
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_NORM_INTERLEAVED_SETS_H_
