#ifndef COOPER_EXECUTOR_KERNELS_LOOPS_VECTOR_ERF_H_
#define COOPER_EXECUTOR_KERNELS_LOOPS_VECTOR_ERF_H_

// The error function without branches or calls (vector_math.h), for float and double, with errors
// of at most 1.5 units in the last place (vector_math_test.cc), and its inverse for float. ErfInv
// in special_functions.h is the inverse for double.

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "executor/kernels/loops/vector_log.h"
#include "executor/kernels/loops/vector_math.h"
#include "ndarray/base/host_device.h"

namespace cooper {

// Returns erf(x): x + x p(x^2) near 0, otherwise 1 - exp(-t(|x|)), with the sign of x. p and t =
// -log(1 - erf) are minimax fits. Both forms are computed and one is selected. The result is 1 or
// -1 beyond 4; erf(-0) is -0, erf(NaN) is NaN.
COOPER_HOST_DEVICE inline float VectorErf(float x) {
  const float magnitude = std::fabs(x);
  const float z = x * x, z2 = z * z;
  // erf(x) = x + x p(x^2) for |x| < 0.9. p is summed by Horner's rule over pairs of coefficients.
  const float p01 = -0.37612635f * z + 0.12837917f;
  const float p23 = -0.026860508f * z + 0.11283715f;
  const float p45 = -0.00081756395f * z + 0.0052038592f;
  const float small = (((8.5131049e-5f * z2 + p45) * z2 + p23) * z2 + p01) * x + x;

  // -log(1 - erf(x)) as a polynomial in |x| - 0.9, which is smooth: 1 - erf itself falls too fast
  // for one. At 4 the result rounds to 1.
  const float u = magnitude - 0.9f, u2 = u * u;
  const float t01 = 2.4716332f * u + 1.5940973f;
  const float t23 = 0.045715357f * u + 0.83002880f;
  const float t45 = 0.0019908254f * u - 0.010922610f;
  const float t = ((-0.00019718150f * u2 + t45) * u2 + t23) * u2 + t01;
  const float near_one = 1.0f - VectorExpOfNonPositive(-t);
  const float large = std::copysign(magnitude > 4.0f ? 1.0f : near_one, x);
  return magnitude < 0.9f ? small : large;
}

// Returns erf(x) in double, by the method of the float function. The forms meet at 1 instead of
// 0.9, and the result is 1 or -1 beyond 6.
COOPER_HOST_DEVICE inline double VectorErf(double x) {
  const double magnitude = std::fabs(x);
  const double z = x * x, z2 = z * z, z4 = z2 * z2;
  // The polynomials have 12 and 19 coefficients, in Estrin's order, for the digits of a double.
  const double p01 = -0.37612638903183519539 * z + 0.1283791670955125657;
  const double p23 = -0.026866170643111468549 * z + 0.11283791670944184724;
  const double p45 = -0.00085483259293151598583 * z + 0.0052239776061184868286;
  const double p67 = -0.000014924712302392086455 * z + 0.00012055293576920751762;
  const double p89 = -1.6206313792919322476e-7 * z + 1.6447131575896415557e-6;
  const double pab = -7.7794687503160014113e-10 * z + 1.371098054253663492e-8;
  const double p = ((pab * z2 + p89) * z4 + (p67 * z2 + p45)) * z4 + (p23 * z2 + p01);

  const double u = magnitude - 1.0, u2 = u * u, u4 = u2 * u2, u8 = u4 * u4;
  const double t01 = 2.6389675142347882534 * u + 1.8496055099332482562;
  const double t23 = 0.041561098041808835808 * u + 0.84310725635867679633;
  const double t45 = 0.0019779025679544217973 * u - 0.010033825374414082384;
  const double t67 = -0.000026277874569587241271 * u - 0.00023732248165010165426;
  const double t89 = -9.6088995935420373343e-6 * u + 0.000027159111390460204511;
  const double tab = -1.4287543971320009253e-7 * u + 2.0597717394718195692e-6;
  const double tcd = 5.2037794096296839143e-8 * u - 9.7547236702876551895e-8;
  const double tef = 2.8640351314033936698e-9 * u - 1.4911423281996781312e-8;
  const double tgh = 2.8815591548261001553e-11 * u - 3.6824772864112779764e-10;
  // The highest coefficients are summed apart, so that the two halves do not wait for each other.
  const double high =
      (-1.0391042018323143359e-12 * u2 + tgh) * u8 + ((tef * u2 + tcd) * u4 + (tab * u2 + t89));
  const double t = high * u8 + ((t67 * u2 + t45) * u4 + (t23 * u2 + t01));
  const double near_one = 1.0 - VectorExpOfNonPositive(-t);
  const double large = std::copysign(magnitude > 6.0 ? 1.0 : near_one, x);
  return magnitude < 1.0 ? p * x + x : large;
}

// Returns the inverse of erf in double, for a float: NaN outside [-1, 1], infinite at the ends.
// Winitzki's formula, with an error of 2e-3, and a step of Halley's method on erf(x) - y, which
// cubes that error. Rounded to float it is off by at most 3 units in the last place.
COOPER_HOST_DEVICE inline double VectorErfInv(float y) {
  const double magnitude = std::fabs(static_cast<double>(y));
  constexpr double kA = 0.147;
  const double l = VectorLog((1.0 - magnitude) * (1.0 + magnitude));
  const double t = 2.0 / (std::numbers::pi * kA) + 0.5 * l;
  // The difference cancels near 0, where rounding must not make it negative.
  const double x = std::sqrt(std::max(std::sqrt(t * t - l * (1.0 / kA)) - t, 0.0));
  const double newton =
      (VectorErf(x) - magnitude) * (0.5 / std::numbers::inv_sqrtpi) * VectorExp(x * x);
  double root = x - newton / (1.0 + x * newton);
  root = magnitude == 1.0 ? std::numeric_limits<double>::infinity() : root;
  root = magnitude <= 1.0 ? root : std::numeric_limits<double>::quiet_NaN();
  return std::copysign(root, static_cast<double>(y));
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LOOPS_VECTOR_ERF_H_
