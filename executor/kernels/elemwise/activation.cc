// Kernels of Activation and its gradient.

#include "executor/kernels/elemwise/activation_functions.h"
#include "executor/kernels/loops/elemwise_kernel.h"
#include "executor/program/kernel.h"
#include "symbol/ops/elemwise/activation_param.h"

namespace cooper {
namespace {

absl::Status ActivationCpu(const KernelContext& c) {
  switch (c.param<ActivationParam>().act_type) {
    case ActivationType::kRelu:
      return ElemwiseKernel<Relu>(c);
    case ActivationType::kSigmoid:
      return ElemwiseKernel<Sigmoid>(c);
    case ActivationType::kTanh:
      return ElemwiseKernel<Tanh>(c);
    case ActivationType::kSoftRelu:
      return ElemwiseKernel<SoftRelu>(c);
    case ActivationType::kSoftSign:
      return ElemwiseKernel<SoftSign>(c);
  }
  return absl::InternalError("Activation: unknown act_type");
}

absl::Status ActivationBackwardCpu(const KernelContext& c) {
  switch (c.param<ActivationParam>().act_type) {
    case ActivationType::kRelu:
      return ElemwiseKernel<ReluGrad>(c);
    case ActivationType::kSigmoid:
      return ElemwiseKernel<SigmoidGrad>(c);
    case ActivationType::kTanh:
      return ElemwiseKernel<TanhGrad>(c);
    case ActivationType::kSoftRelu:
      return ElemwiseKernel<SoftReluGrad>(c);
    case ActivationType::kSoftSign:
      return ElemwiseKernel<SoftSignGrad>(c);
  }
  return absl::InternalError("_backward_Activation: unknown act_type");
}

COOPER_REGISTER_KERNEL(Activation, DeviceType::kCpu, kAnyDType, ActivationCpu);
COOPER_REGISTER_KERNEL(_backward_Activation, DeviceType::kCpu, kAnyDType, ActivationBackwardCpu);

}  // namespace
}  // namespace cooper
