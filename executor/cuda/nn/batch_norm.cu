// GPU kernels of BatchNorm, BatchNorm_v1, SequenceBatchNorm and their gradients. The formulas are
// those of executor/cpu/nn/batch_norm.cc; a channel's lanes reduce it, and then go over it again.

#include <cstdint>
#include <type_traits>

#include "absl/status/status.h"
#include "executor/cuda/elements.h"
#include "executor/cuda/index/move_rows.h"
#include "executor/cuda/reduce/set_reduce.h"
#include "executor/indexing/element_steps.h"
#include "executor/kernel.h"
#include "symbol/ops/nn/batch_norm_param.h"

namespace cooper {
namespace {

SetPlan PlanFor(const BatchNormParam& param, const Shape& shape) {
  const int rank = shape.rank();
  const int axis = static_cast<int>(param.axis < 0 ? param.axis + rank : param.axis);
  return PlanChannels(shape.Product(0, axis), shape[axis], shape.Product(axis + 1, rank));
}

// Which elements of data count: all of them.
struct AllElements {
  __device__ constexpr bool operator()(int64_t) const { return true; }
};

// Those of steps before each sequence's end.
struct RealElements {
  ElementSteps steps;
  DeviceIndices lengths;

  __device__ bool operator()(int64_t element) const {
    return steps.step(element) < lengths[steps.sequence(element)];
  }
};

// Inputs: the names of the kernel's inputs.
template <typename Param, typename Inputs>
auto CountedElements(const KernelContext& c, const Shape& data) {
  if constexpr (std::is_same_v<Param, SequenceBatchNormParam>) {
    const auto& param = c.param<Param>();
    return RealElements{.steps = ElementSteps(data, param.batch_axis, param.time_axis),
                        .lengths = DeviceIndices(c.inputs[Inputs::kLength])};
  } else {
    return AllElements();
  }
}

// Of the channel's elements. All threads of the block must call.
template <typename C, typename Counted>
__device__ C NumCounted(const SetPlan& plan, const SetThread& thread, int64_t channel,
                        const Counted& counted) {
  if constexpr (std::is_same_v<Counted, AllElements>) {
    return static_cast<C>(plan.size());
  } else {
    return thread.SumOver<C>(channel, [&](int64_t i, int64_t) { return counted(i) ? C(1) : C(0); });
  }
}

// The output `var` is 1 / sqrt(var + eps), but in BatchNorm_v1 the variance.
template <typename Param>
constexpr bool kVarIsVariance = std::is_same_v<Param, BatchNormV1Param>;

// C is also the type of all but data, output and their gradients. Outputs that are not wanted are
// null.
template <typename C>
struct ForwardOptions {
  C eps;
  bool batch_stats, var_is_variance, fix_gamma, write_gamma;
  const C *beta, *moving_mean, *moving_var;
  C *gamma, *mean, *var;
  bool add, add_mean, add_var;
};

template <typename T, typename C, typename Counted>
__global__ void Forward(SetPlan plan, const T* data, Counted counted, ForwardOptions<C> o, T* out) {
  const SetThread thread(plan);
  thread.ForEachSet([&](int64_t k) {
    C mean = 0, var = 0;
    if (o.batch_stats) {
      const C n = NumCounted<C>(plan, thread, k, counted);
      mean = thread.SumOver<C>(
          k, [&](int64_t i, int64_t) { return counted(i) ? ConvertElement<C>(data[i]) : C(0); });
      mean = n > 0 ? mean / n : C(0);
      var = thread.SumOver<C>(k, [&](int64_t i, int64_t) {
        const C d = counted(i) ? ConvertElement<C>(data[i]) - mean : C(0);
        return d * d;
      });
      var = n > 0 ? var / n : C(0);
    } else if (k >= 0) {
      mean = o.moving_mean[k];
      var = o.moving_var[k];
    }
    if (k < 0) return;
    const C invstd = var + o.eps == 0 ? C(0) : C(1) / sqrt(var + o.eps);
    const C scale = (o.fix_gamma ? C(1) : o.gamma[k]) * invstd;
    const C shift = o.beta[k];
    if (thread.IsFirst()) {
      if (o.mean != nullptr) StoreTo(o.mean + k, mean, o.add_mean);
      if (o.var != nullptr) StoreTo(o.var + k, o.var_is_variance ? var : invstd, o.add_var);
      // As in MXNet: the argument itself becomes 1, so that a saved model says what was computed.
      if (o.write_gamma) o.gamma[k] = C(1);
    }
    if (out == nullptr) return;
    thread.ForEach(k, [&](int64_t i, int64_t) {
      const C value = (ConvertElement<C>(data[i]) - mean) * scale + shift;
      StoreTo(out + i, counted(i) ? value : C(0), o.add);
    });
  });
}

template <typename C>
struct BackwardOptions {
  C eps, momentum;
  bool batch_stats, var_is_variance, fix_gamma;
  const C *saved_mean, *saved_var, *gamma;
  C *moving_mean, *moving_var, *gamma_grad, *beta_grad;
  bool add, add_gamma, add_beta;
};

template <typename T, typename C, typename Counted>
__global__ void Backward(SetPlan plan, const T* ograd, const T* data, Counted counted,
                         BackwardOptions<C> o, T* grad) {
  const SetThread thread(plan);
  thread.ForEachSet([&](int64_t k) {
    const C n = NumCounted<C>(plan, thread, k, counted);
    C mean = 0, invstd = 0;
    if (k >= 0 && o.batch_stats) {
      mean = o.saved_mean[k];
      C var = o.saved_var[k];
      if (o.var_is_variance) {
        invstd = C(1) / sqrt(var + o.eps);
      } else {
        invstd = var;
        var = invstd == 0 ? C(0) : C(1) / (invstd * invstd) - o.eps;
      }
      if (thread.IsFirst() && n > 0) {
        o.moving_mean[k] = o.moving_mean[k] * o.momentum + mean * (C(1) - o.momentum);
        o.moving_var[k] = o.moving_var[k] * o.momentum + var * (C(1) - o.momentum);
      }
    } else if (k >= 0) {
      mean = o.moving_mean[k];
      invstd = C(1) / sqrt(o.moving_var[k] + o.eps);
    }
    C sum = 0, dot = 0;
    thread.ForEach(k, [&](int64_t i, int64_t) {
      if (!counted(i)) return;
      const C g = ConvertElement<C>(ograd[i]);
      sum += g;
      dot += g * (ConvertElement<C>(data[i]) - mean);
    });
    sum = thread.Sum(sum);
    dot = thread.Sum(dot);
    if (k < 0) return;
    if (thread.IsFirst()) {
      if (o.gamma_grad != nullptr) {
        StoreTo(o.gamma_grad + k, o.fix_gamma ? C(0) : dot * invstd, o.add_gamma);
      }
      if (o.beta_grad != nullptr) StoreTo(o.beta_grad + k, sum, o.add_beta);
    }
    if (grad == nullptr) return;
    const C scale = invstd * (o.fix_gamma ? C(1) : o.gamma[k]);
    const C g_mean = o.batch_stats ? sum / n : C(0);
    const C slope = o.batch_stats ? dot * invstd * invstd / n : C(0);
    thread.ForEach(k, [&](int64_t i, int64_t) {
      const C d = ConvertElement<C>(data[i]) - mean;
      const C value = (ConvertElement<C>(ograd[i]) - g_mean - d * slope) * scale;
      StoreTo(grad + i, counted(i) ? value : C(0), o.add);
    });
  });
}

// Null where nothing is to be written.
template <typename T>
T* Wanted(const KernelContext& c, int i) {
  return c.reqs[i] == WriteReq::kNull ? nullptr : c.outputs[i].as<T>();
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
    const ForwardOptions<C> o{
        .eps = static_cast<C>(param.eps),
        .batch_stats = c.is_train && !param.use_global_stats,
        .var_is_variance = kVarIsVariance<Param>,
        .fix_gamma = param.fix_gamma,
        .write_gamma = param.fix_gamma && (c.is_train || kVarIsVariance<Param>),
        .beta = c.inputs[kBeta].as<C>(),
        .moving_mean = c.inputs[kMovingMean].as<C>(),
        .moving_var = c.inputs[kMovingVar].as<C>(),
        .gamma = c.inputs[kGamma].as<C>(),
        .mean = Wanted<C>(c, 1),
        .var = Wanted<C>(c, 2),
        .add = c.reqs[0] == WriteReq::kAdd,
        .add_mean = c.reqs[1] == WriteReq::kAdd,
        .add_var = c.reqs[2] == WriteReq::kAdd};
    const Shape& shape = c.inputs[kData].shape;
    const auto counted = CountedElements<Param, Inputs>(c, shape);
    return LaunchSets(c, PlanFor(param, shape), Forward<T, C, std::decay_t<decltype(counted)>>,
                      c.inputs[kData].as<T>(), counted, o, Wanted<T>(c, 0));
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
    const BackwardOptions<C> o{.eps = static_cast<C>(param.eps),
                               .momentum = static_cast<C>(param.momentum),
                               .batch_stats = c.is_train && !param.use_global_stats,
                               .var_is_variance = kVarIsVariance<Param>,
                               .fix_gamma = param.fix_gamma,
                               .saved_mean = c.inputs[kMean].as<C>(),
                               .saved_var = c.inputs[kVar].as<C>(),
                               .gamma = c.inputs[kGamma].as<C>(),
                               .moving_mean = c.inputs[kMovingMean].as<C>(),
                               .moving_var = c.inputs[kMovingVar].as<C>(),
                               .gamma_grad = Wanted<C>(c, 1),
                               .beta_grad = Wanted<C>(c, 2),
                               .add = c.reqs[0] == WriteReq::kAdd,
                               .add_gamma = c.reqs[1] == WriteReq::kAdd,
                               .add_beta = c.reqs[2] == WriteReq::kAdd};
    const Shape& shape = c.inputs[kOgrad].shape;
    const auto counted = CountedElements<Param, Inputs>(c, shape);
    return LaunchSets(c, PlanFor(param, shape), Backward<T, C, std::decay_t<decltype(counted)>>,
                      c.inputs[kOgrad].as<T>(), c.inputs[kData].as<T>(), counted, o,
                      Wanted<T>(c, 0));
  });
}

constexpr DeviceType kGpu = DeviceType::kGpu;
COOPER_REGISTER_KERNEL(BatchNorm, kGpu, kCudaFloats, ForwardGpu<BatchNormParam>);
COOPER_REGISTER_KERNEL(_backward_BatchNorm, kGpu, kCudaFloats, BackwardGpu<BatchNormParam>);
COOPER_REGISTER_KERNEL(BatchNorm_v1, kGpu, kCudaFloats, ForwardGpu<BatchNormV1Param>);
COOPER_REGISTER_KERNEL(_backward_BatchNorm_v1, kGpu, kCudaFloats, BackwardGpu<BatchNormV1Param>);
COOPER_REGISTER_KERNEL(SequenceBatchNorm, kGpu, kCudaFloats, ForwardGpu<SequenceBatchNormParam>);
COOPER_REGISTER_KERNEL(_backward_SequenceBatchNorm, kGpu, kCudaFloats,
                       BackwardGpu<SequenceBatchNormParam>);

}  // namespace
}  // namespace cooper
