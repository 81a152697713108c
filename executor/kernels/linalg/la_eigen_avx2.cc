// Compiles the kernels of la_kernels.h for CpuLevel::kAvx2.

#include <cmath>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "executor/kernels/linalg/la_kernels.h"
#include "executor/kernels/linalg/la_matrix.h"
#include "executor/program/kernel.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/linalg/la_param.h"

#ifdef COOPER_CPU_LEVELS

#include "ndarray/products/begin_eigen_avx2.inc"
//
#include "Eigen/Cholesky"
#include "Eigen/LU"

namespace cooper::eigen_avx2 {
#include "executor/kernels/linalg/la_eigen.inc"
#include "executor/kernels/linalg/la_factor.inc"
#include "executor/kernels/linalg/la_triangular.inc"
}  // namespace cooper::eigen_avx2

#include "ndarray/products/end_eigen_avx2.inc"

#endif  // COOPER_CPU_LEVELS
