#ifndef COOPER_EXECUTOR_KERNELS_LINALG_LA_KERNELS_H_
#define COOPER_EXECUTOR_KERNELS_LINALG_LA_KERNELS_H_

// Kernels of linalg_* that Eigen computes. Eigen selects its instructions at compile time: the
// bodies (la_factor.inc, la_triangular.inc) are compiled for the program's target by
// la_eigen_baseline.cc and for CpuLevel::kAvx2 by la_eigen_avx2.cc.

#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/linalg/la_matrix.h"
#include "executor/program/kernel.h"
#include "ndarray/threads/cpu_level.h"

namespace cooper {

// la_kernels.inc declares the kernels, once in each namespace. Without COOPER_CPU_LEVELS there is
// the baseline alone.
namespace eigen_baseline {
#include "executor/kernels/linalg/la_kernels.inc"
}  // namespace eigen_baseline

#ifdef COOPER_CPU_LEVELS
namespace eigen_avx2 {
#include "executor/kernels/linalg/la_kernels.inc"
}  // namespace eigen_avx2
#endif

// Eigen's LU factorization reduces narrow panels, for whose short rows wide vectors cost more than
// they save: on a Zen 3 core it takes 1.7 times the time of SSE2 for 64 rows, 1.1 for 256 and 0.9
// for 512.
inline constexpr int64_t kMinAvx2LuRows = 384;

// Registers FN of the current level as the CPU kernel of OP, for float32 and float64; below
// MIN_ROWS rows of its matrices, those of the output or else of the first input, FN of the
// baseline. For a source in an unnamed namespace of cooper.
#ifdef COOPER_CPU_LEVELS
#define COOPER_REGISTER_LA_KERNEL_FROM(MIN_ROWS, OP, FN)                                \
  absl::Status OP##AtLevel(const KernelContext& c) {                                    \
    const ArrayView& in = c.inputs[0];                                                  \
    const ArrayView& out = c.outputs[0];                                                \
    const ArrayView& matrices = out.shape.rank() < in.shape.rank() ? in : out;          \
    const bool wide = GetCpuLevel() >= CpuLevel::kAvx2 && LaRows(matrices) >= MIN_ROWS; \
    return wide ? eigen_avx2::FN(c) : eigen_baseline::FN(c);                            \
  }                                                                                     \
  COOPER_REGISTER_KERNEL(OP, DeviceType::kCpu, kFloat32Or64, OP##AtLevel)
#else
#define COOPER_REGISTER_LA_KERNEL_FROM(MIN_ROWS, OP, FN) \
  COOPER_REGISTER_KERNEL(OP, DeviceType::kCpu, kFloat32Or64, eigen_baseline::FN)
#endif
// The same for all numbers of rows.
#define COOPER_REGISTER_LA_KERNEL(OP, FN) COOPER_REGISTER_LA_KERNEL_FROM(0, OP, FN)

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LINALG_LA_KERNELS_H_
