// Kernels of functions of one array, and of their gradients.

#include <cmath>
#include <cstdint>
#include <numbers>
#include <type_traits>

#include "executor/cpu/elemwise/elemwise_kernel.h"
#include "executor/elements/activation_functions.h"
#include "executor/elements/special_functions.h"
#include "executor/elements/vector_math.h"
#include "executor/kernel.h"

namespace cooper {
namespace {

#define COOPER_UNARY(Name, exact_integers, body)           \
  struct Name {                                            \
    static constexpr int kArity = 1;                       \
    static constexpr bool kExactIntegers = exact_integers; \
    template <typename C>                                  \
    static C Apply(C x) {                                  \
      body                                                 \
    }                                                      \
  }

// Of g = ograd and v, the forward function's input or output as its schema says.
#define COOPER_DERIVATIVE(Name, body)             \
  struct Name {                                   \
    static constexpr int kArity = 2;              \
    static constexpr bool kExactIntegers = false; \
    template <typename C>                         \
    static C Apply(C g, C v) {                    \
      body                                        \
    }                                             \
  }

template <typename C>
constexpr bool kIsInteger = std::is_integral_v<C>;

// Rounding leaves integers alone.
template <typename C, typename Round>
C RoundedBy(C x, Round round) {
  if constexpr (kIsInteger<C>) {
    return x;
  } else {
    return round(x);
  }
}

COOPER_UNARY(Abs, true, return x < 0 ? -x : (x == 0 ? C{0} : x););
COOPER_UNARY(Sign, true, return C(x > 0) - C(x < 0););
COOPER_UNARY(
    Negative, true,
    if constexpr (kIsInteger<C>) { return static_cast<C>(-static_cast<uint64_t>(x)); } else {
      return -x;
    });
COOPER_UNARY(Round, true, return RoundedBy(x, [](C v) { return std::round(v); }););
// The lower of the two nearest integers when both are equally near.
COOPER_UNARY(Rint, true, return RoundedBy(x, [](C v) {
               const C low = std::floor(v);
               return v - low <= std::ceil(v) - v ? low : std::ceil(v);
             }););
COOPER_UNARY(Ceil, true, return RoundedBy(x, [](C v) { return std::ceil(v); }););
COOPER_UNARY(Floor, true, return RoundedBy(x, [](C v) { return std::floor(v); }););
COOPER_UNARY(Trunc, true, return RoundedBy(x, [](C v) { return std::trunc(v); }););
COOPER_UNARY(
    Square, true,
    if constexpr (kIsInteger<C>) {
      return static_cast<C>(static_cast<uint64_t>(x) * static_cast<uint64_t>(x));
    } else { return x * x; });
COOPER_UNARY(Sqrt, false, return std::sqrt(x););
COOPER_UNARY(Rsqrt, false, return 1 / std::sqrt(x););
COOPER_UNARY(Cbrt, false, return std::cbrt(x););
COOPER_UNARY(Rcbrt, false, return 1 / std::cbrt(x););
COOPER_UNARY(Reciprocal, false, return 1 / x;);
COOPER_UNARY(Exp, false, return VectorExp(x););
COOPER_UNARY(Expm1, false, return std::expm1(x););
COOPER_UNARY(Log, false, return std::log(x););
COOPER_UNARY(Log10, false, return std::log10(x););
COOPER_UNARY(Log2, false, return std::log2(x););
COOPER_UNARY(Log1p, false, return std::log1p(x););
COOPER_UNARY(Sin, false, return std::sin(x););
COOPER_UNARY(Cos, false, return std::cos(x););
COOPER_UNARY(Tan, false, return std::tan(x););
COOPER_UNARY(Arcsin, false, return std::asin(x););
COOPER_UNARY(Arccos, false, return std::acos(x););
COOPER_UNARY(Arctan, false, return std::atan(x););
COOPER_UNARY(Sinh, false, return std::sinh(x););
COOPER_UNARY(Cosh, false, return std::cosh(x););
COOPER_UNARY(Arcsinh, false, return std::asinh(x););
COOPER_UNARY(Arccosh, false, return std::acosh(x););
COOPER_UNARY(Arctanh, false, return std::atanh(x););
COOPER_UNARY(Degrees, false, return x * C(180 / std::numbers::pi););
COOPER_UNARY(Radians, false, return x * C(std::numbers::pi / 180););
COOPER_UNARY(Erf, false, return std::erf(x););
COOPER_UNARY(ErfInverse, false, return static_cast<C>(ErfInv(x)););
COOPER_UNARY(Gamma, false, return std::tgamma(x););
COOPER_UNARY(GammaLn, false, return std::lgamma(x););
COOPER_UNARY(LogicalNot, true, return x == 0;);

COOPER_DERIVATIVE(AbsGrad, return v > 0 ? g : (v < 0 ? -g : 0););
COOPER_DERIVATIVE(SquareGrad, return g * 2 * v;);
COOPER_DERIVATIVE(SqrtGrad, return g * C{0.5} / v;);
COOPER_DERIVATIVE(RsqrtGrad, return g * C{-0.5} / (v * std::sqrt(v)););
COOPER_DERIVATIVE(CbrtGrad, return g / (3 * v * v););
COOPER_DERIVATIVE(RcbrtGrad, return -g / (3 * v * std::cbrt(v)););
COOPER_DERIVATIVE(ReciprocalGrad, return -g / (v * v););
COOPER_DERIVATIVE(Expm1Grad, return g * VectorExp(v););
COOPER_DERIVATIVE(LogGrad, return g / v;);
COOPER_DERIVATIVE(Log10Grad, return g * C(std::numbers::log10e) / v;);
COOPER_DERIVATIVE(Log2Grad, return g * C(std::numbers::log2e) / v;);
COOPER_DERIVATIVE(Log1pGrad, return g / (1 + v););
COOPER_DERIVATIVE(SinGrad, return g * std::cos(v););
COOPER_DERIVATIVE(CosGrad, return -g * std::sin(v););
COOPER_DERIVATIVE(TanGrad, return g * (v * v + 1););
COOPER_DERIVATIVE(ArcsinGrad, return g / std::sqrt(1 - v * v););
COOPER_DERIVATIVE(ArccosGrad, return -g / std::sqrt(1 - v * v););
COOPER_DERIVATIVE(ArctanGrad, return g / (v * v + 1););
COOPER_DERIVATIVE(SinhGrad, return g * std::cosh(v););
COOPER_DERIVATIVE(CoshGrad, return g * std::sinh(v););
COOPER_DERIVATIVE(ArcsinhGrad, return g / std::hypot(v, C{1}););
COOPER_DERIVATIVE(ArccoshGrad, return g / std::sqrt(v * v - 1););
COOPER_DERIVATIVE(ArctanhGrad, return g / (1 - v * v););
COOPER_DERIVATIVE(ErfGrad, return g * C(2 * std::numbers::inv_sqrtpi) * std::exp(-v * v););
COOPER_DERIVATIVE(ErfInverseGrad, const double x = ErfInv(v);
                  return g * static_cast<C>(0.5 / std::numbers::inv_sqrtpi * std::exp(x * x)););
COOPER_DERIVATIVE(GammaGrad, return g * std::tgamma(v) * static_cast<C>(Digamma(v)););
COOPER_DERIVATIVE(GammaLnGrad, return g * static_cast<C>(Digamma(v)););

#undef COOPER_UNARY
#undef COOPER_DERIVATIVE

constexpr DeviceType kCpu = DeviceType::kCpu;

const KernelRegistrar kKernels[] = {
    {"relu", kCpu, kAnyDType, ElemwiseKernel<Relu>},
    {"_backward_relu", kCpu, kAnyDType, ElemwiseKernel<ReluGrad>},
    {"sigmoid", kCpu, kAnyDType, ElemwiseKernel<Sigmoid>},
    {"_backward_sigmoid", kCpu, kAnyDType, ElemwiseKernel<SigmoidGrad>},
    {"softsign", kCpu, kAnyDType, ElemwiseKernel<SoftSign>},
    {"_backward_softsign", kCpu, kAnyDType, ElemwiseKernel<SoftSignGrad>},
    {"tanh", kCpu, kAnyDType, ElemwiseKernel<Tanh>},
    {"_backward_tanh", kCpu, kAnyDType, ElemwiseKernel<TanhGrad>},
    {"abs", kCpu, kAnyDType, ElemwiseKernel<Abs>},
    {"_backward_abs", kCpu, kAnyDType, ElemwiseKernel<AbsGrad>},
    {"sign", kCpu, kAnyDType, ElemwiseKernel<Sign>},
    {"negative", kCpu, kAnyDType, ElemwiseKernel<Negative>},
    {"round", kCpu, kAnyDType, ElemwiseKernel<Round>},
    {"rint", kCpu, kAnyDType, ElemwiseKernel<Rint>},
    {"ceil", kCpu, kAnyDType, ElemwiseKernel<Ceil>},
    {"floor", kCpu, kAnyDType, ElemwiseKernel<Floor>},
    {"trunc", kCpu, kAnyDType, ElemwiseKernel<Trunc>},
    {"fix", kCpu, kAnyDType, ElemwiseKernel<Trunc>},
    {"square", kCpu, kAnyDType, ElemwiseKernel<Square>},
    {"_backward_square", kCpu, kAnyDType, ElemwiseKernel<SquareGrad>},
    {"sqrt", kCpu, kAnyDType, ElemwiseKernel<Sqrt>},
    {"_backward_sqrt", kCpu, kAnyDType, ElemwiseKernel<SqrtGrad>},
    {"rsqrt", kCpu, kAnyDType, ElemwiseKernel<Rsqrt>},
    {"_backward_rsqrt", kCpu, kAnyDType, ElemwiseKernel<RsqrtGrad>},
    {"cbrt", kCpu, kAnyDType, ElemwiseKernel<Cbrt>},
    {"_backward_cbrt", kCpu, kAnyDType, ElemwiseKernel<CbrtGrad>},
    {"rcbrt", kCpu, kAnyDType, ElemwiseKernel<Rcbrt>},
    {"_backward_rcbrt", kCpu, kAnyDType, ElemwiseKernel<RcbrtGrad>},
    {"reciprocal", kCpu, kAnyDType, ElemwiseKernel<Reciprocal>},
    {"_backward_reciprocal", kCpu, kAnyDType, ElemwiseKernel<ReciprocalGrad>},
    {"exp", kCpu, kAnyDType, ElemwiseKernel<Exp>},
    {"expm1", kCpu, kAnyDType, ElemwiseKernel<Expm1>},
    {"_backward_expm1", kCpu, kAnyDType, ElemwiseKernel<Expm1Grad>},
    {"log", kCpu, kAnyDType, ElemwiseKernel<Log>},
    {"_backward_log", kCpu, kAnyDType, ElemwiseKernel<LogGrad>},
    {"log10", kCpu, kAnyDType, ElemwiseKernel<Log10>},
    {"_backward_log10", kCpu, kAnyDType, ElemwiseKernel<Log10Grad>},
    {"log2", kCpu, kAnyDType, ElemwiseKernel<Log2>},
    {"_backward_log2", kCpu, kAnyDType, ElemwiseKernel<Log2Grad>},
    {"log1p", kCpu, kAnyDType, ElemwiseKernel<Log1p>},
    {"_backward_log1p", kCpu, kAnyDType, ElemwiseKernel<Log1pGrad>},
    {"sin", kCpu, kAnyDType, ElemwiseKernel<Sin>},
    {"_backward_sin", kCpu, kAnyDType, ElemwiseKernel<SinGrad>},
    {"cos", kCpu, kAnyDType, ElemwiseKernel<Cos>},
    {"_backward_cos", kCpu, kAnyDType, ElemwiseKernel<CosGrad>},
    {"tan", kCpu, kAnyDType, ElemwiseKernel<Tan>},
    {"_backward_tan", kCpu, kAnyDType, ElemwiseKernel<TanGrad>},
    {"arcsin", kCpu, kAnyDType, ElemwiseKernel<Arcsin>},
    {"_backward_arcsin", kCpu, kAnyDType, ElemwiseKernel<ArcsinGrad>},
    {"arccos", kCpu, kAnyDType, ElemwiseKernel<Arccos>},
    {"_backward_arccos", kCpu, kAnyDType, ElemwiseKernel<ArccosGrad>},
    {"arctan", kCpu, kAnyDType, ElemwiseKernel<Arctan>},
    {"_backward_arctan", kCpu, kAnyDType, ElemwiseKernel<ArctanGrad>},
    {"sinh", kCpu, kAnyDType, ElemwiseKernel<Sinh>},
    {"_backward_sinh", kCpu, kAnyDType, ElemwiseKernel<SinhGrad>},
    {"cosh", kCpu, kAnyDType, ElemwiseKernel<Cosh>},
    {"_backward_cosh", kCpu, kAnyDType, ElemwiseKernel<CoshGrad>},
    {"arcsinh", kCpu, kAnyDType, ElemwiseKernel<Arcsinh>},
    {"_backward_arcsinh", kCpu, kAnyDType, ElemwiseKernel<ArcsinhGrad>},
    {"arccosh", kCpu, kAnyDType, ElemwiseKernel<Arccosh>},
    {"_backward_arccosh", kCpu, kAnyDType, ElemwiseKernel<ArccoshGrad>},
    {"arctanh", kCpu, kAnyDType, ElemwiseKernel<Arctanh>},
    {"_backward_arctanh", kCpu, kAnyDType, ElemwiseKernel<ArctanhGrad>},
    {"degrees", kCpu, kAnyDType, ElemwiseKernel<Degrees>},
    {"radians", kCpu, kAnyDType, ElemwiseKernel<Radians>},
    {"erf", kCpu, kAnyDType, ElemwiseKernel<Erf>},
    {"_backward_erf", kCpu, kAnyDType, ElemwiseKernel<ErfGrad>},
    {"erfinv", kCpu, kAnyDType, ElemwiseKernel<ErfInverse>},
    {"_backward_erfinv", kCpu, kAnyDType, ElemwiseKernel<ErfInverseGrad>},
    {"gamma", kCpu, kAnyDType, ElemwiseKernel<Gamma>},
    {"_backward_gamma", kCpu, kAnyDType, ElemwiseKernel<GammaGrad>},
    {"gammaln", kCpu, kAnyDType, ElemwiseKernel<GammaLn>},
    {"_backward_gammaln", kCpu, kAnyDType, ElemwiseKernel<GammaLnGrad>},
    {"logical_not", kCpu, kAnyDType, ElemwiseKernel<LogicalNot>},
};

}  // namespace
}  // namespace cooper
