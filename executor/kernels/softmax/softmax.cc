// Kernels of softmax, softmin, log_softmax, SoftmaxActivation and their gradients.
//
// The array is viewed as (outer, n, inner), where n is the axis that sums to 1. float32 and float64
// use softmax_row.h, with lengths only along the last axis. Other dtypes, temperatures, requests to
// add, and lengths along other axes are computed element by element from the inputs.

#include <algorithm>
#include <type_traits>

#include "absl/status/status.h"
#include "executor/kernels/launch/dispatch_float.h"
#include "executor/kernels/launch/row_grain.h"
#include "executor/kernels/loops/elemwise_loop.h"
#include "executor/kernels/loops/vector_log.h"
#include "executor/kernels/loops/vector_math.h"
#include "executor/kernels/reducers/lane_sum.h"
#include "executor/kernels/softmax/softmax_row.h"
#include "executor/program/kernel.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/nn/softmax_param.h"

namespace cooper {
namespace {

// Which function of a line: the sign of softmin is a value, so that it shares softmax's loops.
enum class Form { kSoftmax, kLogSoftmax };

struct Scaling {
  double temperature = 1;
  int sign = 1;  // -1 for softmin

  bool is_one() const { return temperature == 1 && sign == 1; }
};

struct Extents {
  int64_t outer, n, inner;

  int64_t grain() const { return RowGrain(n); }
};

Extents Around(const Shape& shape, int64_t axis) {
  const int rank = shape.rank();
  if (axis < 0) axis += rank;
  const int at = static_cast<int>(axis);
  return {shape.Product(0, at), shape[at], shape.Product(at + 1, rank)};
}

// The length of each row; n without lengths. As in MXNet, lengths are int32 or int64.
struct Lengths {
  const ArrayView* view = nullptr;

  int64_t at(int64_t i, int64_t n) const {
    if (view == nullptr) return n;
    const int64_t length = DispatchDType(view->dtype, [&](auto type) {
      using T = typename decltype(type)::type;
      return ConvertElement<int64_t>(view->as<T>()[i]);
    });
    return std::clamp<int64_t>(length, 0, n);
  }
};

// Calls fn(begin, end) for ranges of lines. For two different dtypes, which is rare and bound by
// calls of exp, fn is compiled once instead of for each CPU level.
template <typename T, typename O, typename Fn>
void ForEachLine(const Extents& e, const Fn& fn) {
  if constexpr (std::is_same_v<T, O>) {
    ParallelFor(e.outer * e.inner, e.grain(), fn);
  } else {
    ParallelForPlain(e.outer * e.inner, e.grain(), fn);
  }
}

// Whether softmax_row.h has functions for these dtypes.
template <typename T, typename O>
constexpr bool kHasVectors = std::is_same_v<T, O> &&
                             (std::is_same_v<T, float> || std::is_same_v<T, double>);

// Calls fn(offset of the array (n, inner), begin, end) for ranges of its columns, for all of the
// outer arrays. Threads share the columns of all arrays.
template <typename Fn>
void ForEachPartOfColumns(const Extents& e, const Fn& fn) {
  ParallelForPlain(e.outer * e.inner, e.grain(), [&](int64_t begin, int64_t end) {
    while (begin < end) {
      const int64_t first = begin % e.inner, last = std::min(e.inner, first + end - begin);
      fn((begin - first) * e.n, first, last);
      begin += last - first;
    }
  });
}

// Computes one line of n elements, `stride` apart; those from `length` on become 0.
template <Form form, typename T, typename O>
void Row(const T* in, int64_t n, int64_t length, int64_t stride, Scaling scaling, O* out,
         bool add) {
  using C =
      std::conditional_t<std::is_same_v<T, double> || std::is_same_v<O, double>, double, float>;
  const C sign = static_cast<C>(scaling.sign);
  const C divisor = static_cast<C>(scaling.temperature);
  const auto value = [=](int64_t j) { return sign * static_cast<C>(Load(in[j * stride])); };
  C top = 0;
  for (int64_t j = 0; j < length; ++j) top = j == 0 || value(j) > top ? value(j) : top;
  // Positive with a negative temperature.
  const auto exponent = [=](int64_t j) { return (value(j) - top) / divisor; };
  const C sum = LaneSum<C>(length, [=](int64_t j) { return VectorExp(exponent(j)); });
  const C log_sum = VectorLog(sum);
  COOPER_INDEPENDENT_ITERATIONS
  for (int64_t j = 0; j < length; ++j) {
    const C y = form == Form::kLogSoftmax ? exponent(j) - log_sum : VectorExp(exponent(j)) / sum;
    Store(out + j * stride, static_cast<ComputeType<O>>(y), add);
  }
  for (int64_t j = length; j < n; ++j) Store(out + j * stride, ComputeType<O>{}, add);
}

template <Form form, typename T, typename O>
void Forward(const KernelContext& c, const Extents& e, Scaling scaling, Lengths lengths) {
  using enum SoftmaxArrays::Input;
  const T* in = c.inputs[kData].as<T>();
  O* out = c.outputs[0].as<O>();
  const bool add = c.reqs[0] == WriteReq::kAdd;
  const bool plain = !add && scaling.is_one();
  if constexpr (kHasVectors<T, O>) {
    if (plain && e.inner == 1) {
      ParallelForPlain(e.outer, e.grain(), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const int64_t at = i * e.n, length = lengths.at(i, e.n);
          if constexpr (form == Form::kSoftmax) {
            SoftmaxRow(in + at, length, out + at);
          } else {
            LogSoftmaxRow(in + at, length, out + at);
          }
          std::fill(out + at + length, out + at + e.n, O{});
        }
      });
      return;
    }
    if (plain && lengths.view == nullptr) {
      ForEachPartOfColumns(e, [&](int64_t at, int64_t begin, int64_t end) {
        if constexpr (form == Form::kSoftmax) {
          SoftmaxColumns(in + at, e.n, e.inner, begin, end, out + at);
        } else {
          LogSoftmaxColumns(in + at, e.n, e.inner, begin, end, out + at);
        }
      });
      return;
    }
  }
  ForEachLine<T, O>(e, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t at = i / e.inner * e.n * e.inner + i % e.inner;
      Row<form>(in + at, e.n, lengths.at(i, e.n), e.inner, scaling, out + at, add);
    }
  });
}

// Computes the gradient, with y = output and g = ograd:
//
//   softmax:      y * (g - sum(g * y)) / temperature
//   log_softmax:  (g - exp(y) * sum(g)) / temperature
//
// softmin has the opposite sign.
template <Form form, typename O, typename T>
void Backward(const KernelContext& c, const Extents& e, Scaling scaling, Lengths lengths) {
  using enum SoftmaxGradientArrays::Input;
  using C =
      std::conditional_t<std::is_same_v<T, double> || std::is_same_v<O, double>, double, float>;
  const O* ograd = c.inputs[kOgrad].as<O>();
  const O* output = c.inputs[kOutput].as<O>();
  T* grad = c.outputs[0].as<T>();
  const bool add = c.reqs[0] == WriteReq::kAdd;
  if constexpr (kHasVectors<T, O>) {
    const bool plain = !add && scaling.is_one();
    if (plain && e.inner == 1) {
      ParallelForPlain(e.outer, e.grain(), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const int64_t at = i * e.n, length = lengths.at(i, e.n);
          if constexpr (form == Form::kSoftmax) {
            SoftmaxGradientRow(ograd + at, output + at, length, grad + at);
          } else {
            LogSoftmaxGradientRow(ograd + at, output + at, length, grad + at);
          }
          std::fill(grad + at + length, grad + at + e.n, T{});
        }
      });
      return;
    }
    if (plain && lengths.view == nullptr) {
      ForEachPartOfColumns(e, [&](int64_t at, int64_t begin, int64_t end) {
        if constexpr (form == Form::kSoftmax) {
          SoftmaxGradientColumns(ograd + at, output + at, e.n, e.inner, begin, end, grad + at);
        } else {
          LogSoftmaxGradientColumns(ograd + at, output + at, e.n, e.inner, begin, end, grad + at);
        }
      });
      return;
    }
  }
  const C scale = static_cast<C>(scaling.sign / scaling.temperature);
  const auto row = [=](int64_t at, int64_t length, int64_t n, int64_t stride) {
    const auto g = [=](int64_t j) { return static_cast<C>(Load(ograd[at + j * stride])); };
    const auto y = [=](int64_t j) { return static_cast<C>(Load(output[at + j * stride])); };
    const C sum = LaneSum<C>(
        length, [=](int64_t j) { return form == Form::kLogSoftmax ? g(j) : g(j) * y(j); });
    COOPER_INDEPENDENT_ITERATIONS
    for (int64_t j = 0; j < length; ++j) {
      const C d = form == Form::kLogSoftmax ? g(j) - VectorExp(y(j)) * sum : y(j) * (g(j) - sum);
      Store(grad + at + j * stride, static_cast<ComputeType<T>>(d * scale), add);
    }
    for (int64_t j = length; j < n; ++j) Store(grad + at + j * stride, ComputeType<T>{}, add);
  };
  ForEachLine<T, O>(e, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t at = i / e.inner * e.n * e.inner + i % e.inner;
      row(at, lengths.at(i, e.n), e.n, e.inner);
    }
  });
}

template <Form form, int sign = 1>
absl::Status SoftmaxCpu(const KernelContext& c) {
  using enum SoftmaxArrays::Input;
  if (c.reqs[0] == WriteReq::kNull || c.outputs[0].size() == 0) return absl::OkStatus();
  const auto& param = c.param<SoftmaxParam>();
  const Extents e = Around(c.inputs[kData].shape, param.axis);
  const Scaling scaling{param.temperature.value_or(1.0), sign};
  const Lengths lengths{param.has_length() ? &c.inputs[kLength] : nullptr};
  absl::Status output_status;
  absl::Status status = DispatchFloat(c.inputs[kData].dtype, [&](auto type) {
    output_status = DispatchFloat(c.outputs[0].dtype, [&](auto out) {
      Forward<form, typename decltype(type)::type, typename decltype(out)::type>(c, e, scaling,
                                                                                 lengths);
    });
  });
  return status.ok() ? output_status : status;
}

template <Form form, int sign = 1>
absl::Status SoftmaxBackwardCpu(const KernelContext& c) {
  using enum SoftmaxGradientArrays::Input;
  if (c.reqs[0] == WriteReq::kNull || c.outputs[0].size() == 0) return absl::OkStatus();
  const auto& param = c.param<SoftmaxParam>();
  const Extents e = Around(c.outputs[0].shape, param.axis);
  const Scaling scaling{param.temperature.value_or(1.0), sign};
  const Lengths lengths{param.has_length() ? &c.inputs[kLength] : nullptr};
  absl::Status output_status;
  absl::Status status = DispatchFloat(c.inputs[kOgrad].dtype, [&](auto type) {
    output_status = DispatchFloat(c.outputs[0].dtype, [&](auto out) {
      Backward<form, typename decltype(type)::type, typename decltype(out)::type>(c, e, scaling,
                                                                                  lengths);
    });
  });
  return status.ok() ? output_status : status;
}

int64_t ActivationAxis(const KernelContext& c) {
  return c.param<SoftmaxActivationParam>().mode == SoftmaxActivationParam::kChannel ? 1 : -1;
}

absl::Status SoftmaxActivationCpu(const KernelContext& c) {
  using enum SoftmaxArrays::Input;
  if (c.reqs[0] == WriteReq::kNull || c.outputs[0].size() == 0) return absl::OkStatus();
  return DispatchFloat(c.outputs[0].dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    Forward<Form::kSoftmax, T, T>(c, Around(c.inputs[kData].shape, ActivationAxis(c)), {}, {});
  });
}

// In MXNet 1.9.1 mode instance has the gradient of mode channel, which is not its true gradient for
// more than two axes.
int64_t ActivationGradientAxis(const Shape& shape) { return shape.rank() < 2 ? -1 : 1; }

absl::Status SoftmaxActivationBackwardCpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull || c.outputs[0].size() == 0) return absl::OkStatus();
  const Shape& shape = c.outputs[0].shape;
  return DispatchFloat(c.outputs[0].dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    Backward<Form::kSoftmax, T, T>(c, Around(shape, ActivationGradientAxis(shape)), {}, {});
  });
}

constexpr DeviceType kCpu = DeviceType::kCpu;
COOPER_REGISTER_KERNEL(softmax, kCpu, kFloats, SoftmaxCpu<Form::kSoftmax>);
COOPER_REGISTER_KERNEL(softmin, kCpu, kFloats, SoftmaxCpu<Form::kSoftmax, -1>);
COOPER_REGISTER_KERNEL(log_softmax, kCpu, kFloats, SoftmaxCpu<Form::kLogSoftmax>);
COOPER_REGISTER_KERNEL(_backward_softmax, kCpu, kFloats, SoftmaxBackwardCpu<Form::kSoftmax>);
COOPER_REGISTER_KERNEL(_backward_softmin, kCpu, kFloats, SoftmaxBackwardCpu<Form::kSoftmax, -1>);
COOPER_REGISTER_KERNEL(_backward_log_softmax, kCpu, kFloats, SoftmaxBackwardCpu<Form::kLogSoftmax>);
COOPER_REGISTER_KERNEL(SoftmaxActivation, kCpu, kFloats, SoftmaxActivationCpu);
COOPER_REGISTER_KERNEL(_backward_SoftmaxActivation, kCpu, kFloats, SoftmaxActivationBackwardCpu);

}  // namespace
}  // namespace cooper
