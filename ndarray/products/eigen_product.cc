#include "ndarray/products/eigen_product.h"

#include "Eigen/Core"

namespace cooper::eigen_baseline {
#include "ndarray/products/eigen_product.inc"
}  // namespace cooper::eigen_baseline
