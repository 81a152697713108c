#ifndef COOPER_EXECUTOR_CPU_ELEMWISE_SPECIAL_FUNCTIONS_H_
#define COOPER_EXECUTOR_CPU_ELEMWISE_SPECIAL_FUNCTIONS_H_

// Functions that the C library lacks.

namespace cooper {

// The logarithmic derivative of the gamma function; infinite at 0, NaN at -1, -2, ...
double Digamma(double x);

// The inverse of std::erf: NaN outside [-1, 1], infinite at its ends.
double ErfInv(double y);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_CPU_ELEMWISE_SPECIAL_FUNCTIONS_H_
