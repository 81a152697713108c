// Implements the products of eigen_product.h for CpuLevel::kAvx2.
//
// All definitions of Eigen's headers get that target and a namespace of their own, so that the
// linker never uses them in place of code for any processor. The headers that Eigen includes come
// first, and get neither.

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <cerrno>
#include <climits>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iosfwd>
#include <limits>
#include <sstream>
#include <string>
#include <type_traits>

#include "ndarray/products/eigen_product.h"

#ifdef COOPER_CPU_LEVELS

#include <immintrin.h>

// Eigen tests these macros, which the target pragmas do not define.
#define __SSE3__ 1
#define __SSSE3__ 1
#define __SSE4_1__ 1
#define __SSE4_2__ 1
#define __AVX__ 1
#define __AVX2__ 1
#define __FMA__ 1
#if defined(__clang__)
#pragma clang attribute push(COOPER_TARGET_AVX2, apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,bmi,bmi2,f16c,fma")
#endif
#define Eigen EigenAvx2
#include "Eigen/Core"

namespace cooper::eigen_avx2 {
#include "ndarray/products/eigen_product.inc"
}  // namespace cooper::eigen_avx2

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif  // COOPER_CPU_LEVELS
