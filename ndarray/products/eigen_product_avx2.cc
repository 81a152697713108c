// Implements the products of eigen_product.h for CpuLevel::kAvx2.

#include "ndarray/products/eigen_product.h"

#ifdef COOPER_CPU_LEVELS

#include "ndarray/products/begin_eigen_avx2.inc"
//
#include "Eigen/Core"

namespace cooper::eigen_avx2 {
#include "ndarray/products/eigen_product.inc"
}  // namespace cooper::eigen_avx2

#include "ndarray/products/end_eigen_avx2.inc"

#endif  // COOPER_CPU_LEVELS
