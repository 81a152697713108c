#ifndef COOPER_EXECUTOR_KERNELS_LOOPS_UNARY_FUNCTIONS_H_
#define COOPER_EXECUTOR_KERNELS_LOOPS_UNARY_FUNCTIONS_H_

// Functions of one element, and their gradients as functions of (ograd, value), for element loops
// of every device, in the form that elemwise_loop.h describes. activation_functions.h has those of
// Activation; binary_functions.h has functions of two elements. The kernels are in
// executor/kernels/elemwise/unary*; reductions apply some of the functions to their inputs.
//
// MXNet's functions are in src/operator/mshadow_op.h. C is a compute type: float, double or, if
// kExactIntegers, int64_t; integers are otherwise computed in double and truncated when they are
// stored. Domain errors give NaN and poles give infinities, as in the C library; no function fails.
// Functions by Vector... have the error bounds of vector_math.h, the others those of the C library
// of the device. Gradients divide and multiply as written: they overflow where the derivative is
// infinite.

#include <cmath>
#include <cstdint>
#include <numbers>
#include <type_traits>

#include "executor/kernels/loops/vector_cbrt.h"
#include "executor/kernels/loops/vector_erf.h"
#include "executor/kernels/loops/vector_gamma.h"
#include "executor/kernels/loops/vector_hyperbolic.h"
#include "executor/kernels/loops/vector_hypot.h"
#include "executor/kernels/loops/vector_log.h"
#include "executor/kernels/loops/vector_math.h"
#include "executor/kernels/loops/vector_trig.h"
#include "executor/kernels/loops/wrapping.h"
#include "ndarray/base/host_device.h"

namespace cooper {

// Whether C is an integer type.
template <typename C>
inline constexpr bool kIsInteger = std::is_integral_v<C>;

// Declares struct Name with the function `body` of x. `exact_integers` says that integers are
// computed as int64_t: for functions whose result for an integer is an integer.
#define COOPER_UNARY(Name, exact_integers, body)           \
  struct Name {                                            \
    static constexpr int kArity = 1;                       \
    static constexpr bool kExactIntegers = exact_integers; \
    template <typename C>                                  \
    COOPER_HOST_DEVICE static C Apply(C x) {               \
      body                                                 \
    }                                                      \
  }

// Declares a rounding. It keeps integers unchanged.
#define COOPER_ROUNDING(Name, value) \
  COOPER_UNARY(                      \
      Name, true, if constexpr (kIsInteger<C>) { return x; } else { return value; })

// Declares the gradient of a function: g times the derivative. Takes g = ograd and v, the input or
// the output of the forward function as its schema says. COOPER_DERIVATIVE is for functions
// computed in floating point.
#define COOPER_DERIVATIVE_OF(Name, exact_integers, body)   \
  struct Name {                                            \
    static constexpr int kArity = 2;                       \
    static constexpr bool kExactIntegers = exact_integers; \
    template <typename C>                                  \
    COOPER_HOST_DEVICE static C Apply(C g, C v) {          \
      body                                                 \
    }                                                      \
  }
#define COOPER_DERIVATIVE(Name, body) COOPER_DERIVATIVE_OF(Name, false, body)

// Declares a function of an angle: `value` for any x, and `vector`, the vector form, which holds up
// to kVectorAngleLimit. Loops of the CPU choose between them (LimitedLoopBody in elemwise_loop.h);
// the GPU uses `value`. The angle is v: a gradient has (C g, C v).
#define COOPER_ANGLE(Name, arity, arguments, value, vector) \
  struct Name {                                             \
    static constexpr int kArity = arity;                    \
    static constexpr bool kExactIntegers = false;           \
    template <typename C>                                   \
    COOPER_HOST_DEVICE static C Apply arguments {           \
      return value;                                         \
    }                                                       \
    template <typename C>                                   \
    static bool VectorHolds arguments {                     \
      return std::fabs(v) <= C(kVectorAngleLimit);          \
    }                                                       \
    template <typename C>                                   \
    static C ApplyVector arguments {                        \
      return vector;                                        \
    }                                                       \
  }

// Arithmetic. Integers wrap around, so Abs and Negative of the least integer are that integer. Abs
// of -0 is 0. Sign and LogicalNot of NaN are 0.
COOPER_UNARY(Same, true, return x;);
COOPER_UNARY(Abs, true, return x < 0 ? WrapNegate(x) : (x == 0 ? C{0} : x););
COOPER_UNARY(Sign, true, return C(x > 0) - C(x < 0););
COOPER_UNARY(Negative, true, return WrapNegate(x););
// Round takes halves away from 0. For Rint, ties round to the lower integer, as in MXNet: Rint(2.5)
// is 2 and Rint(-2.5) is -3, unlike std::rint, which takes the even one.
COOPER_ROUNDING(Round, std::round(x));
COOPER_ROUNDING(Rint, x - std::floor(x) <= std::ceil(x) - x ? std::floor(x) : std::ceil(x));
COOPER_ROUNDING(Ceil, std::ceil(x));
COOPER_ROUNDING(Floor, std::floor(x));
COOPER_ROUNDING(Trunc, std::trunc(x));
// x^2, which wraps around for integers; sqrt(x) and 1 / sqrt(x), NaN for x < 0; the real cube root,
// defined for negative x too, and its reciprocal; 1 / x. At 0 the reciprocals are infinite, with
// the sign of the zero.
COOPER_UNARY(Square, true, return WrapMul(x, x););
COOPER_UNARY(Sqrt, false, return std::sqrt(x););
COOPER_UNARY(Rsqrt, false, return 1 / std::sqrt(x););
COOPER_UNARY(Cbrt, false, return VectorCbrt(x););
COOPER_UNARY(Rcbrt, false, return 1 / VectorCbrt(x););
COOPER_UNARY(Reciprocal, false, return 1 / x;);
// Exponentials and logarithms (vector_math.h, vector_log.h). Expm1 and Log1p keep all digits near
// 0, where exp(x) - 1 and log(1 + x) would cancel. Logarithms are -infinity at 0 and NaN below it.
COOPER_UNARY(Exp, false, return VectorExp(x););
COOPER_UNARY(Expm1, false, return VectorExpm1(x););
COOPER_UNARY(Log, false, return VectorLog(x););
COOPER_UNARY(Log10, false, return VectorLog10(x););
COOPER_UNARY(Log2, false, return VectorLog2(x););
COOPER_UNARY(Log1p, false, return VectorLog1p(x););
// Functions of an angle in radians (vector_trig.h); NaN for infinities.
COOPER_ANGLE(Sin, 1, (C v), std::sin(v), VectorSin(v));
COOPER_ANGLE(Cos, 1, (C v), std::cos(v), VectorCos(v));
COOPER_ANGLE(Tan, 1, (C v), std::tan(v), VectorTan(v));
// Their inverses: Arcsin and Arctan in [-pi / 2, pi / 2], Arccos in [0, pi]. Arcsin and Arccos are
// NaN for |x| > 1.
COOPER_UNARY(Arcsin, false, return VectorArcsin(x););
COOPER_UNARY(Arccos, false, return VectorArccos(x););
COOPER_UNARY(Arctan, false, return VectorArctan(x););
// Hyperbolic functions and their inverses (vector_hyperbolic.h). Tanh is with the activations.
// Arccosh is NaN below 1; Arctanh is infinite at -1 and 1, and NaN beyond.
COOPER_UNARY(Sinh, false, return VectorSinh(x););
COOPER_UNARY(Cosh, false, return VectorCosh(x););
COOPER_UNARY(Arcsinh, false, return VectorArcsinh(x););
COOPER_UNARY(Arccosh, false, return VectorArccosh(x););
COOPER_UNARY(Arctanh, false, return VectorArctanh(x););
// Conversions from radians to degrees and back.
COOPER_UNARY(Degrees, false, return x * C(180 / std::numbers::pi););
COOPER_UNARY(Radians, false, return x * C(std::numbers::pi / 180););
// The error function 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x, and its inverse,
// which is computed in double for float too.
COOPER_UNARY(Erf, false, return VectorErf(x););
COOPER_UNARY(ErfInverse, false, return static_cast<C>(VectorErfInv(x)););
// The gamma function and the logarithm of its magnitude (vector_gamma.h). Gamma overflows above 35
// in float and above 171.6 in double; it is infinite at 0 and NaN at negative integers, where
// GammaLn is infinite.
COOPER_UNARY(Gamma, false, return VectorGamma(x););
COOPER_UNARY(GammaLn, false, return VectorLogGamma(x););
// 1 where x is 0, also for -0, otherwise 0.
COOPER_UNARY(LogicalNot, true, return x == 0;);

// Gradients. v is the output for SqrtGrad, CbrtGrad and TanGrad, otherwise the input. Functions
// without a gradient here are roundings and signs, whose gradient is 0, or have one that other
// operators express, such as exp and degrees. AbsGrad is 0 at v = 0.
COOPER_DERIVATIVE_OF(AbsGrad, true, return v > 0 ? g : (v < 0 ? WrapNegate(g) : C{0}););
COOPER_DERIVATIVE_OF(SquareGrad, true, return WrapMul(WrapMul(g, C{2}), v););
// g / (2 v) with v = sqrt(x), -g / (2 v^1.5), g / (3 v^2) with v = cbrt(x), -g / (3 v^(4/3)) and -g
// / v^2. At 0 they are infinite, or NaN if g is 0 too.
COOPER_DERIVATIVE(SqrtGrad, return g * C{0.5} / v;);
COOPER_DERIVATIVE(RsqrtGrad, return g * C{-0.5} / (v * std::sqrt(v)););
COOPER_DERIVATIVE(CbrtGrad, return g / (3 * v * v););
COOPER_DERIVATIVE(RcbrtGrad, return -g / (3 * v * VectorCbrt(v)););
COOPER_DERIVATIVE(ReciprocalGrad, return -g / (v * v););
// g exp(v); g / v, g / (v ln 10) and g / (v ln 2); g / (1 + v).
COOPER_DERIVATIVE(Expm1Grad, return g * VectorExp(v););
COOPER_DERIVATIVE(LogGrad, return g / v;);
COOPER_DERIVATIVE(Log10Grad, return g * C(std::numbers::log10e) / v;);
COOPER_DERIVATIVE(Log2Grad, return g * C(std::numbers::log2e) / v;);
COOPER_DERIVATIVE(Log1pGrad, return g / (1 + v););
// g cos(v), -g sin(v), and g (1 + v^2) with v = tan(x).
COOPER_ANGLE(SinGrad, 2, (C g, C v), g* std::cos(v), g* VectorCos(v));
COOPER_ANGLE(CosGrad, 2, (C g, C v), -g* std::sin(v), -g* VectorSin(v));
COOPER_DERIVATIVE(TanGrad, return g * (v * v + 1););
// g / sqrt(1 - v^2), its negative, and g / (1 + v^2). The first two are infinite at -1 and 1, and
// lose digits close to them, because 1 - v^2 cancels.
COOPER_DERIVATIVE(ArcsinGrad, return g / std::sqrt(1 - v * v););
COOPER_DERIVATIVE(ArccosGrad, return -g / std::sqrt(1 - v * v););
COOPER_DERIVATIVE(ArctanGrad, return g / (v * v + 1););
// g cosh(v), g sinh(v), g / sqrt(v^2 + 1), g / sqrt(v^2 - 1) and g / (1 - v^2). hypot avoids the
// overflow of v^2; ArccoshGrad is 0 where v^2 overflows.
COOPER_DERIVATIVE(SinhGrad, return g * VectorCosh(v););
COOPER_DERIVATIVE(CoshGrad, return g * VectorSinh(v););
COOPER_DERIVATIVE(ArcsinhGrad, return g / VectorHypot(v, C{1}););
COOPER_DERIVATIVE(ArccoshGrad, return g / std::sqrt(v * v - 1););
COOPER_DERIVATIVE(ArctanhGrad, return g / (1 - v * v););
// 2 g / sqrt(pi) exp(-v^2), and sqrt(pi) / 2 g exp(erfinv(v)^2), the latter in double.
COOPER_DERIVATIVE(ErfGrad, return g * C(2 * std::numbers::inv_sqrtpi) * VectorExp(-v * v););
COOPER_DERIVATIVE(ErfInverseGrad, const double x = VectorErfInv(v);
                  return g * static_cast<C>(0.5 / std::numbers::inv_sqrtpi * VectorExp(x * x)););
// g gamma(v) psi(v) and g psi(v), with psi the logarithmic derivative of gamma.
COOPER_DERIVATIVE(GammaGrad, return g * VectorGamma(v) * VectorDigamma(v););
COOPER_DERIVATIVE(GammaLnGrad, return g * VectorDigamma(v););

#undef COOPER_ANGLE
#undef COOPER_ROUNDING
#undef COOPER_UNARY
#undef COOPER_DERIVATIVE
#undef COOPER_DERIVATIVE_OF

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LOOPS_UNARY_FUNCTIONS_H_
