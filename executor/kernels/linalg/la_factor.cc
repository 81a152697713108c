// Registers the kernels of la_kernels.h.

#include "absl/status/status.h"
#include "executor/kernels/linalg/la_kernels.h"
#include "executor/program/kernel.h"

namespace cooper {
namespace {

// Registers FN of the current level.
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

COOPER_REGISTER_LA_KERNEL(_linalg_potrf, PotrfCpu);
COOPER_REGISTER_LA_KERNEL(_backward_linalg_potrf, PotrfBackwardCpu);
COOPER_REGISTER_LA_KERNEL(_linalg_potri, PotriCpu);
COOPER_REGISTER_LA_KERNEL(_backward_linalg_potri, PotriBackwardCpu);
COOPER_REGISTER_LA_KERNEL(_linalg_sumlogdiag, SumLogDiagCpu);
COOPER_REGISTER_LA_KERNEL(_backward_linalg_sumlogdiag, SumLogDiagBackwardCpu);
COOPER_REGISTER_LA_KERNEL(_linalg_inverse, InverseCpu);
COOPER_REGISTER_LA_KERNEL(_backward_linalg_inverse, InverseBackwardCpu);
COOPER_REGISTER_LA_KERNEL(_linalg_det, DetCpu);
COOPER_REGISTER_LA_KERNEL(_backward_linalg_det, DetBackwardCpu);
COOPER_REGISTER_LA_KERNEL(_linalg_slogdet, SlogdetCpu);
COOPER_REGISTER_LA_KERNEL(_backward_linalg_slogdet, SlogdetBackwardCpu);
COOPER_REGISTER_LA_KERNEL(_linalg_trmm, TrmmCpu);
COOPER_REGISTER_LA_KERNEL(_backward_linalg_trmm, TrmmBackwardCpu);
COOPER_REGISTER_LA_KERNEL(_linalg_trsm, TrsmCpu);
COOPER_REGISTER_LA_KERNEL(_backward_linalg_trsm, TrsmBackwardCpu);

}  // namespace
}  // namespace cooper
