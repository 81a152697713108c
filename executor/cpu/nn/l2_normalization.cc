// Kernels of L2Normalization, LRN and their gradients.

#include <algorithm>
#include <cmath>

#include "absl/status/status.h"
#include "executor/cpu/dispatch_float.h"
#include "executor/cpu/row_grain.h"
#include "executor/kernel.h"
#include "ndarray/parallel.h"
#include "symbol/ops/nn/norm_param.h"

namespace cooper {
namespace {

// data seen as (outer, n, inner); a norm is taken over n. Norms lie in the order (outer, inner).
struct Extents {
  int64_t outer, n, inner;

  int64_t count() const { return outer * inner; }
  int64_t Begin(int64_t set) const { return set / inner * n * inner + set % inner; }
  int64_t grain() const { return RowGrain(n); }
};

Extents ExtentsOf(const L2NormalizationParam& param, const Shape& shape) {
  const int rank = shape.rank();
  switch (param.mode) {
    case L2NormalizationParam::kInstance:
      return {shape[0], shape.Product(1, rank), 1};
    case L2NormalizationParam::kChannel:
      return {shape[0], shape[1], shape.Product(2, rank)};
    case L2NormalizationParam::kSpatial:
      return {shape[0] * shape[1], shape.Product(2, rank), 1};
  }
  return {shape[0], shape.Product(1, rank), 1};
}

template <typename T>
void L2Forward(const KernelContext& c) {
  using C = ComputeType<T>;
  const auto& param = c.param<L2NormalizationParam>();
  const Extents e = ExtentsOf(param, c.inputs[0].shape);
  const T* data = c.inputs[0].as<T>();
  ParallelFor(e.count(), e.grain(), [&](int64_t begin, int64_t end) {
    for (int64_t set = begin; set < end; ++set) {
      const T* x = data + e.Begin(set);
      C sum = static_cast<C>(param.eps);
      for (int64_t j = 0; j < e.n; ++j) sum += Load(x[j * e.inner]) * Load(x[j * e.inner]);
      const C norm = std::sqrt(sum);
      if (c.reqs[1] != WriteReq::kNull) {
        Store(c.outputs[1].as<T>() + set, norm, c.reqs[1] == WriteReq::kAdd);
      }
      if (c.reqs[0] == WriteReq::kNull) continue;
      T* y = c.outputs[0].as<T>() + e.Begin(set);
      for (int64_t j = 0; j < e.n; ++j) {
        Store(y + j * e.inner, Load(x[j * e.inner]) / norm, c.reqs[0] == WriteReq::kAdd);
      }
    }
  });
}

// (g - y * sum(g * y)) / norm
template <typename T>
void L2Backward(const KernelContext& c) {
  using enum L2NormalizationGradientArrays::Input;
  using C = ComputeType<T>;
  const Extents e = ExtentsOf(c.param<L2NormalizationParam>(), c.outputs[0].shape);
  const T* ograd = c.inputs[kOgrad].as<T>();
  const T* output = c.inputs[kOutput].as<T>();
  const T* norms = c.inputs[kNorm].as<T>();
  T* grad = c.outputs[0].as<T>();
  ParallelFor(e.count(), e.grain(), [&](int64_t begin, int64_t end) {
    for (int64_t set = begin; set < end; ++set) {
      const int64_t at = e.Begin(set);
      C dot = 0;
      for (int64_t j = 0; j < e.n; ++j) {
        dot += Load(ograd[at + j * e.inner]) * Load(output[at + j * e.inner]);
      }
      const C norm = Load(norms[set]);
      for (int64_t j = 0; j < e.n; ++j) {
        const int64_t k = at + j * e.inner;
        Store(grad + k, (Load(ograd[k]) - Load(output[k]) * dot) / norm,
              c.reqs[0] == WriteReq::kAdd);
      }
    }
  });
}

// Calls fn(first element, channel, first and end channel of the window around it) for every row of
// `area` positions of one channel.
template <typename Fn>
void ForEachChannel(const Shape& shape, int64_t nsize, Fn&& fn) {
  const int64_t channels = shape[1];
  const int64_t area = shape[2] * shape[3];
  ParallelFor(shape[0] * channels, RowGrain(area, 4096), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t k = i % channels;
      const int64_t first = std::max<int64_t>(0, k - nsize / 2);
      const int64_t last = std::min(channels, k + nsize / 2 + 1);
      fn(i * area, (i - k + first) * area, (i - k + last) * area, area);
    }
  });
}

template <typename T>
void LrnForward(const KernelContext& c) {
  using C = ComputeType<T>;
  const auto& param = c.param<LrnParam>();
  const C alpha = static_cast<C>(param.alpha / static_cast<double>(param.nsize));
  const C knorm = static_cast<C>(param.knorm);
  const C beta = static_cast<C>(param.beta);
  const T* data = c.inputs[0].as<T>();
  ForEachChannel(c.inputs[0].shape, param.nsize,
                 [&](int64_t at, int64_t first, int64_t last, int64_t area) {
                   for (int64_t i = 0; i < area; ++i) {
                     C sum = 0;
                     for (int64_t k = first + i; k < last; k += area) {
                       sum += Load(data[k]) * Load(data[k]);
                     }
                     const C norm = knorm + alpha * sum;
                     if (c.reqs[1] != WriteReq::kNull) {
                       Store(c.outputs[1].as<T>() + at + i, norm, c.reqs[1] == WriteReq::kAdd);
                     }
                     if (c.reqs[0] == WriteReq::kNull) continue;
                     Store(c.outputs[0].as<T>() + at + i,
                           Load(data[at + i]) * std::pow(norm, -beta), c.reqs[0] == WriteReq::kAdd);
                   }
                 });
}

// g * norm^-beta - 2 beta alpha / nsize * x * sum over the window of g * x * norm^(-beta - 1)
template <typename T>
void LrnBackward(const KernelContext& c) {
  using enum LrnGradientArrays::Input;
  using C = ComputeType<T>;
  const auto& param = c.param<LrnParam>();
  const C alpha = static_cast<C>(param.alpha / static_cast<double>(param.nsize));
  const C beta = static_cast<C>(param.beta);
  const T* ograd = c.inputs[kOgrad].as<T>();
  const T* data = c.inputs[kData].as<T>();
  const T* norm = c.inputs[kNorm].as<T>();
  T* grad = c.outputs[0].as<T>();
  ForEachChannel(
      c.outputs[0].shape, param.nsize, [&](int64_t at, int64_t first, int64_t last, int64_t area) {
        for (int64_t i = 0; i < area; ++i) {
          C sum = 0;
          for (int64_t k = first + i; k < last; k += area) {
            sum += Load(ograd[k]) * Load(data[k]) * std::pow(Load(norm[k]), -beta - C(1));
          }
          const C g = Load(ograd[at + i]) * std::pow(Load(norm[at + i]), -beta) -
                      2 * beta * alpha * sum * Load(data[at + i]);
          Store(grad + at + i, g, c.reqs[0] == WriteReq::kAdd);
        }
      });
}

absl::Status L2Cpu(const KernelContext& c) {
  return DispatchFloat(c.inputs[0].dtype,
                       [&](auto type) { L2Forward<typename decltype(type)::type>(c); });
}
absl::Status L2BackwardCpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  return DispatchFloat(c.outputs[0].dtype,
                       [&](auto type) { L2Backward<typename decltype(type)::type>(c); });
}
absl::Status LrnCpu(const KernelContext& c) {
  return DispatchFloat(c.inputs[0].dtype,
                       [&](auto type) { LrnForward<typename decltype(type)::type>(c); });
}
absl::Status LrnBackwardCpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  return DispatchFloat(c.outputs[0].dtype,
                       [&](auto type) { LrnBackward<typename decltype(type)::type>(c); });
}

COOPER_REGISTER_KERNEL(L2Normalization, DeviceType::kCpu, kFloats, L2Cpu);
COOPER_REGISTER_KERNEL(_backward_L2Normalization, DeviceType::kCpu, kFloats, L2BackwardCpu);
COOPER_REGISTER_KERNEL(LRN, DeviceType::kCpu, kFloats, LrnCpu);
COOPER_REGISTER_KERNEL(_backward_LRN, DeviceType::kCpu, kFloats, LrnBackwardCpu);

}  // namespace
}  // namespace cooper
