// GPU kernels of arrays that are generated from parameters, or from the shape of an input.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "executor/kernels/elemwise/cuda_init.h"
#include "executor/kernels/elemwise/init_kernels.h"
#include "executor/program/kernel.h"
#include "symbol/ops/rules/one_input.h"

namespace cooper {
namespace {

struct Extents {
  static constexpr int kMaxRank = 64;
  int64_t extents[kMaxRank];
  __device__ double operator()(int64_t i) const { return static_cast<double>(extents[i]); }
};

absl::Status ShapeArrayGpu(const KernelContext& c) {
  const Shape& shape = c.inputs[OneInputArrays::kData].shape;
  if (shape.rank() > Extents::kMaxRank) {
    return absl::UnimplementedError(absl::StrCat("shape_array of ", shape.rank(), " axes"));
  }
  Extents extents = {};
  for (int i = 0; i < shape.rank(); ++i) extents.extents[i] = shape[i];
  return CudaInit::Generate(c, extents);
}

COOPER_REGISTER_KERNEL(_zeros, DeviceType::kGpu, kAnyDType, ConstantKernel<CudaInit, 0>);
COOPER_REGISTER_KERNEL(zeros_like, DeviceType::kGpu, kAnyDType, ConstantKernel<CudaInit, 0>);
COOPER_REGISTER_KERNEL(_ones, DeviceType::kGpu, kAnyDType, ConstantKernel<CudaInit, 1>);
COOPER_REGISTER_KERNEL(ones_like, DeviceType::kGpu, kAnyDType, ConstantKernel<CudaInit, 1>);
COOPER_REGISTER_KERNEL(_full, DeviceType::kGpu, kAnyDType, FullKernel<CudaInit>);
COOPER_REGISTER_KERNEL(_arange, DeviceType::kGpu, kAnyDType, ArangeKernel<CudaInit>);
COOPER_REGISTER_KERNEL(_contrib_arange_like, DeviceType::kGpu, kAnyDType,
                       ArangeLikeKernel<CudaInit>);
COOPER_REGISTER_KERNEL(_linspace, DeviceType::kGpu, kAnyDType, LinspaceKernel<CudaInit>);
COOPER_REGISTER_KERNEL(_eye, DeviceType::kGpu, kAnyDType, EyeKernel<CudaInit>);
COOPER_REGISTER_KERNEL(shape_array, DeviceType::kGpu, kAnyDType, ShapeArrayGpu);
COOPER_REGISTER_KERNEL(size_array, DeviceType::kGpu, kAnyDType, SizeArrayKernel<CudaInit>);

}  // namespace
}  // namespace cooper
