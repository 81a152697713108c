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
  using enum L2NormalizationArrays::Input;
  using enum L2NormalizationArrays::Output;
  using C = ComputeType<T>;
  const auto& param = c.param<L2NormalizationParam>();
  const Extents e = ExtentsOf(param, c.inputs[kData].shape);
  const T* data = c.inputs[kData].as<T>();
  ParallelFor(e.count(), e.grain(), [&](int64_t begin, int64_t end) {
    for (int64_t set = begin; set < end; ++set) {
      const T* x = data + e.Begin(set);
      C sum = static_cast<C>(param.eps);
      for (int64_t j = 0; j < e.n; ++j) sum += Load(x[j * e.inner]) * Load(x[j * e.inner]);
      const C norm = std::sqrt(sum);
      if (c.reqs[kNorm] != WriteReq::kNull) {
        Store(c.outputs[kNorm].as<T>() + set, norm, c.reqs[kNorm] == WriteReq::kAdd);
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

// norm^-beta. Mostly beta is 3/4, which takes two roots and no call.
template <typename C>
class NormPower {
 public:
  explicit NormPower(double beta) : beta_(static_cast<C>(beta)), roots_(beta == 0.75) {}
  C operator()(C norm) const {
    return roots_ ? C{1} / (std::sqrt(norm) * std::sqrt(std::sqrt(norm))) : std::pow(norm, -beta_);
  }

 private:
  C beta_;
  bool roots_;
};

// Positions of a channel that are worked on together.
constexpr int64_t kLrnBlock = 128;

// Calls fn(first position, count) for each block of an area.
template <typename Fn>
void ForEachBlock(int64_t area, Fn&& fn) {
  for (int64_t i = 0; i < area; i += kLrnBlock) fn(i, std::min(kLrnBlock, area - i));
}

template <typename T>
void LrnForward(const KernelContext& c) {
  using enum LrnArrays::Input;
  using enum LrnArrays::Output;
  using C = ComputeType<T>;
  const auto& param = c.param<LrnParam>();
  const C alpha = static_cast<C>(param.alpha / static_cast<double>(param.nsize));
  const C knorm = static_cast<C>(param.knorm);
  const NormPower<C> power(param.beta);
  const T* data = c.inputs[kData].as<T>();
  const WriteReq req = c.reqs[0], norm_req = c.reqs[kNorm];
  T* const out = c.outputs[0].as<T>();
  T* const norms = c.outputs[kNorm].as<T>();
  ForEachChannel(c.inputs[kData].shape, param.nsize,
                 [=](int64_t at, int64_t first, int64_t last, int64_t area) {
                   ForEachBlock(area, [=](int64_t begin, int64_t n) {
                     C norm[kLrnBlock] = {};
                     for (int64_t k = first + begin; k < last; k += area) {
                       for (int64_t i = 0; i < n; ++i)
                         norm[i] += Load(data[k + i]) * Load(data[k + i]);
                     }
                     for (int64_t i = 0; i < n; ++i) norm[i] = knorm + alpha * norm[i];
                     const int64_t to = at + begin;
                     if (norm_req != WriteReq::kNull) {
                       for (int64_t i = 0; i < n; ++i) {
                         Store(norms + to + i, norm[i], norm_req == WriteReq::kAdd);
                       }
                     }
                     if (req == WriteReq::kNull) return;
                     for (int64_t i = 0; i < n; ++i) norm[i] = power(norm[i]);
                     for (int64_t i = 0; i < n; ++i) {
                       Store(out + to + i, Load(data[to + i]) * norm[i], req == WriteReq::kAdd);
                     }
                   });
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
  const NormPower<C> power(param.beta);
  const T* ograd = c.inputs[kOgrad].as<T>();
  const T* data = c.inputs[kData].as<T>();
  const T* norms = c.inputs[kNorm].as<T>();
  T* grad = c.outputs[0].as<T>();
  const bool add = c.reqs[0] == WriteReq::kAdd;
  ForEachChannel(
      c.outputs[0].shape, param.nsize, [=](int64_t at, int64_t first, int64_t last, int64_t area) {
        ForEachBlock(area, [=](int64_t begin, int64_t n) {
          C sum[kLrnBlock] = {};
          for (int64_t k = first + begin; k < last; k += area) {
            for (int64_t i = 0; i < n; ++i) {
              const C norm = Load(norms[k + i]);
              sum[i] += Load(ograd[k + i]) * Load(data[k + i]) * power(norm) / norm;
            }
          }
          for (int64_t i = 0; i < n; ++i) {
            const int64_t k = at + begin + i;
            const C g =
                Load(ograd[k]) * power(Load(norms[k])) - 2 * beta * alpha * sum[i] * Load(data[k]);
            Store(grad + k, g, add);
          }
        });
      });
}

absl::Status L2Cpu(const KernelContext& c) {
  using enum L2NormalizationArrays::Input;
  return DispatchFloat(c.inputs[kData].dtype,
                       [&](auto type) { L2Forward<typename decltype(type)::type>(c); });
}
absl::Status L2BackwardCpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  return DispatchFloat(c.outputs[0].dtype,
                       [&](auto type) { L2Backward<typename decltype(type)::type>(c); });
}
absl::Status LrnCpu(const KernelContext& c) {
  using enum LrnArrays::Input;
  return DispatchFloat(c.inputs[kData].dtype,
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
