#include "ndarray/eigen_product.h"

#include "Eigen/Core"

namespace cooper::eigen_baseline {
#include "ndarray/eigen_product.inc"
}  // namespace cooper::eigen_baseline
