#ifndef COOPER_EXECUTOR_KERNELS_LOOPS_VECTOR_ERF_H_
#define COOPER_EXECUTOR_KERNELS_LOOPS_VECTOR_ERF_H_

// The error function without branches or calls (vector_math.h), for float and double, with errors
// of at most 1.5 units in the last place, its inverse, with errors of at most 4 (1 for float), and
// the normal distribution (vector_math_test.cc).

#include <cmath>
#include <limits>
#include <numbers>

#include "executor/kernels/loops/vector_log.h"
#include "executor/kernels/loops/vector_math.h"
#include "executor/kernels/loops/vector_polynomial.h"
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

// Returns the normal distribution (1 + erf(x / sqrt(2))) / 2, with an absolute error of at most
// 1.2e-7 for float: 1 - q(x) or, for x < 0, q(|x|), with q = exp(-t) / 2 and a minimax fit for t,
// whose weight is q. q is 0 beyond 5.7. Gelu calls it.
COOPER_HOST_DEVICE inline float VectorNormalCdf(float x) {
  const float a = std::fabs(x), a2 = a * a;
  const float t01 = 0.79788569f * a - 1.5051842e-8f;
  const float t23 = 0.036393713f * a + 0.31829659f;
  const float t45 = 0.00010111095f * a - 0.0049043442f;
  const float t67 = -2.6769571e-5f * a + 0.00012653137f;
  const float t = (((1.9214069e-6f * a2 + t67) * a2 + t45) * a2 + t23) * a2 + t01;
  const auto [n, expm1] = SplitVectorExp(-t);
  const float near = (expm1 + 1.0f) * VectorExp2(n - 1);
  const float q = a > 5.7f ? 0.0f : near;
  return x < 0.0f ? q : 1.0f - q;
}
COOPER_HOST_DEVICE inline double VectorNormalCdf(double x) {
  return 0.5 * (1.0 + VectorErf(x * (std::numbers::sqrt2 / 2)));
}

// Returns the inverse of erf, in double for floats too, whose gradient needs the digits: NaN
// outside [-1, 1], infinite at the ends. It is y times a function of w = -log(1 - y^2) or, near the
// ends, of its root, by near-minimax fits.
COOPER_HOST_DEVICE inline double VectorErfInv(double y) {
  constexpr double kLow[] = {
      1.6536545626831027,      0.2401581824255883,     -0.00603367087142785,
      -0.000740702534154477,   0.00018673420802464837, -1.3882523394405316e-05,
      -1.3654691850603575e-06, 4.234788173782339e-07,  -2.9070382262927266e-08,
      -4.11266082002324e-09,   1.0512181539804126e-09, -5.414287198084716e-11,
      -1.2976885526532075e-11, 2.6304834740560442e-12, -8.118399443074353e-14,
      -4.001237735091896e-14,  6.596407712420834e-15,  -4.0282154327661744e-17,
      -1.3016928016796445e-16, 1.557432024623325e-17,  1.150022252066253e-18,
      -3.4996044354754177e-19, -1.113483769832702e-21, 3.240704459379902e-21};
  constexpr double kHigh[] = {
      4.09222342366813,        1.0099782771612507,      0.0007127499726567868,
      -0.0006078940272738109,  0.00021217671331889729,  -6.441975292879208e-05,
      2.1980127940834413e-05,  -1.0197653301581678e-05, 5.807268904273285e-06,
      -3.211163113705769e-06,  1.4901740715163886e-06,  -5.151952607098497e-07,
      9.32914371034156e-08,    2.5530681029259062e-08,  -3.014265883602586e-08,
      1.350738676696977e-08,   -3.067147888274529e-09,  -2.3144528132251151e-10,
      4.626875665570838e-10,   -1.6929898648034197e-10, 3.381880152347581e-11,
      -2.563650275348501e-12,  -4.05213823112052e-12,   2.6151545004333146e-12,
      -3.2039140989546803e-13, -1.468263413964507e-13,  3.4810791870239615e-14};
  const double w = -VectorLog((1.0 - y) * (1.0 + y));
  const double low = VectorPolynomial(kLow, w - 3.125);
  const double high = VectorPolynomial(kHigh, std::sqrt(w) - 4.25);
  const double root = y * (w < 6.25 ? low : high);
  const double end = std::copysign(std::numeric_limits<double>::infinity(), y);
  return std::fabs(y) == 1.0 ? end : root;
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LOOPS_VECTOR_ERF_H_
