// The kernel of _npi_full_like.

#include "absl/status/status.h"
#include "executor/kernels/loops/convert.h"
#include "executor/program/kernel.h"
#include "symbol/ops/numpy/creation_param.h"

namespace cooper {
namespace {

absl::Status FullLikeCpu(const KernelContext& c) {
  FillArray(c.param<NumpyFullLikeParam>().fill_value, c.outputs[0], c.reqs[0]);
  return absl::OkStatus();
}

COOPER_REGISTER_KERNEL(_npi_full_like, DeviceType::kCpu, kAnyDType, FullLikeCpu);

}  // namespace
}  // namespace cooper
