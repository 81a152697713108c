// Registers the kernels of linalg_potrf, potri, sumlogdiag, inverse, det, slogdet and their
// gradients (la_kernels.h).

#include "absl/status/status.h"
#include "executor/kernels/linalg/la_kernels.h"
#include "executor/program/kernel.h"

namespace cooper {
namespace {

COOPER_REGISTER_LA_KERNEL(_linalg_potrf, PotrfCpu);
COOPER_REGISTER_LA_KERNEL(_backward_linalg_potrf, PotrfBackwardCpu);
COOPER_REGISTER_LA_KERNEL(_linalg_potri, PotriCpu);
COOPER_REGISTER_LA_KERNEL(_backward_linalg_potri, PotriBackwardCpu);
COOPER_REGISTER_LA_KERNEL(_linalg_sumlogdiag, SumLogDiagCpu);
COOPER_REGISTER_LA_KERNEL(_backward_linalg_sumlogdiag, SumLogDiagBackwardCpu);
COOPER_REGISTER_LA_KERNEL_FROM(kMinAvx2LuRows, _linalg_inverse, InverseCpu);
COOPER_REGISTER_LA_KERNEL(_backward_linalg_inverse, InverseBackwardCpu);
COOPER_REGISTER_LA_KERNEL_FROM(kMinAvx2LuRows, _linalg_det, DetCpu);
COOPER_REGISTER_LA_KERNEL_FROM(kMinAvx2LuRows, _backward_linalg_det, DetBackwardCpu);
COOPER_REGISTER_LA_KERNEL_FROM(kMinAvx2LuRows, _linalg_slogdet, SlogdetCpu);
COOPER_REGISTER_LA_KERNEL_FROM(kMinAvx2LuRows, _backward_linalg_slogdet, SlogdetBackwardCpu);

}  // namespace
}  // namespace cooper
