#ifndef COOPER_EXECUTOR_KERNELS_LINALG_LA_KERNELS_H_
#define COOPER_EXECUTOR_KERNELS_LINALG_LA_KERNELS_H_

// Kernels of linalg_* that Eigen computes. Eigen selects its instructions at compile time: the
// bodies (la_factor.inc, la_triangular.inc) are compiled for the program's target by
// la_eigen_baseline.cc and for CpuLevel::kAvx2 by la_eigen_avx2.cc.

#include "absl/status/status.h"
#include "executor/program/kernel.h"
#include "ndarray/threads/cpu_level.h"

namespace cooper {

namespace eigen_baseline {
#include "executor/kernels/linalg/la_kernels.inc"
}  // namespace eigen_baseline

#ifdef COOPER_CPU_LEVELS
namespace eigen_avx2 {
#include "executor/kernels/linalg/la_kernels.inc"
}  // namespace eigen_avx2
#endif

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LINALG_LA_KERNELS_H_
