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

// Registers FN of the current level as the CPU kernel of OP, for float32 and float64. For a source
// in an unnamed namespace of cooper.
#ifdef COOPER_CPU_LEVELS
#define COOPER_REGISTER_LA_KERNEL(OP, FN)                                                \
  absl::Status OP##AtLevel(const KernelContext& c) {                                     \
    return GetCpuLevel() >= CpuLevel::kAvx2 ? eigen_avx2::FN(c) : eigen_baseline::FN(c); \
  }                                                                                      \
  COOPER_REGISTER_KERNEL(OP, DeviceType::kCpu, kFloat32Or64, OP##AtLevel)
#else
#define COOPER_REGISTER_LA_KERNEL(OP, FN) \
  COOPER_REGISTER_KERNEL(OP, DeviceType::kCpu, kFloat32Or64, eigen_baseline::FN)
#endif

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LINALG_LA_KERNELS_H_
