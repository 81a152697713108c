// GPU kernels of Activation and its gradient.

#include "executor/kernels/elemwise/activation_functions.h"
#include "executor/kernels/loops/element_map.h"
#include "executor/kernels/loops/element_map_kernel.h"
#include "executor/program/kernel.h"
#include "symbol/ops/elemwise/activation_param.h"

namespace cooper {
namespace {

absl::Status ActivationGpu(const KernelContext& c) {
  switch (c.param<ActivationParam>().act_type) {
    case ActivationType::kRelu:
      return MapGpu<Relu>(c);
    case ActivationType::kSigmoid:
      return MapGpu<Sigmoid>(c);
    case ActivationType::kTanh:
      return MapGpu<Tanh>(c);
    case ActivationType::kSoftRelu:
      return MapGpu<SoftRelu>(c);
    case ActivationType::kSoftSign:
      return MapGpu<SoftSign>(c);
  }
  return absl::InternalError("Activation: unknown act_type");
}

absl::Status ActivationBackwardGpu(const KernelContext& c) {
  switch (c.param<ActivationParam>().act_type) {
    case ActivationType::kRelu:
      return MapGpu<ReluGrad>(c);
    case ActivationType::kSigmoid:
      return MapGpu<SigmoidGrad>(c);
    case ActivationType::kTanh:
      return MapGpu<TanhGrad>(c);
    case ActivationType::kSoftRelu:
      return MapGpu<SoftReluGrad>(c);
    case ActivationType::kSoftSign:
      return MapGpu<SoftSignGrad>(c);
  }
  return absl::InternalError("_backward_Activation: unknown act_type");
}

COOPER_REGISTER_KERNEL(Activation, DeviceType::kGpu, kAnyDType, ActivationGpu);
COOPER_REGISTER_KERNEL(_backward_Activation, DeviceType::kGpu, kAnyDType, ActivationBackwardGpu);

}  // namespace
}  // namespace cooper
