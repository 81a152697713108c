// GPU kernels of LeakyReLU and its gradient.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "executor/kernels/elemwise/leaky_relu_functions.h"
#include "executor/kernels/launch/device_random.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"
#include "executor/kernels/loops/element_map.h"
#include "executor/kernels/loops/element_map_kernel.h"
#include "executor/kernels/loops/elemwise_operand.h"
#include "executor/kernels/loops/map_quads.h"
#include "executor/kernels/reducers/block_sums.h"
#include "executor/kernels/reducers/set_reduce.h"
#include "executor/program/kernel.h"
#include "ndarray/base/philox.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/nn/leaky_relu_param.h"

namespace cooper {
namespace {

using Type = LeakyReluParam::Type;

// Computes the types whose slope is one number: all but prelu and rrelu.
template <typename T>
__global__ void Forward(int64_t n, Type type, ComputeType<T> slope, const T* x, T* y, bool add) {
  using C = ComputeType<T>;
  MapQuads(n, x, y, add, [type, slope](int64_t, T element) {
    const C v = ConvertElement<C>(element);
    C value = v;
    if (type == LeakyReluParam::kGelu) {
      value = v * C{0.5} * (C{1} + erf(v * static_cast<C>(kSqrtHalf)));
    } else if (type == LeakyReluParam::kSelu) {
      value = static_cast<C>(kSeluLambda) * (v > 0 ? v : static_cast<C>(kSeluAlpha) * expm1(v));
    } else if (!(v > 0)) {
      value = slope * (type == LeakyReluParam::kElu ? expm1(v) : v);
    }
    return value;
  });
}

// Computes rrelu with slopes uniform in [low, low + width), or with their mean outside of training.
// Stores the slopes in `mask` unless it is null, and the products in `y` unless it is null.
template <typename T>
__global__ void RandomForward(int64_t n, DeviceRandom source, bool is_train, ComputeType<T> low,
                              ComputeType<T> width, const T* x, T* mask, bool add_mask, T* y,
                              bool add) {
  using C = ComputeType<T>;
  const Philox random = source.Get();
  for (int64_t i = FirstElement(); i < n; i += ElementStep()) {
    const C s = is_train ? low + width * static_cast<C>(random.UniformAt(i)) : low + width / 2;
    const C v = ConvertElement<C>(x[i]);
    if (mask != nullptr) StoreTo(mask + i, s, add_mask);
    if (y != nullptr) StoreTo(y + i, v > 0 ? v : v * s, add);
  }
}

// prelu as a function of an element and its gamma.
struct Prelu {
  static constexpr int kArity = 2;
  static constexpr bool kExactIntegers = false;
  template <typename C>
  __device__ static C Apply(C x, C gamma) {
    return x > 0 ? x : x * gamma;
  }
};

// The gradient of prelu with respect to data, as a function of ograd, the element and its gamma.
struct PreluGradient {
  static constexpr int kArity = 3;
  static constexpr bool kExactIntegers = false;
  template <typename C>
  __device__ static C Apply(C ograd, C x, C gamma) {
    return x > 0 ? ograd : ograd * gamma;
  }
};

// Maps F over `operands` of data's shape followed by gamma, which is broadcast to it.
template <typename F>
absl::Status MapWithGamma(const KernelContext& c, const GammaIndex& index,
                          absl::Span<const ElemwiseOperand> operands) {
  const int64_t full[] = {index.rows(), index.columns(), index.rest()};
  const int64_t gamma[] = {index.row_stride() == 0 ? 1 : full[0],
                           index.column_stride() == 0 ? 1 : full[1], 1};
  absl::Span<const int64_t> shapes[F::kArity];
  for (int i = 0; i < F::kArity; ++i) shapes[i] = i + 1 < F::kArity ? full : gamma;
  return RunBroadcastMap(c, ElementMapOf<F>(), operands, shapes, full, c.outputs[0], c.reqs[0]);
}

// Computes the term of element i of x in the gradient of its gamma.
template <typename T>
struct GammaTerm {
  struct Pair {
    T x, ograd;
  };
  const T* x;
  const T* ograd;

  __device__ Pair Load(int64_t i) const { return {x[i], ograd[i]}; }
  __device__ static ComputeType<T> Of(const Pair& p) {
    using C = ComputeType<T>;
    const C v = ConvertElement<C>(p.x);
    return v > 0 ? C{0} : v * ConvertElement<C>(p.ograd);
  }
  __device__ ComputeType<T> operator()(int64_t i) const { return Of(Load(i)); }
};

template <typename T>
struct PutGamma {
  T* grad;
  bool add;
  __device__ void operator()(double sum) const {
    StoreTo(grad, static_cast<ComputeType<T>>(sum), add);
  }
};

// Sums the terms of each element of gamma.
template <typename T>
__global__ void __launch_bounds__(kThreadsHolding<ComputeType<T>, 0>, 1)
    GammaGradient(SetPlan plan, GammaTerm<T> term, T* grad, bool add) {
  using C = ComputeType<T>;
  const SetThread thread(plan);
  thread.ForEachSet([&](int64_t k) {
    const C sum = thread.SumOverLoaded<C>(
        k, [&](int64_t i) { return term.Load(i); },
        [](int64_t, const auto& pair) { return GammaTerm<T>::Of(pair); });
    if (k >= 0 && thread.IsFirst()) StoreTo(grad + k, sum, add);
  });
}

// `value` is the output, or data with LeakyReluParam::gradient_takes_data; `mask` has the slopes of
// rrelu.
template <typename T>
__global__ void Backward(int64_t n, Type type, bool of_data, ComputeType<T> slope, const T* ograd,
                         const T* value, const T* mask, T* grad, bool add) {
  using C = ComputeType<T>;
  MapQuads(n, ograd, value, grad, add, [=](int64_t i, T og, T element) {
    const C v = ConvertElement<C>(element);
    C d = 1;
    if (type == LeakyReluParam::kGelu) {
      const C u = v * static_cast<C>(kSqrtHalf);
      d = C{0.5} * (C{1} + erf(u) + u * static_cast<C>(2 / kSqrtPi) * exp(-u * u));
    } else if (type == LeakyReluParam::kSelu) {
      // MXNet's slope: see executor/kernels/elemwise/leaky_relu.cc.
      d = static_cast<C>(kSeluLambda) * (v > 0 ? C{1} : v + static_cast<C>(kSeluAlpha));
    } else if (!(v > 0)) {
      d = type == LeakyReluParam::kElu     ? (of_data ? slope * exp(v) : v + slope)
          : type == LeakyReluParam::kRrelu ? ConvertElement<C>(mask[i])
                                           : slope;
    }
    return ConvertElement<C>(og) * d;
  });
}

template <typename T>
absl::Status RunForward(const KernelContext& c) {
  using enum LeakyReLUArrays::Input;
  using C = ComputeType<T>;
  const auto& param = c.param<LeakyReluParam>();
  const bool add = c.reqs[0] == WriteReq::kAdd;
  const T* x = c.inputs[kData].as<T>();
  T* y = c.outputs[0].as<T>();
  const int64_t n = c.inputs[kData].size();
  if (param.act_type == LeakyReluParam::kPrelu) {
    const GammaIndex index(c.inputs[kData].shape, c.inputs[kGamma].shape);
    return MapWithGamma<Prelu>(c, index, {OperandOf(c.inputs[kData]), OperandOf(c.inputs[kGamma])});
  }
  if (param.act_type == LeakyReluParam::kRrelu) {
    T* mask = c.reqs[1] == WriteReq::kNull ? nullptr : c.outputs[1].as<T>();
    if (c.reqs[0] == WriteReq::kNull) y = nullptr;
    return LaunchElements(c, n, RandomForward<T>, n, DeviceRandomOf(c), c.is_train,
                          static_cast<C>(param.lower_bound),
                          static_cast<C>(param.upper_bound - param.lower_bound), x, mask,
                          c.reqs[1] == WriteReq::kAdd, y, add);
  }
  return LaunchElements(c, QuadsOf(n), Forward<T>, n, param.act_type, static_cast<C>(param.slope),
                        x, y, add);
}

template <typename T>
absl::Status RunPreluBackward(const KernelContext& c) {
  using enum LeakyReLUGradientArrays::Input;
  const T* ograd = c.inputs[kOgrad].as<T>();
  const T* x = c.inputs[kValue].as<T>();
  const GammaIndex index(c.inputs[kValue].shape, c.inputs[kMaskOrGamma].shape);
  if (c.reqs[1] != WriteReq::kNull) {
    const GammaTerm<T> term = {x, ograd};
    T* const grad = c.outputs[1].as<T>();
    const bool add = c.reqs[1] == WriteReq::kAdd;
    const bool by_row = index.row_stride() != 0, by_column = index.column_stride() != 0;
    if (!by_row && !by_column) {
      // One gamma for all elements: several blocks share the sum.
      COOPER_RETURN_IF_ERROR(SumElements(c, c.inputs[kValue].size(), term,
                                         static_cast<double*>(c.workspace),
                                         PutGamma<T>{grad, add}));
    } else {
      // Data viewed as (outer, elements of gamma, inner).
      constexpr int kMax = kThreadsHolding<ComputeType<T>, 0>;
      const int64_t rows = index.rows(), columns = index.columns(), rest = index.rest();
      const SetPlan plan = by_row && by_column ? PlanChannels(1, rows * columns, rest, kMax)
                           : by_row            ? PlanChannels(1, rows, columns * rest, kMax)
                                               : PlanChannels(rows, columns, rest, kMax);
      COOPER_RETURN_IF_ERROR(LaunchSets(c, plan, GammaGradient<T>, term, grad, add));
    }
  }
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  return MapWithGamma<PreluGradient>(c, index,
                                     {OperandOf(c.inputs[kOgrad]), OperandOf(c.inputs[kValue]),
                                      OperandOf(c.inputs[kMaskOrGamma])});
}

template <typename T>
absl::Status RunBackward(const KernelContext& c) {
  using enum LeakyReLUGradientArrays::Input;
  const auto& param = c.param<LeakyReluParam>();
  if (param.act_type == LeakyReluParam::kPrelu) return RunPreluBackward<T>(c);
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  const int64_t n = c.outputs[0].size();
  const bool has_mask = param.act_type == LeakyReluParam::kRrelu;
  return LaunchElements(c, QuadsOf(n), Backward<T>, n, param.act_type, param.gradient_takes_data(),
                        static_cast<ComputeType<T>>(param.slope), c.inputs[kOgrad].as<T>(),
                        c.inputs[kValue].as<T>(),
                        has_mask ? c.inputs[kMaskOrGamma].as<T>() : nullptr, c.outputs[0].as<T>(),
                        c.reqs[0] == WriteReq::kAdd);
}

absl::StatusOr<Prepared> PrepareBackward(const PrepareContext& c) {
  const bool sums = c.param<LeakyReluParam>().act_type == LeakyReluParam::kPrelu;
  return Prepared{.workspace_bytes = sums ? kSumScratchBytes : 0};
}

absl::Status LeakyReluGpu(const KernelContext& c) {
  // rrelu may have only its mask to write.
  const bool has_mask = c.param<LeakyReluParam>().act_type == LeakyReluParam::kRrelu;
  if (c.reqs[0] == WriteReq::kNull && !has_mask) return absl::OkStatus();
  return DispatchCudaFloat(c.outputs[0].dtype,
                           [&](auto type) { return RunForward<typename decltype(type)::type>(c); });
}

absl::Status LeakyReluBackwardGpu(const KernelContext& c) {
  using enum LeakyReLUGradientArrays::Input;
  return DispatchCudaFloat(c.inputs[kOgrad].dtype, [&](auto type) {
    return RunBackward<typename decltype(type)::type>(c);
  });
}

COOPER_REGISTER_KERNEL(LeakyReLU, DeviceType::kGpu, kCudaFloats, LeakyReluGpu);
COOPER_REGISTER_KERNEL(_backward_LeakyReLU, DeviceType::kGpu, kCudaFloats, LeakyReluBackwardGpu,
                       PrepareBackward);

}  // namespace
}  // namespace cooper
