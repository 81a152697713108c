#ifndef COOPER_EXECUTOR_KERNELS_LOOPS_VECTOR_HYPOT_H_
#define COOPER_EXECUTOR_KERNELS_LOOPS_VECTOR_HYPOT_H_

// sqrt(a^2 + b^2) without branches or calls (vector_math.h), for float and double, with errors of
// at most 1.5 units in the last place (vector_math_test.cc).

#include <cmath>
#include <limits>

#include "ndarray/base/host_device.h"

namespace cooper {

// Returns sqrt(a^2 + b^2), where squares do not overflow: in double for float, and scaled for
// double. Infinite if one of a and b is, also beside NaN.
COOPER_HOST_DEVICE inline float VectorHypot(float a, float b) {
  const double wide_a = a, wide_b = b;
  const auto root = static_cast<float>(std::sqrt(wide_a * wide_a + wide_b * wide_b));
  constexpr float kInf = std::numeric_limits<float>::infinity();
  return std::fabs(a) == kInf || std::fabs(b) == kInf ? kInf : root;
}
COOPER_HOST_DEVICE inline double VectorHypot(double a, double b) {
  const double x = std::fabs(a), y = std::fabs(b);
  const double most = x > y ? x : y;
  const double large = most > 0x1p500 ? 0x1p-600 : 1.0;
  const double scale = most < 0x1p-500 ? 0x1p600 : large;
  const double scaled_x = x * scale, scaled_y = y * scale;
  const double root = std::sqrt(scaled_x * scaled_x + scaled_y * scaled_y) / scale;
  constexpr double kInf = std::numeric_limits<double>::infinity();
  return x == kInf || y == kInf ? kInf : root;
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LOOPS_VECTOR_HYPOT_H_
