// Kernels of LeakyReLU and its gradient.

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "executor/kernels/elemwise/leaky_relu_functions.h"
#include "executor/kernels/launch/dispatch_float.h"
#include "executor/kernels/launch/row_grain.h"
#include "executor/kernels/loops/element_block.h"
#include "executor/kernels/loops/elemwise_kernel.h"
#include "executor/kernels/loops/elemwise_loop.h"
#include "executor/kernels/loops/elemwise_operand.h"
#include "executor/kernels/loops/vector_erf.h"
#include "executor/kernels/loops/vector_math.h"
#include "executor/kernels/reducers/lane_sum.h"
#include "executor/program/kernel.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/nn/leaky_relu_param.h"

namespace cooper {
namespace {

// The functions of an element, and of its slope or gamma if they have one. Gradients are functions
// of the output's gradient, of the output or data (LeakyReluParam::gradient_takes_data), and of the
// slope.
template <int arity>
struct ActivationFunction {
  static constexpr int kArity = arity;
  static constexpr bool kExactIntegers = false;
};

// Returns exp(x) - 1 for x <= 0; 0 for other x, which callers discard.
template <typename C>
C Expm1(C x) {
  return VectorExpm1OfNonPositive(x > 0 ? C{} : x);
}

struct Leaky : ActivationFunction<2> {
  template <typename C>
  static C Apply(C x, C slope) {
    return x > 0 ? x : x * slope;
  }
};

struct LeakyGradient : ActivationFunction<3> {
  template <typename C>
  static C Apply(C ograd, C y, C slope) {
    return ograd * (y > 0 ? C{1} : slope);
  }
};

struct Elu : ActivationFunction<2> {
  template <typename C>
  static C Apply(C x, C slope) {
    return x > 0 ? x : slope * Expm1(x);
  }
};

struct EluGradient : ActivationFunction<3> {
  template <typename C>
  static C Apply(C ograd, C y, C slope) {
    return ograd * (y > 0 ? C{1} : y + slope);
  }
};

struct EluGradientOfData : ActivationFunction<3> {
  template <typename C>
  static C Apply(C ograd, C x, C slope) {
    return ograd * (x > 0 ? C{1} : slope * VectorExp(x));
  }
};

struct Selu : ActivationFunction<1> {
  template <typename C>
  static C Apply(C x) {
    return static_cast<C>(kSeluLambda) * (x > 0 ? x : static_cast<C>(kSeluAlpha) * Expm1(x));
  }
};

// MXNet's gradient, lambda * (alpha + y). The derivative of the function is lambda * alpha + y, but
// published models were trained with this one.
struct SeluGradient : ActivationFunction<2> {
  template <typename C>
  static C Apply(C ograd, C y) {
    return ograd * static_cast<C>(kSeluLambda) * (y > 0 ? C{1} : y + static_cast<C>(kSeluAlpha));
  }
};

struct Gelu : ActivationFunction<1> {
  template <typename C>
  static C Apply(C x) {
    return x * VectorNormalCdf(x);
  }
};

struct GeluGradient : ActivationFunction<2> {
  template <typename C>
  static C Apply(C ograd, C x) {
    const C density = static_cast<C>(kSqrtHalf / kSqrtPi) * VectorExpOfNonPositive(C{-0.5} * x * x);
    return ograd * (VectorNormalCdf(x) + x * density);
  }
};

// Computes rrelu: slopes uniform in [lower_bound, upper_bound), or with their mean outside of
// training. Either of the products and the mask, which has the slopes, may be all that is
// requested.
template <typename C>
void RunRandomly(const KernelContext& c) {
  using enum LeakyReLUArrays::Input;
  using enum LeakyReLUArrays::Output;
  const auto& param = c.param<LeakyReluParam>();
  const C low = static_cast<C>(param.lower_bound);
  const C width = static_cast<C>(param.upper_bound - param.lower_bound);
  const auto put = [&](const C* block, int64_t n, int output, int64_t at) {
    const ArrayView& to = c.outputs[output];
    if (c.reqs[output] == WriteReq::kNull) return;
    StoreBlock(block, n, c.reqs[output], ElementAt(to.data, to.dtype, at), to.dtype);
  };
  const ArrayView& data = c.inputs[kData];
  ParallelFor(data.size(), 16384, [&](int64_t begin, int64_t end) {
    C slopes[kElementBlock], x[kElementBlock];
    for (; begin < end; begin += kElementBlock) {
      const int64_t n = std::min(kElementBlock, end - begin);
      for (int64_t i = 0; i < n; ++i) {
        const C uniform = c.is_train ? static_cast<C>(c.random.UniformAt(begin + i)) : C{0.5};
        slopes[i] = low + width * uniform;
      }
      LoadBlock(ElementAt(data.data, data.dtype, begin), data.dtype, n, x);
      for (int64_t i = 0; i < n; ++i) x[i] = Leaky::Apply(x[i], slopes[i]);
      put(x, n, kOutput, begin);
      put(slopes, n, kMask, begin);
    }
  });
}

// Splits the elements of prelu's data into lines. The elements of a line share one gamma if
// gamma_step() is 0; otherwise their gammas are contiguous. The last line may be shorter.
class PreluLines {
 public:
  explicit PreluLines(const GammaIndex& index)
      : index_(index), size_(index.rows() * index.columns() * index.rest()) {
    if (index.row_stride() == 0 && index.column_stride() == 0) {
      length_ = kLineOfOneGamma;
    } else if (index.rest() == 1) {
      length_ = index.columns();
      gamma_step_ = index.column_stride();
    } else {
      length_ = index.rest();
    }
  }

  int64_t size() const { return size_; }
  int64_t length() const { return length_; }
  int64_t count() const { return size_ == 0 ? 0 : (size_ + length_ - 1) / length_; }
  int64_t end(int64_t line) const { return std::min(size_, (line + 1) * length_); }
  int64_t gamma_step() const { return gamma_step_; }
  // Returns the index of the gamma of the line's first element.
  int64_t GammaOf(int64_t line) const { return index_(line * length_); }

 private:
  // Short enough that several threads get lines.
  static constexpr int64_t kLineOfOneGamma = 4096;

  GammaIndex index_;
  int64_t size_, length_;
  int64_t gamma_step_ = 0;
};

// Computes to[i] = or += fn(i) for i in [begin, end), in any order. The compiler moves the test of
// `add` out of short loops only, and does not vectorise a loop that contains it.
template <typename T, typename Fn>
void StoreRange(int64_t begin, int64_t end, T* to, bool add, const Fn& fn) {
  if (add) {
    COOPER_INDEPENDENT_ITERATIONS
    for (int64_t i = begin; i < end; ++i) Store(to + i, fn(i), /*add=*/true);
  } else {
    COOPER_INDEPENDENT_ITERATIONS
    for (int64_t i = begin; i < end; ++i) Store(to + i, fn(i), /*add=*/false);
  }
}

// Computes to[i] = or += fn(i, gamma of element i) for all elements. The output may share memory
// with an input.
template <typename T, typename Fn>
void StoreEachOfPrelu(const PreluLines& lines, const T* gamma, T* to, bool add, const Fn& fn) {
  ParallelFor(lines.size(), 16384, [=](int64_t begin, int64_t end) {
    const Fn own = fn;
    for (int64_t first = begin; first < end;) {
      const int64_t line = first / lines.length(), line_begin = line * lines.length();
      const int64_t last = std::min(end, lines.end(line));
      const T* own_gamma = gamma + lines.GammaOf(line);
      if (lines.gamma_step() == 0) {
        const auto slope = Load(*own_gamma);
        StoreRange(first, last, to, add, [=](int64_t i) { return own(i, slope); });
      } else {
        StoreRange(first, last, to, add,
                   [=](int64_t i) { return own(i, Load(own_gamma[i - line_begin])); });
      }
      first = last;
    }
  });
}

template <typename T>
void PreluForward(const KernelContext& c) {
  using enum LeakyReLUArrays::Input;
  const T* x = c.inputs[kData].as<T>();
  const PreluLines lines(GammaIndex(c.inputs[kData].shape, c.inputs[kGamma].shape));
  StoreEachOfPrelu(
      lines, c.inputs[kGamma].as<T>(), c.outputs[0].as<T>(), c.reqs[0] == WriteReq::kAdd,
      [=](int64_t i, ComputeType<T> gamma) { return Leaky::Apply(Load(x[i]), gamma); });
}

// Returns the term of an element in the gradient of its gamma. The product is outside of the
// conditional, as in MXNet: g++ 12 with -O3 generates wrong AVX2 code for sums of `x > 0 ? 0 : x *
// ograd` in double precision (executor/cpu/nn:nn_gradient_test with COOPER_CPU_LEVEL=avx2).
template <typename C>
C GammaTerm(C x, C ograd) {
  return (x > 0 ? C{} : x) * ograd;
}

// Computes the gradients of gamma. Threads share the lines, and one thread adds the sums of lines
// in order; or threads share adjacent gammas. Results do not depend on the number of threads.
template <typename T, typename C>
void SumGammaGradients(const PreluLines& lines, const T* x, const T* ograd, int64_t size, C* sums) {
  const int64_t length = lines.length();
  std::fill_n(sums, size, C{});
  if (lines.gamma_step() == 0) {
    C* const line_sums = sums + size;
    ParallelFor(lines.count(), RowGrain(length), [=](int64_t begin, int64_t end) {
      for (int64_t line = begin; line < end; ++line) {
        const T* const line_x = x + line * length;
        const T* const line_ograd = ograd + line * length;
        const int64_t n = lines.end(line) - line * length;
        line_sums[line] = LaneSum<C>(
            n, [=](int64_t i) { return GammaTerm(Load(line_x[i]), Load(line_ograd[i])); });
      }
    });
    for (int64_t line = 0; line < lines.count(); ++line)
      sums[lines.GammaOf(line)] += line_sums[line];
    return;
  }
  ParallelFor(length, RowGrain(lines.count()), [=](int64_t begin, int64_t end) {
    for (int64_t line = 0; line < lines.count(); ++line) {
      C* const line_sums = sums + lines.GammaOf(line);
      const int64_t first = line * length;
      for (int64_t i = begin; i < end; ++i) {
        line_sums[i] += GammaTerm(Load(x[first + i]), Load(ograd[first + i]));
      }
    }
  });
}

template <typename T>
void PreluBackward(const KernelContext& c) {
  using enum LeakyReLUGradientArrays::Input;
  using enum LeakyReLUGradientArrays::Output;
  using C = ComputeType<T>;
  const T* ograd = c.inputs[kOgrad].as<T>();
  const T* x = c.inputs[kValue].as<T>();
  const PreluLines lines(GammaIndex(c.inputs[kValue].shape, c.inputs[kMaskOrGamma].shape));
  if (c.reqs[kGammaGrad] != WriteReq::kNull) {
    const int64_t size = c.outputs[kGammaGrad].size();
    C* sums = static_cast<C*>(c.workspace);
    SumGammaGradients(lines, x, ograd, size, sums);
    T* grad = c.outputs[kGammaGrad].as<T>();
    const bool add = c.reqs[kGammaGrad] == WriteReq::kAdd;
    for (int64_t k = 0; k < size; ++k) Store(grad + k, sums[k], add);
  }
  if (c.reqs[0] != WriteReq::kNull) {
    T* grad = c.outputs[0].as<T>();
    const bool add = c.reqs[0] == WriteReq::kAdd;
    StoreEachOfPrelu(lines, c.inputs[kMaskOrGamma].as<T>(), grad, add, [=](int64_t i, C gamma) {
      return LeakyGradient::Apply(Load(ograd[i]), Load(x[i]), gamma);
    });
  }
}

// Computes output 0 = or += the function of the operands.
absl::Status Run(const KernelContext& c, const ElemwiseLoops& loops,
                 absl::Span<const ElemwiseOperand> operands) {
  return RunElemwise(loops, operands, c.outputs[0], c.reqs[0]);
}

absl::Status LeakyReluCpu(const KernelContext& c) {
  using enum LeakyReLUArrays::Input;
  const auto& param = c.param<LeakyReluParam>();
  if (param.act_type == LeakyReluParam::kRrelu) {
    c.outputs[0].dtype == DType::kFloat64 ? RunRandomly<double>(c) : RunRandomly<float>(c);
    return absl::OkStatus();
  }
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  const ElemwiseOperand x = OperandOf(c.inputs[kData]), slope = OperandOf(param.slope);
  switch (param.act_type) {
    case LeakyReluParam::kElu:
      return Run(c, kElemwiseLoops<Elu>, {x, slope});
    case LeakyReluParam::kSelu:
      return Run(c, kElemwiseLoops<Selu>, {x});
    case LeakyReluParam::kGelu:
      return Run(c, kElemwiseLoops<Gelu>, {x});
    case LeakyReluParam::kPrelu:
      return DispatchFloat(c.outputs[0].dtype,
                           [&](auto type) { PreluForward<typename decltype(type)::type>(c); });
    default:
      return Run(c, kElemwiseLoops<Leaky>, {x, slope});
  }
}

absl::Status LeakyReluBackwardCpu(const KernelContext& c) {
  using enum LeakyReLUGradientArrays::Input;
  const auto& param = c.param<LeakyReluParam>();
  if (param.act_type == LeakyReluParam::kPrelu) {
    return DispatchFloat(c.inputs[kOgrad].dtype,
                         [&](auto type) { PreluBackward<typename decltype(type)::type>(c); });
  }
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  const ElemwiseOperand ograd = OperandOf(c.inputs[kOgrad]), value = OperandOf(c.inputs[kValue]);
  const ElemwiseOperand slope = OperandOf(param.slope);
  switch (param.act_type) {
    case LeakyReluParam::kElu:
      return Run(c,
                 param.gradient_takes_data() ? kElemwiseLoops<EluGradientOfData>
                                             : kElemwiseLoops<EluGradient>,
                 {ograd, value, slope});
    case LeakyReluParam::kSelu:
      return Run(c, kElemwiseLoops<SeluGradient>, {ograd, value});
    case LeakyReluParam::kGelu:
      return Run(c, kElemwiseLoops<GeluGradient>, {ograd, value});
    case LeakyReluParam::kRrelu:
      return Run(c, kElemwiseLoops<LeakyGradient>,
                 {ograd, value, OperandOf(c.inputs[kMaskOrGamma])});
    default:
      return Run(c, kElemwiseLoops<LeakyGradient>, {ograd, value, slope});
  }
}

// The sums of prelu's gamma gradient, and the sums of lines, have type ComputeType: a long sum of
// 16-bit floats would stop growing.
absl::StatusOr<Prepared> PrepareBackward(const PrepareContext& c) {
  using enum LeakyReLUGradientArrays::Input;
  using enum LeakyReLUGradientArrays::Output;
  if (c.param<LeakyReluParam>().act_type != LeakyReluParam::kPrelu ||
      c.reqs[kGammaGrad] == WriteReq::kNull) {
    return Prepared{};
  }
  const ArrayView& grad = c.outputs[kGammaGrad];
  const PreluLines lines(GammaIndex(c.inputs[kValue].shape, c.inputs[kMaskOrGamma].shape));
  const int64_t sums = grad.size() + (lines.gamma_step() == 0 ? lines.count() : 0);
  return Prepared{.workspace_bytes = sums * std::max<int64_t>(SizeOf(grad.dtype), sizeof(float))};
}

COOPER_REGISTER_KERNEL(LeakyReLU, DeviceType::kCpu, kFloats, LeakyReluCpu);
COOPER_REGISTER_KERNEL(_backward_LeakyReLU, DeviceType::kCpu, kFloats, LeakyReluBackwardCpu,
                       PrepareBackward);

}  // namespace
}  // namespace cooper
