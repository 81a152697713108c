// The GPU kernel of _npi_full_like.

#include "absl/status/status.h"
#include "executor/kernels/loops/convert_cuda.h"
#include "executor/program/kernel.h"
#include "symbol/ops/numpy/creation_param.h"

namespace cooper {
namespace {

absl::Status FullLikeGpu(const KernelContext& c) {
  return FillArrayGpu(c, c.param<NumpyFullLikeParam>().fill_value, c.outputs[0], c.reqs[0]);
}

COOPER_REGISTER_KERNEL(_npi_full_like, DeviceType::kGpu, kAnyDType, FullLikeGpu);

}  // namespace
}  // namespace cooper
