#ifndef COOPER_EXECUTOR_KERNELS_LOOPS_VECTOR_CBRT_H_
#define COOPER_EXECUTOR_KERNELS_LOOPS_VECTOR_CBRT_H_

// The cube root without branches or calls (vector_math.h), for float and double, with errors of at
// most 1.5 units in the last place (vector_math_test.cc).

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "ndarray/base/host_device.h"

namespace cooper {

// Returns the cube root of a positive normal number with a relative error of 3e-9. A loop of calls
// vectorises: the code has no branch, no table and no integer division.
COOPER_HOST_DEVICE inline double ApproximateCbrt(double x) {
  // A third of the exponent and of the highest bits of the mantissa: t^3 / x is 0.905 to 1.094.
  // The division by 3 is a product, since vectors have no integer division.
  const uint64_t third = (std::bit_cast<uint64_t>(x) >> 32) * 0x55555556u >> 32;
  const double t = std::bit_cast<double>((third + 0x2a9f7000u) << 32);
  // (1 + d)^(-1/3) in that range, by a weighted least-squares fit.
  const double d = t * t * (t / x) - 1.0, d2 = d * d;
  const double p01 = -0.3333333510994408 * d + 1.0000000026263636;
  const double p23 = -0.1728268610972054 * d + 0.22221702225072257;
  const double p45 = -0.12700914544325055 * d + 0.1455563804447356;
  return t * ((p45 * d2 + p23) * d2 + p01);
}

// Returns the cube root, which has the sign of x. In float it is computed in double. The results
// for 0, -0, infinities and NaN are their arguments, as C's cbrt defines them.
COOPER_HOST_DEVICE inline float VectorCbrt(float x) {
  const float magnitude = std::fabs(x);
  const auto root = static_cast<float>(ApproximateCbrt(static_cast<double>(magnitude)));
  const bool has_root = magnitude > 0.0f && magnitude <= std::numeric_limits<float>::max();
  return has_root ? std::copysign(root, x) : x;
}
// In double, one step of Newton's method for the approximation's relative error d squares it.
// Subnormal numbers are scaled to normal ones before and back afterwards.
COOPER_HOST_DEVICE inline double VectorCbrt(double x) {
  const double magnitude = std::fabs(x);
  // The cube root of 2^54 is 2^18.
  const bool is_subnormal = magnitude < std::numeric_limits<double>::min();
  const double normal = is_subnormal ? magnitude * 0x1p54 : magnitude;
  const double t = ApproximateCbrt(normal);
  const double d = t * t * (t / normal) - 1.0;
  const double root = (t - t * d * (1.0 / 3)) * (is_subnormal ? 0x1p-18 : 1.0);
  const bool has_root = magnitude > 0.0 && magnitude <= std::numeric_limits<double>::max();
  return has_root ? std::copysign(root, x) : x;
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LOOPS_VECTOR_CBRT_H_
