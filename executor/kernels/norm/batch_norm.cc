// Kernels of BatchNorm, BatchNorm_v1, SequenceBatchNorm, _contrib_BatchNormWithReLU (which applies
// relu to the output below) and their gradients. With invstd = 1 / sqrt(var + eps):
//   output = (data - mean) * invstd * gamma + beta
//   d data = gamma * invstd * (g - sum(g) / n - (data - mean) * invstd^2 * dot / n),
//   dot = sum(g * (data - mean)), d gamma = dot * invstd, d beta = sum(g).
// Padding of sequences is excluded from the sums and from n; its output and gradient are 0.

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/launch/dispatch_float.h"
#include "executor/kernels/launch/row_grain.h"
#include "executor/kernels/loops/index_reader.h"
#include "executor/kernels/norm/channel_steps.h"
#include "executor/kernels/reducers/lane_sum.h"
#include "executor/program/kernel.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/nn/batch_norm_param.h"

namespace cooper {
namespace {

// The extents of data viewed as (outer, channels, inner).
struct Extents {
  int64_t outer, channels, inner;

  int64_t per_channel() const { return outer * inner; }
  int64_t grain() const { return RowGrain(per_channel()); }
  // Calls fn(offset in data, offset in the channel) for each run of `inner` contiguous elements of
  // a channel.
  template <typename Fn>
  void ForEachRun(int64_t channel, Fn&& fn) const {
    for (int64_t o = 0; o < outer; ++o) fn((o * channels + channel) * inner, o * inner);
  }
};

Extents ExtentsOf(const BatchNormParam& param, const Shape& shape) {
  const int rank = shape.rank();
  const int axis = static_cast<int>(param.axis < 0 ? param.axis + rank : param.axis);
  return {shape.Product(0, axis), shape[axis], shape.Product(axis + 1, rank)};
}

// Selects all elements of a channel, by their offsets in it.
struct AllElements {
  int64_t count;

  constexpr bool operator[](int64_t) const { return true; }
};

// Selects the elements of a channel whose step is before the end of its sequence.
struct RealElements {
  int64_t count = 0;
  const bool* is_real;

  bool operator[](int64_t i) const { return is_real[i]; }
};

// Marks the real elements in the workspace.
RealElements FindRealElements(const KernelContext& c, const Shape& data, const ArrayView& length) {
  const auto& param = c.param<SequenceBatchNormParam>();
  const ChannelSteps steps(data, param.axis, param.batch_axis, param.time_axis);
  auto* is_real = static_cast<bool*>(c.workspace);
  RealElements real = {.is_real = is_real};
  const IndexReader lengths(length);
  for (int64_t s = 0; s < steps.batch; ++s) real.count += steps.NumReal(lengths[s]);
  if (steps.size() == 0 || data.num_elements() == 0) return real;
  // Fills whole runs along the inner of the two axes.
  const bool time_inside = steps.time_stride < steps.batch_stride;
  const int64_t run = time_inside ? steps.time_stride : steps.batch_stride;
  const int64_t row = run * (time_inside ? steps.time : steps.batch);
  ParallelFor(steps.size() / row, RowGrain(row), [&](int64_t begin, int64_t end) {
    for (int64_t at = begin * row; at < end * row; at += row) {
      if (time_inside) {
        const int64_t end_step = std::clamp<int64_t>(lengths[steps.sequence(at)], 0, steps.time);
        std::fill_n(is_real + at, end_step * run, true);
        std::fill_n(is_real + at + end_step * run, (steps.time - end_step) * run, false);
        continue;
      }
      const int64_t step = steps.step(at);
      for (int64_t s = 0; s < steps.batch; ++s) {
        std::fill_n(is_real + at + s * run, run, step < lengths[s]);
      }
    }
  });
  return real;
}

// `Inputs` names the kernel's inputs.
template <typename Inputs>
auto CountedElements(const KernelContext& c, const Shape& data, const Extents& e) {
  if constexpr (requires { Inputs::kLength; }) {
    return FindRealElements(c, data, c.inputs[Inputs::kLength]);
  } else {
    return AllElements{.count = e.per_channel()};
  }
}

absl::StatusOr<Prepared> PrepareSequence(const PrepareContext& c) {
  const Shape& data = c.inputs[0].shape;  // for a gradient ograd's shape, which equals data's
  const int64_t channels = ExtentsOf(c.param<SequenceBatchNormParam>(), data).channels;
  return Prepared{.workspace_bytes = channels == 0 ? 0 : data.num_elements() / channels};
}

// How an operator differs from BatchNorm. Data, so that the loops below are compiled once for all
// operators with the same inputs.
struct Variant {
  // Whether the output `var` is the variance, as in BatchNorm_v1 and the operators derived from it,
  // instead of 1 / sqrt(var + eps).
  bool var_is_variance;
  bool has_relu;
};
template <typename Param>
constexpr Variant kVariantOf = {
    .var_is_variance = std::is_base_of_v<BatchNormV1Param, Param>,
    .has_relu = std::is_same_v<Param, BatchNormWithReLUParam>,
};

template <typename Inputs, typename T>
void Forward(const KernelContext& c, const BatchNormParam& param, Variant variant) {
  constexpr int kData = Inputs::kData, kGamma = Inputs::kGamma, kBeta = Inputs::kBeta,
                kMovingMean = Inputs::kMovingMean, kMovingVar = Inputs::kMovingVar;
  using enum BatchNormArrays::Output;
  using C = ComputeType<T>;  // the type of all arrays but data and output
  const Extents e = ExtentsOf(param, c.inputs[kData].shape);
  const T* data = c.inputs[kData].as<T>();
  C* gamma = c.inputs[kGamma].as<C>();
  const C* beta = c.inputs[kBeta].as<C>();
  const C* moving_mean = c.inputs[kMovingMean].as<C>();
  const C* moving_var = c.inputs[kMovingVar].as<C>();
  T* out = c.reqs[0] == WriteReq::kNull ? nullptr : c.outputs[0].as<T>();
  const bool add = c.reqs[0] == WriteReq::kAdd;
  const bool batch_stats = c.is_train && !param.use_global_stats;
  const C eps = static_cast<C>(param.eps);
  const auto counted = CountedElements<Inputs>(c, c.inputs[kData].shape, e);
  const C n = static_cast<C>(counted.count);
  ParallelFor(e.channels, e.grain(), [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      C mean, var;
      if (batch_stats) {
        C sum = 0;
        e.ForEachRun(k, [&](int64_t at, int64_t in_channel) {
          sum += LaneSum<C>(e.inner, [&](int64_t i) {
            const C x = Load(data[at + i]);
            return counted[in_channel + i] ? x : C{0};
          });
        });
        mean = n > 0 ? sum / n : C{0};
        C square = 0;
        e.ForEachRun(k, [&](int64_t at, int64_t in_channel) {
          square += LaneSum<C>(e.inner, [&](int64_t i) {
            const C difference = Load(data[at + i]) - mean;
            const C d = counted[in_channel + i] ? difference : C{0};
            return d * d;
          });
        });
        var = n > 0 ? square / n : C{0};
      } else {
        mean = moving_mean[k];
        var = moving_var[k];
      }
      const C invstd = var + eps == 0 ? C{0} : C{1} / std::sqrt(var + eps);
      if (c.reqs[kMean] != WriteReq::kNull) {
        Store(c.outputs[kMean].as<C>() + k, mean, c.reqs[kMean] == WriteReq::kAdd);
      }
      if (c.reqs[kVar] != WriteReq::kNull) {
        Store(c.outputs[kVar].as<C>() + k, variant.var_is_variance ? var : invstd,
              c.reqs[kVar] == WriteReq::kAdd);
      }
      // As in MXNet, gamma itself becomes 1, so that a saved model states what was computed. In
      // prediction threads share the parameters, so no kind of BatchNorm writes them.
      if (param.fix_gamma && c.is_train) gamma[k] = C{1};
      const C scale = (param.fix_gamma ? C{1} : gamma[k]) * invstd;
      const C shift = beta[k];
      if (out == nullptr) continue;
      const auto put = [&](const auto activation) {
        e.ForEachRun(k, [&](int64_t at, int64_t in_channel) {
          for (int64_t i = 0; i < e.inner; ++i) {
            const C value = activation((Load(data[at + i]) - mean) * scale + shift);
            Store(out + at + i, counted[in_channel + i] ? value : C{0}, add);
          }
        });
      };
      if (variant.has_relu) {
        put([](C x) { return x < 0 ? C{0} : x; });
      } else {
        put([](C x) { return x; });
      }
    }
  });
}

template <typename Inputs, typename T>
void Backward(const KernelContext& c, const BatchNormParam& param, Variant variant) {
  constexpr int kOgrad = Inputs::kOgrad, kMean = Inputs::kMean, kVar = Inputs::kVar,
                kData = Inputs::kData, kGamma = Inputs::kGamma, kMovingMean = Inputs::kMovingMean,
                kMovingVar = Inputs::kMovingVar;
  using enum BatchNormGradientArrays::Output;
  using C = ComputeType<T>;
  const Extents e = ExtentsOf(param, c.inputs[kOgrad].shape);
  const T* ograd = c.inputs[kOgrad].as<T>();
  const C* saved_mean = c.inputs[kMean].as<C>();
  const C* saved_var = c.inputs[kVar].as<C>();
  const T* data = c.inputs[kData].as<T>();
  const C* gamma = c.inputs[kGamma].as<C>();
  C* moving_mean = c.inputs[kMovingMean].as<C>();
  C* moving_var = c.inputs[kMovingVar].as<C>();
  const bool batch_stats = c.is_train && !param.use_global_stats;
  const C eps = static_cast<C>(param.eps);
  const C momentum = static_cast<C>(param.momentum);
  const auto counted = CountedElements<Inputs>(c, c.inputs[kOgrad].shape, e);
  const C n = static_cast<C>(counted.count);
  ParallelFor(e.channels, e.grain(), [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      C mean, invstd;
      if (batch_stats) {
        mean = saved_mean[k];
        C var;
        if (variant.var_is_variance) {
          var = saved_var[k];
          invstd = C{1} / std::sqrt(var + eps);
        } else {
          invstd = saved_var[k];
          var = invstd == 0 ? C{0} : C{1} / (invstd * invstd) - eps;
        }
        if (n > 0) {
          moving_mean[k] = moving_mean[k] * momentum + mean * (C{1} - momentum);
          moving_var[k] = moving_var[k] * momentum + var * (C{1} - momentum);
        }
      } else {
        mean = moving_mean[k];
        invstd = C{1} / std::sqrt(moving_var[k] + eps);
      }
      C sum = 0, dot = 0;
      e.ForEachRun(k, [&](int64_t at, int64_t in_channel) {
        sum += LaneSum<C>(e.inner, [&](int64_t i) {
          const C g = Load(ograd[at + i]);
          return counted[in_channel + i] ? g : C{0};
        });
        dot += LaneSum<C>(e.inner, [&](int64_t i) {
          const C g = Load(ograd[at + i]), d = Load(data[at + i]) - mean;
          return counted[in_channel + i] ? g * d : C{0};
        });
      });
      if (c.reqs[0] != WriteReq::kNull) {
        const bool add = c.reqs[0] == WriteReq::kAdd;
        T* grad = c.outputs[0].as<T>();
        const C scale = invstd * (param.fix_gamma ? C{1} : gamma[k]);
        const C g_mean = batch_stats ? sum / n : C{0};
        const C slope = batch_stats ? dot * invstd * invstd / n : C{0};
        e.ForEachRun(k, [&](int64_t at, int64_t in_channel) {
          for (int64_t i = 0; i < e.inner; ++i) {
            const C g = Load(ograd[at + i]), d = Load(data[at + i]) - mean;
            const C value = (g - g_mean - d * slope) * scale;
            Store(grad + at + i, counted[in_channel + i] ? value : C{0}, add);
          }
        });
      }
      if (c.reqs[kGammaGrad] != WriteReq::kNull) {
        Store(c.outputs[kGammaGrad].as<C>() + k, param.fix_gamma ? C{0} : dot * invstd,
              c.reqs[kGammaGrad] == WriteReq::kAdd);
      }
      if (c.reqs[kBetaGrad] != WriteReq::kNull) {
        Store(c.outputs[kBetaGrad].as<C>() + k, sum, c.reqs[kBetaGrad] == WriteReq::kAdd);
      }
    }
  });
}

template <typename Param>
absl::Status ForwardCpu(const KernelContext& c) {
  using Inputs = typename Param::Arrays;
  return DispatchFloat(c.inputs[Inputs::kData].dtype, [&](auto type) {
    Forward<Inputs, typename decltype(type)::type>(c, c.param<Param>(), kVariantOf<Param>);
  });
}

template <typename Param>
absl::Status BackwardCpu(const KernelContext& c) {
  using Inputs = typename Param::GradientArrays;
  return DispatchFloat(c.inputs[Inputs::kOgrad].dtype, [&](auto type) {
    Backward<Inputs, typename decltype(type)::type>(c, c.param<Param>(), kVariantOf<Param>);
  });
}

COOPER_REGISTER_KERNEL(BatchNorm, DeviceType::kCpu, kFloats, ForwardCpu<BatchNormParam>);
COOPER_REGISTER_KERNEL(_backward_BatchNorm, DeviceType::kCpu, kFloats, BackwardCpu<BatchNormParam>);
COOPER_REGISTER_KERNEL(_contrib_BatchNormWithReLU, DeviceType::kCpu, kFloats,
                       ForwardCpu<BatchNormWithReLUParam>);
COOPER_REGISTER_KERNEL(_contrib_SyncBatchNorm, DeviceType::kCpu, kFloats,
                       ForwardCpu<SyncBatchNormParam>);
COOPER_REGISTER_KERNEL(_backward_contrib_SyncBatchNorm, DeviceType::kCpu, kFloats,
                       BackwardCpu<SyncBatchNormParam>);
COOPER_REGISTER_KERNEL(BatchNorm_v1, DeviceType::kCpu, kFloats, ForwardCpu<BatchNormV1Param>);
COOPER_REGISTER_KERNEL(_backward_BatchNorm_v1, DeviceType::kCpu, kFloats,
                       BackwardCpu<BatchNormV1Param>);
COOPER_REGISTER_KERNEL(SequenceBatchNorm, DeviceType::kCpu, kFloats,
                       ForwardCpu<SequenceBatchNormParam>, PrepareSequence);
COOPER_REGISTER_KERNEL(_backward_SequenceBatchNorm, DeviceType::kCpu, kFloats,
                       BackwardCpu<SequenceBatchNormParam>, PrepareSequence);

}  // namespace
}  // namespace cooper
