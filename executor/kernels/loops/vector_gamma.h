#ifndef COOPER_EXECUTOR_KERNELS_LOOPS_VECTOR_GAMMA_H_
#define COOPER_EXECUTOR_KERNELS_LOOPS_VECTOR_GAMMA_H_

// The gamma function, the logarithm of its magnitude and its logarithmic derivative, without
// branches or calls (vector_math.h). C is float or double; all is computed in double, and limits
// are applied to the result in C.
//
// Errors are at most 1 unit in the last place of a float. For double they are at most 6 for
// VectorGamma, 8 for VectorLogGamma where x > 0, and 10 for VectorDigamma where x > 0; the latter
// in units of a result of at least 1, since its terms cancel near the zero. For x < 0 the
// logarithm and its derivative are sums of terms that cancel near each zero (vector_math_test.cc).
// Unlike std::lgamma, VectorLogGamma writes no global variable.

#include <cmath>
#include <limits>
#include <numbers>

#include "executor/kernels/loops/vector_log.h"
#include "executor/kernels/loops/vector_math.h"
#include "executor/kernels/loops/vector_polynomial.h"
#include "ndarray/base/host_device.h"

namespace cooper {

// The argument at which Stirling's series begins to apply.
inline constexpr double kStirlingLimit = 8;

// Reduces the argument of a gamma function. The reflection makes it y > -1/2, and the recurrence
// gives gamma(y) = gamma(2 + u) times the factors below, for y < 8.
struct GammaArgument {
  bool is_reflected;  // x <= -1/2, and y = -x
  double y;
  double nearest;  // the integer next to y
  double u;        // y - nearest, in [-1/2, 1/2]: exact, so that no digit of y is lost

  COOPER_HOST_DEVICE explicit GammaArgument(double x)
      : is_reflected(x <= -0.5),
        y(is_reflected ? -x : x),
        nearest(std::floor(y + 0.5)),
        u(y - nearest) {}

  // Returns (y - 1) (y - 2) ... (2 + u), which gamma(2 + u) is multiplied by; 1 for y < 2.5.
  COOPER_HOST_DEVICE double Factor() const {
    double product = 1.0;
    for (int i = 1; i <= 6; ++i) {
      const double factor = y - i;
      product *= nearest >= i + 2 ? factor : 1.0;
    }
    return product;
  }
  // Returns what gamma(2 + u) is divided by: y, or y (y + 1) for y < 1/2; 1 for y >= 1.5.
  COOPER_HOST_DEVICE double Divisor() const {
    const double two = y * (y + 1.0), one = nearest < 1.0 ? two : y;
    return nearest < 2.0 ? one : 1.0;
  }
  // Returns sin(pi u), by a minimax fit. sin(pi y) is the same or, for an odd `nearest`, its
  // negative.
  COOPER_HOST_DEVICE double SinPi() const {
    constexpr double kCoefficients[] = {
        3.141592653589793,     -5.167712780049969,      2.5501640398773007,
        -0.5992645293189447,   0.0821458865731029,      -0.007370430505916944,
        0.0004662998161898394, -2.1903497074626018e-05, 7.697826768224191e-07};
    return u * VectorPolynomial(kCoefficients, u * u);
  }
};

// Returns log(gamma(y)) - (y - 1/2) log(y) + y - log(2 pi) / 2 for y >= 8, by a minimax fit of
// Stirling's series.
COOPER_HOST_DEVICE inline double StirlingSeries(double y) {
  constexpr double kCoefficients[] = {0.0833333333333333,    -0.002777777777606244,
                                      0.0007936506649488252, -0.0005952025951802712,
                                      0.0008372834512071336, -0.0016526004455595122};
  const double inverse = 1.0 / y;
  return VectorPolynomial(kCoefficients, inverse * inverse) * inverse;
}

// Returns the logarithm of the magnitude of gamma(x); infinite at 0, -1, -2, ... and at infinities.
template <typename C>
COOPER_HOST_DEVICE C VectorLogGamma(C x) {
  const GammaArgument a(x);
  const bool is_large = a.y >= kStirlingLimit;
  // log(gamma(2 + u)) = u p(u): exact at the zero, and at that at 1, where log(y) is subtracted.
  constexpr double kCoefficients[] = {
      0.42278433509846713,     0.3224670334241132,      -0.06735230105319814,
      0.02058080842778457,     -0.0073855510286681535,  0.002890510330738737,
      -0.0011927539120010226,  0.0005096695248853096,   -0.00022315475074520367,
      9.945750909889392e-05,   -4.4926351103833334e-05, 2.050726741605779e-05,
      -9.438458716242811e-06,  4.374374916915131e-06,   -2.0449201467015115e-06,
      9.578663334114758e-07,   -4.303558760359961e-07,  2.0304806751615227e-07,
      -1.3412819758517287e-07, 6.379047507619774e-08};
  const double near = a.u * VectorPolynomial(kCoefficients, a.u);
  const double divisor = std::fabs(a.Divisor()), factor = a.Factor();
  const bool divides = a.nearest < 2.0;
  const double of_near = divides ? divisor : factor;
  const double log = VectorLog(is_large ? a.y : of_near);
  // Stirling's formula: (y - 1/2) log(y) - y + log(2 pi) / 2 + series.
  const double far = (a.y - 0.5) * (log - 1.0) + (0.41893853320467274178 + StirlingSeries(a.y));
  const double sum = near + (divides ? -log : log);
  const double value = is_large ? far : sum;
  // Reflection: gamma(x) gamma(-x) = -pi / (x sin(pi x)).
  const double reflected = -VectorLog(a.y * std::fabs(a.SinPi()) * std::numbers::inv_pi) - value;
  const auto result = static_cast<C>(a.is_reflected ? reflected : value);
  constexpr C kInf = std::numeric_limits<C>::infinity();
  return std::fabs(x) == kInf ? kInf : result;
}

// Returns gamma(x). It overflows above 171.6 and is infinite at 0, with the sign of the zero; NaN
// at -1, -2, ... and at -infinity.
template <typename C>
COOPER_HOST_DEVICE C VectorGamma(C x) {
  const GammaArgument a(x);
  const bool is_large = a.y >= kStirlingLimit;
  constexpr double kCoefficients[] = {1.0,
                                      0.4227843350984668,
                                      0.41184033042643986,
                                      0.08157691924717193,
                                      0.07424901075347107,
                                      -0.0002669820747604432,
                                      0.01115404572113896,
                                      -0.0028526456294803125,
                                      0.0021039332448517375,
                                      -0.0009195771393381067,
                                      0.0004903901012192666,
                                      -0.0002409081678851826,
                                      0.00012165717113737426,
                                      -6.099437734759249e-05,
                                      3.0554308764876926e-05,
                                      -1.4518030694390135e-05,
                                      7.2632956346064904e-06,
                                      -5.167425827999643e-06,
                                      2.584210735300929e-06};
  const double near = VectorPolynomial(kCoefficients, a.u);

  // Stirling's formula: sqrt(2 pi) y^(y - 1/2) exp(-y + series), as 2^p or, if it is reflected,
  // 2^-p. The terms of p that are large have exact products.
  constexpr double kLog2E = 1.44269504088896340736;
  constexpr double kLog2EHigh = 1.4426946640014648, kLog2ELow = 3.7688749856360992468e-7;
  const auto [log_high, log_low] = SplitLog2(a.y);
  const double power = a.y - 0.5;
  const double power_high = FirstBits(power), y_high = FirstBits(a.y);
  const double p_high = power_high * log_high - y_high * kLog2EHigh;
  const double p_low = ((power - power_high) * log_high + power * log_low) -
                       ((a.y - y_high) * kLog2EHigh + a.y * kLog2ELow) +
                       StirlingSeries(a.y) * kLog2E;
  const double sign = a.is_reflected ? -1.0 : 1.0;
  const VectorScaled64 scaled(sign * p_high, sign * p_low);
  const double far = scaled.mantissa * scaled.FirstFactor();
  // Multiplied at the end, because the first half of the result must not underflow before that.
  const double rest = is_large ? scaled.SecondFactor() : 1.0;

  // gamma(y) = over / under, except for the power of 2 in `rest`.
  constexpr double kRootOf2Pi = 2.5066282746310005024;
  const double near_over = near * a.Factor(), near_under = a.Divisor();
  const double over = is_large ? kRootOf2Pi * far : near_over;
  const double under = is_large ? 1.0 : near_under;
  // Reflection: gamma(x) = -pi / (y sin(pi y) gamma(y)), with x = -y. `far` then is its reciprocal.
  const double sin = a.SinPi();
  const bool is_odd = std::floor(0.5 * a.nearest) != 0.5 * a.nearest;
  const double y_sin = a.y * (is_odd ? sin : -sin);
  const double reflected_over =
      is_large ? (std::numbers::pi / kRootOf2Pi) * far : std::numbers::pi * near_under;
  const double reflected_under = y_sin * (is_large ? 1.0 : near_over);
  const double quotient =
      (a.is_reflected ? reflected_over : over) / (a.is_reflected ? reflected_under : under);
  const auto result = static_cast<C>(quotient * rest);
  // Beyond any finite result: y overflows, and -y underflows.
  constexpr C kInf = std::numeric_limits<C>::infinity();
  const C positive = x > C{200} ? kInf : result;
  const C limited = x < C{-200} ? std::copysign(C{0}, static_cast<C>(y_sin)) : positive;
  return x <= C{-0.5} && !(std::fabs(a.u) > 0.0) ? std::numeric_limits<C>::quiet_NaN() : limited;
}

// Returns the logarithmic derivative of the gamma function; infinite at 0, NaN at -1, -2, ... and
// at -infinity.
template <typename C>
COOPER_HOST_DEVICE C VectorDigamma(C x) {
  const GammaArgument a(x);
  // The recurrence psi(y) = psi(y + 8) - 1 / y - ... - 1 / (y + 7). Terms i and 7 - i have the sum
  // (2 y + 7) / (w + i (7 - i)), with w = y (y + 7), so all have one denominator.
  const bool is_small = a.y < kStirlingLimit;
  const double w = a.y * (a.y + 7.0);
  const double first = w * (w + 6.0), second = (w + 10.0) * (w + 12.0);
  const double numerator =
      (2.0 * a.y + 7.0) * ((2.0 * w + 6.0) * second + (2.0 * w + 22.0) * first);
  const double next = a.y + 8.0;
  const double shifted = is_small ? next : a.y;
  // log(y) - 1 / (2 y) - d(1 / y^2) / y^2, by a minimax fit of the asymptotic series.
  constexpr double kCoefficients[] = {0.08333333333333287,  -0.008333333331168558,
                                      0.003968252342841619, -0.004166217650696842,
                                      0.007519088230747095, -0.017711160415846534};
  const double inverse = 1.0 / shifted, square = inverse * inverse;
  const double series = VectorPolynomial(kCoefficients, square) * square + 0.5 * inverse;
  const double terms = numerator / (first * second);
  const double psi = (VectorLog(shifted) - series) - (is_small ? terms : 0.0);
  // Reflection: psi(-y) = psi(y) + 1 / y + pi cos(pi y) / sin(pi y). cos(pi u) is the sine of the
  // complement.
  GammaArgument complement = a;
  complement.u = 0.5 - std::fabs(a.u);
  const double cot = complement.SinPi() / a.SinPi();
  const double reflected = psi + (1.0 / a.y + std::numbers::pi * cot);
  const auto result = static_cast<C>(a.is_reflected ? reflected : psi);
  return a.is_reflected && a.u == 0.0 ? std::numeric_limits<C>::quiet_NaN() : result;
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LOOPS_VECTOR_GAMMA_H_
