// GPU kernels of BatchNorm, BatchNorm_v1, SequenceBatchNorm and their gradients. The formulas are
// those of executor/kernels/norm/batch_norm.cc. The lanes of a channel reduce it and then visit it
// again.

#include <cstdint>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"
#include "executor/kernels/loops/move_rows.h"
#include "executor/kernels/norm/channel_steps.h"
#include "executor/kernels/reducers/set_reduce.h"
#include "executor/program/kernel.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/nn/batch_norm_param.h"

namespace cooper {
namespace {

// The most threads of a block, given the registers that sums of type C take.
template <typename C>
constexpr int kMaxThreads = sizeof(C) > 4 ? kSetThreads : kMaxSetThreads;

SetPlan PlanFor(const BatchNormParam& param, const Shape& shape, int most_threads = kSetThreads) {
  const int rank = shape.rank();
  const int axis = static_cast<int>(param.axis < 0 ? param.axis + rank : param.axis);
  return PlanChannels(shape.Product(0, axis), shape[axis], shape.Product(axis + 1, rank),
                      most_threads);
}

// Selects all elements of a channel, by their positions in it.
struct AllElements {
  int64_t count;

  __device__ constexpr bool operator[](int64_t) const { return true; }
};

// Selects the elements of a channel whose step is before the end of its sequence.
struct RealElements {
  ChannelSteps steps;
  DeviceIndices lengths;
  const bool* is_real;

  __device__ bool operator[](int64_t i) const { return is_real[i]; }
};

__global__ void FindRealElements(int64_t n, ChannelSteps steps, DeviceIndices lengths,
                                 bool* is_real) {
  for (int64_t i = FirstElement(); i < n; i += ElementStep()) {
    is_real[i] = steps.step(i) < lengths[steps.sequence(i)];
  }
}

// `Inputs` names the kernel's inputs. Marks the real elements in the workspace.
template <typename Param, typename Inputs, typename Fn>
absl::Status WithCountedElements(const KernelContext& c, const Shape& data, const SetPlan& plan,
                                 Fn&& fn) {
  if constexpr (std::is_same_v<Param, SequenceBatchNormParam>) {
    const auto& param = c.param<Param>();
    auto* const is_real = static_cast<bool*>(c.workspace);
    const RealElements real{
        .steps = ChannelSteps(data, param.axis, param.batch_axis, param.time_axis),
        .lengths = DeviceIndices(c.inputs[Inputs::kLength]),
        .is_real = is_real};
    if (plan.count() > 0) {
      COOPER_RETURN_IF_ERROR(LaunchElements(c, plan.size(), FindRealElements, plan.size(),
                                            real.steps, real.lengths, is_real));
    }
    return fn(real);
  } else {
    return fn(AllElements{.count = plan.size()});
  }
}

absl::StatusOr<Prepared> PrepareSequence(const PrepareContext& c) {
  const Shape& data = c.inputs[0].shape;  // for a gradient ograd's shape, which equals data's
  const SetPlan plan = PlanFor(c.param<SequenceBatchNormParam>(), data);
  return Prepared{.workspace_bytes = plan.count() == 0 ? 0 : plan.size()};
}

// Returns how many elements of each channel count. All threads of the block must call it.
__device__ int64_t NumCounted(const SetThread&, const AllElements& all) { return all.count; }
__device__ int64_t NumCounted(const SetThread& thread, const RealElements& real) {
  return thread.SumOf<int64_t>(real.steps.batch, [&](int64_t sequence) {
    return real.steps.NumReal(real.lengths[sequence]);
  });
}

// Whether the output `var` is the variance, as in BatchNorm_v1 and the operators derived from it,
// instead of 1 / sqrt(var + eps).
template <typename Param>
constexpr bool kVarIsVariance = std::is_base_of_v<BatchNormV1Param, Param>;

// The options of the forward and the backward kernel. C is the type of all arrays but data, output
// and their gradients. Pointers to outputs that are not requested are null.
template <typename C>
struct NormOptions {
  C eps;
  bool batch_stats, var_is_variance, fix_gamma;
  bool add;  // to output 0
};

template <typename Param, typename C>
NormOptions<C> NormOptionsOf(const KernelContext& c) {
  const auto& param = c.param<Param>();
  return {.eps = static_cast<C>(param.eps),
          .batch_stats = c.is_train && !param.use_global_stats,
          .var_is_variance = kVarIsVariance<Param>,
          .fix_gamma = param.fix_gamma,
          .add = c.reqs[0] == WriteReq::kAdd};
}

template <typename C>
struct ForwardOptions {
  NormOptions<C> norm;
  bool write_gamma, relu;
  const C *beta, *moving_mean, *moving_var;
  C *gamma, *mean, *var;
  bool add_mean, add_var;
};

template <typename T, typename C, typename Counted>
__global__ void __launch_bounds__(kMaxThreads<C>, 1)
    Forward(SetPlan plan, const T* data, Counted counted, ForwardOptions<C> o, T* out) {
  const SetThread thread(plan);
  const auto value = [data](int64_t i) { return data[i]; };
  thread.ForEachSet([&](int64_t k) {
    C mean = 0, var = 0;
    if (o.norm.batch_stats) {
      const C n = static_cast<C>(NumCounted(thread, counted));
      mean = thread.SumOverLoaded<C>(
          k, value, [&](int64_t j, T x) { return counted[j] ? ConvertElement<C>(x) : C(0); });
      mean = n > 0 ? mean / n : C(0);
      var = thread.SumOverLoaded<C>(k, value, [&](int64_t j, T x) {
        const C d = counted[j] ? ConvertElement<C>(x) - mean : C(0);
        return d * d;
      });
      var = n > 0 ? var / n : C(0);
    } else if (k >= 0) {
      mean = o.moving_mean[k];
      var = o.moving_var[k];
    }
    if (k < 0) return;
    const C invstd = var + o.norm.eps == 0 ? C(0) : C(1) / sqrt(var + o.norm.eps);
    const C scale = (o.norm.fix_gamma ? C(1) : o.gamma[k]) * invstd;
    const C shift = o.beta[k];
    if (thread.IsFirst()) {
      if (o.mean != nullptr) StoreTo(o.mean + k, mean, o.add_mean);
      if (o.var != nullptr) StoreTo(o.var + k, o.norm.var_is_variance ? var : invstd, o.add_var);
      // As in MXNet, gamma itself becomes 1, so that a saved model states what was computed.
      // Prediction does not write it.
      if (o.write_gamma) o.gamma[k] = C(1);
    }
    if (out == nullptr) return;
    thread.ForEachLoaded(k, value, [&](int64_t i, int64_t j, T x) {
      const C linear = (ConvertElement<C>(x) - mean) * scale + shift;
      const C y = o.relu && linear < 0 ? C(0) : linear;
      StoreTo(out + i, counted[j] ? y : C(0), o.norm.add);
    });
  });
}

template <typename C>
struct BackwardOptions {
  NormOptions<C> norm;
  C momentum;
  const C *saved_mean, *saved_var, *gamma;
  C *moving_mean, *moving_var, *gamma_grad, *beta_grad;
  bool add_gamma, add_beta;
};

template <typename T>
struct GradientAndData {
  T gradient, data;
};

template <typename T, typename C, typename Counted>
__global__ void __launch_bounds__(kMaxThreads<C>, 1)
    Backward(SetPlan plan, const T* ograd, const T* data, Counted counted, BackwardOptions<C> o,
             T* grad) {
  const SetThread thread(plan);
  const auto both = [ograd, data](int64_t i) { return GradientAndData<T>{ograd[i], data[i]}; };
  thread.ForEachSet([&](int64_t k) {
    const C n = static_cast<C>(NumCounted(thread, counted));
    C mean = 0, invstd = 0;
    if (k >= 0 && o.norm.batch_stats) {
      mean = o.saved_mean[k];
      C var = o.saved_var[k];
      if (o.norm.var_is_variance) {
        invstd = C(1) / sqrt(var + o.norm.eps);
      } else {
        invstd = var;
        var = invstd == 0 ? C(0) : C(1) / (invstd * invstd) - o.norm.eps;
      }
      if (thread.IsFirst() && n > 0) {
        o.moving_mean[k] = o.moving_mean[k] * o.momentum + mean * (C(1) - o.momentum);
        o.moving_var[k] = o.moving_var[k] * o.momentum + var * (C(1) - o.momentum);
      }
    } else if (k >= 0) {
      mean = o.moving_mean[k];
      invstd = C(1) / sqrt(o.moving_var[k] + o.norm.eps);
    }
    C sum = 0, dot = 0;
    thread.ForEachLoaded(k, both, [&](int64_t, int64_t j, const GradientAndData<T>& x) {
      if (!counted[j]) return;
      const C g = ConvertElement<C>(x.gradient);
      sum += g;
      dot += g * (ConvertElement<C>(x.data) - mean);
    });
    sum = thread.Sum(sum);
    dot = thread.Sum(dot);
    if (k < 0) return;
    if (thread.IsFirst()) {
      if (o.gamma_grad != nullptr) {
        StoreTo(o.gamma_grad + k, o.norm.fix_gamma ? C(0) : dot * invstd, o.add_gamma);
      }
      if (o.beta_grad != nullptr) StoreTo(o.beta_grad + k, sum, o.add_beta);
    }
    if (grad == nullptr) return;
    const C scale = invstd * (o.norm.fix_gamma ? C(1) : o.gamma[k]);
    const C g_mean = o.norm.batch_stats ? sum / n : C(0);
    const C slope = o.norm.batch_stats ? dot * invstd * invstd / n : C(0);
    thread.ForEachLoaded(k, both, [&](int64_t i, int64_t j, const GradientAndData<T>& x) {
      const C d = ConvertElement<C>(x.data) - mean;
      const C value = (ConvertElement<C>(x.gradient) - g_mean - d * slope) * scale;
      StoreTo(grad + i, counted[j] ? value : C(0), o.norm.add);
    });
  });
}

template <typename Param>
absl::Status ForwardGpu(const KernelContext& c) {
  using Inputs = typename Param::Arrays;
  constexpr int kData = Inputs::kData, kGamma = Inputs::kGamma, kBeta = Inputs::kBeta,
                kMovingMean = Inputs::kMovingMean, kMovingVar = Inputs::kMovingVar;
  return DispatchCudaFloat(c.inputs[Inputs::kData].dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    using C = ComputeType<T>;
    const auto& param = c.param<Param>();
    const ForwardOptions<C> o{.norm = NormOptionsOf<Param, C>(c),
                              .write_gamma = param.fix_gamma && c.is_train,
                              .relu = std::is_same_v<Param, BatchNormWithReLUParam>,
                              .beta = c.inputs[kBeta].as<C>(),
                              .moving_mean = c.inputs[kMovingMean].as<C>(),
                              .moving_var = c.inputs[kMovingVar].as<C>(),
                              .gamma = c.inputs[kGamma].as<C>(),
                              .mean = OutputOrNull<C>(c, 1),
                              .var = OutputOrNull<C>(c, 2),
                              .add_mean = c.reqs[1] == WriteReq::kAdd,
                              .add_var = c.reqs[2] == WriteReq::kAdd};
    const Shape& shape = c.inputs[kData].shape;
    const SetPlan plan = PlanFor(param, shape, kMaxThreads<C>);
    return WithCountedElements<Param, Inputs>(c, shape, plan, [&](auto counted) {
      return LaunchSets(c, plan, Forward<T, C, decltype(counted)>, c.inputs[kData].as<T>(), counted,
                        o, OutputOrNull<T>(c, 0));
    });
  });
}

template <typename Param>
absl::Status BackwardGpu(const KernelContext& c) {
  using Inputs = typename Param::GradientArrays;
  constexpr int kOgrad = Inputs::kOgrad, kMean = Inputs::kMean, kVar = Inputs::kVar,
                kData = Inputs::kData, kGamma = Inputs::kGamma, kMovingMean = Inputs::kMovingMean,
                kMovingVar = Inputs::kMovingVar;
  return DispatchCudaFloat(c.inputs[Inputs::kOgrad].dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    using C = ComputeType<T>;
    const auto& param = c.param<Param>();
    const BackwardOptions<C> o{.norm = NormOptionsOf<Param, C>(c),
                               .momentum = static_cast<C>(param.momentum),
                               .saved_mean = c.inputs[kMean].as<C>(),
                               .saved_var = c.inputs[kVar].as<C>(),
                               .gamma = c.inputs[kGamma].as<C>(),
                               .moving_mean = c.inputs[kMovingMean].as<C>(),
                               .moving_var = c.inputs[kMovingVar].as<C>(),
                               .gamma_grad = OutputOrNull<C>(c, 1),
                               .beta_grad = OutputOrNull<C>(c, 2),
                               .add_gamma = c.reqs[1] == WriteReq::kAdd,
                               .add_beta = c.reqs[2] == WriteReq::kAdd};
    const Shape& shape = c.inputs[kOgrad].shape;
    const SetPlan plan = PlanFor(param, shape, kMaxThreads<C>);
    return WithCountedElements<Param, Inputs>(c, shape, plan, [&](auto counted) {
      return LaunchSets(c, plan, Backward<T, C, decltype(counted)>, c.inputs[kOgrad].as<T>(),
                        c.inputs[kData].as<T>(), counted, o, OutputOrNull<T>(c, 0));
    });
  });
}

constexpr DeviceType kGpu = DeviceType::kGpu;
COOPER_REGISTER_KERNEL(BatchNorm, kGpu, kCudaFloats, ForwardGpu<BatchNormParam>);
COOPER_REGISTER_KERNEL(_backward_BatchNorm, kGpu, kCudaFloats, BackwardGpu<BatchNormParam>);
COOPER_REGISTER_KERNEL(_contrib_BatchNormWithReLU, kGpu, kCudaFloats,
                       ForwardGpu<BatchNormWithReLUParam>);
COOPER_REGISTER_KERNEL(_contrib_SyncBatchNorm, kGpu, kCudaFloats, ForwardGpu<SyncBatchNormParam>);
COOPER_REGISTER_KERNEL(_backward_contrib_SyncBatchNorm, kGpu, kCudaFloats,
                       BackwardGpu<SyncBatchNormParam>);
COOPER_REGISTER_KERNEL(BatchNorm_v1, kGpu, kCudaFloats, ForwardGpu<BatchNormV1Param>);
COOPER_REGISTER_KERNEL(_backward_BatchNorm_v1, kGpu, kCudaFloats, BackwardGpu<BatchNormV1Param>);
COOPER_REGISTER_KERNEL(SequenceBatchNorm, kGpu, kCudaFloats, ForwardGpu<SequenceBatchNormParam>,
                       PrepareSequence);
COOPER_REGISTER_KERNEL(_backward_SequenceBatchNorm, kGpu, kCudaFloats,
                       BackwardGpu<SequenceBatchNormParam>, PrepareSequence);

}  // namespace
}  // namespace cooper
