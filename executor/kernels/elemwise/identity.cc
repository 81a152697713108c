// Kernels of operators whose output is their input, for nodes whose output is not a view of it.

#include <algorithm>

#include "executor/kernels/loops/convert.h"
#include "executor/kernels/loops/element_block.h"
#include "executor/program/kernel.h"
#include "symbol/ops/elemwise/make_loss_param.h"
#include "symbol/ops/rules/one_input.h"

namespace cooper {
namespace {

absl::Status CopyCpu(const KernelContext& c) {
  using enum OneInputArrays::Input;
  ConvertArray(c.inputs[kData], c.outputs[0], c.reqs[0]);
  return absl::OkStatus();
}

int64_t CountAbove(double threshold, const ArrayView& array) {
  int64_t count = 0;
  double block[kElementBlock];
  for (int64_t begin = 0; begin < array.size(); begin += kElementBlock) {
    const int64_t n = std::min(kElementBlock, array.size() - begin);
    LoadBlock(ElementAt(array.data, array.dtype, begin), array.dtype, n, block);
    for (int64_t i = 0; i < n; ++i) count += block[i] > threshold;
  }
  return count;
}

absl::Status MakeLossBackwardCpu(const KernelContext& c) {
  using enum OneInputArrays::Input;
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  const auto& param = c.param<MakeLossParam>();
  double gradient = param.grad_scale;
  if (param.normalization == MakeLossNormalization::kBatch) {
    // As in MXNet, an array counts as a matrix whose columns are the last axis.
    const Shape& shape = c.outputs[0].shape;
    gradient /= static_cast<double>(shape.Product(0, std::max(0, shape.rank() - 1)));
  } else if (param.normalization == MakeLossNormalization::kValid) {
    gradient /=
        static_cast<double>(std::max<int64_t>(1, CountAbove(param.valid_thresh, c.inputs[kData])));
  }
  FillArray(gradient, c.outputs[0], c.reqs[0]);
  return absl::OkStatus();
}

COOPER_REGISTER_KERNEL(_copy, DeviceType::kCpu, kAnyDType, CopyCpu);
COOPER_REGISTER_KERNEL(_CrossDeviceCopy, DeviceType::kCpu, kAnyDType, CopyCpu);
COOPER_REGISTER_KERNEL(BlockGrad, DeviceType::kCpu, kAnyDType, CopyCpu);
COOPER_REGISTER_KERNEL(_identity_with_attr_like_rhs, DeviceType::kCpu, kAnyDType, CopyCpu);
COOPER_REGISTER_KERNEL(make_loss, DeviceType::kCpu, kAnyDType, CopyCpu);
COOPER_REGISTER_KERNEL(MakeLoss, DeviceType::kCpu, kAnyDType, CopyCpu);
COOPER_REGISTER_KERNEL(_backward_MakeLoss, DeviceType::kCpu, kAnyDType, MakeLossBackwardCpu);

}  // namespace
}  // namespace cooper
