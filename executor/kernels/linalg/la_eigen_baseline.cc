// Compiles the kernels of la_kernels.h for the program's target.

#include <cmath>
#include <cstdint>

#include "Eigen/Cholesky"
#include "Eigen/LU"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "executor/kernels/linalg/la_kernels.h"
#include "executor/kernels/linalg/la_matrix.h"
#include "executor/program/kernel.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/linalg/la_param.h"

namespace cooper::eigen_baseline {
#include "executor/kernels/linalg/la_eigen.inc"
#include "executor/kernels/linalg/la_factor.inc"
#include "executor/kernels/linalg/la_triangular.inc"
}  // namespace cooper::eigen_baseline
