#ifndef COOPER_EXECUTOR_KERNELS_LOOPS_VECTOR_POLYNOMIAL_H_
#define COOPER_EXECUTOR_KERNELS_LOOPS_VECTOR_POLYNOMIAL_H_

// Long polynomials for the vectorised functions (vector_math.h). Short ones are written out, in an
// order of sums that suits them.

#include "ndarray/base/host_device.h"

namespace cooper {

// Returns c[0] + c[1] x + c[2] x^2 + ..., by Horner's rule over pairs of coefficients. Compilers
// unroll the loop, so that the caller's loop over elements is vectorised, for up to 34 constants.
template <int kCount>
COOPER_HOST_DEVICE double VectorPolynomial(const double (&c)[kCount], double x) {
  constexpr int kLast = kCount - 2 + kCount % 2;  // the first of the last one or two
  const double x2 = x * x;
  double sum = kCount % 2 == 0 ? c[kLast + 1] * x + c[kLast] : c[kLast];
  for (int i = kLast - 2; i >= 0; i -= 2) sum = sum * x2 + (c[i + 1] * x + c[i]);
  return sum;
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LOOPS_VECTOR_POLYNOMIAL_H_
