// Kernels of arrays that are generated from parameters, or from the shape of an input.

#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/elemwise/cpu_init.h"
#include "executor/kernels/elemwise/init_kernels.h"
#include "executor/program/kernel.h"
#include "symbol/ops/rules/one_input.h"

namespace cooper {
namespace {

absl::Status ShapeArrayCpu(const KernelContext& c) {
  return CpuInit::Generate(c, [&](int64_t i) {
    return static_cast<double>(c.inputs[OneInputArrays::kData].shape[static_cast<int>(i)]);
  });
}

COOPER_REGISTER_KERNEL(_zeros, DeviceType::kCpu, kAnyDType, ConstantKernel<CpuInit, 0>);
COOPER_REGISTER_KERNEL(zeros_like, DeviceType::kCpu, kAnyDType, ConstantKernel<CpuInit, 0>);
COOPER_REGISTER_KERNEL(_ones, DeviceType::kCpu, kAnyDType, ConstantKernel<CpuInit, 1>);
COOPER_REGISTER_KERNEL(ones_like, DeviceType::kCpu, kAnyDType, ConstantKernel<CpuInit, 1>);
COOPER_REGISTER_KERNEL(_full, DeviceType::kCpu, kAnyDType, FullKernel<CpuInit>);
COOPER_REGISTER_KERNEL(_arange, DeviceType::kCpu, kAnyDType, ArangeKernel<CpuInit>);
COOPER_REGISTER_KERNEL(_contrib_arange_like, DeviceType::kCpu, kAnyDType,
                       ArangeLikeKernel<CpuInit>);
COOPER_REGISTER_KERNEL(_linspace, DeviceType::kCpu, kAnyDType, LinspaceKernel<CpuInit>);
COOPER_REGISTER_KERNEL(_eye, DeviceType::kCpu, kAnyDType, EyeKernel<CpuInit>);
COOPER_REGISTER_KERNEL(shape_array, DeviceType::kCpu, kAnyDType, ShapeArrayCpu);
COOPER_REGISTER_KERNEL(size_array, DeviceType::kCpu, kAnyDType, SizeArrayKernel<CpuInit>);

}  // namespace
}  // namespace cooper
