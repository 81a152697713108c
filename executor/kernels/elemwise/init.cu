// GPU kernels of arrays that are generated from parameters, or from the shape of an input.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "executor/kernels/elemwise/init_kernels.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"
#include "executor/kernels/loops/convert_cuda.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "symbol/ops/rules/one_input.h"

namespace cooper {
namespace {

template <typename Fn>
__global__ void WriteValues(int64_t n, const Fn value, void* out, DType dtype, bool add) {
  for (int64_t i = FirstElement(); i < n; i += ElementStep()) {
    StoreElement(out, dtype, i, value(i), add);
  }
}

struct GpuDevice {
  static absl::Status Fill(const KernelContext& c, double value) {
    return FillArrayGpu(c, value, c.outputs[0], c.reqs[0]);
  }

  template <typename Fn>
  static absl::Status Generate(const KernelContext& c, const Fn& fn) {
    if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
    const ArrayView& out = c.outputs[0];
    return LaunchElements(c, out.size(), WriteValues<Fn>, out.size(), fn, out.data, out.dtype,
                          c.reqs[0] == WriteReq::kAdd);
  }
};

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
  return GpuDevice::Generate(c, extents);
}

COOPER_REGISTER_KERNEL(_zeros, DeviceType::kGpu, kAnyDType, ConstantKernel<GpuDevice, 0>);
COOPER_REGISTER_KERNEL(zeros_like, DeviceType::kGpu, kAnyDType, ConstantKernel<GpuDevice, 0>);
COOPER_REGISTER_KERNEL(_ones, DeviceType::kGpu, kAnyDType, ConstantKernel<GpuDevice, 1>);
COOPER_REGISTER_KERNEL(ones_like, DeviceType::kGpu, kAnyDType, ConstantKernel<GpuDevice, 1>);
COOPER_REGISTER_KERNEL(_full, DeviceType::kGpu, kAnyDType, FullKernel<GpuDevice>);
COOPER_REGISTER_KERNEL(_arange, DeviceType::kGpu, kAnyDType, ArangeKernel<GpuDevice>);
COOPER_REGISTER_KERNEL(_contrib_arange_like, DeviceType::kGpu, kAnyDType,
                       ArangeLikeKernel<GpuDevice>);
COOPER_REGISTER_KERNEL(_linspace, DeviceType::kGpu, kAnyDType, LinspaceKernel<GpuDevice>);
COOPER_REGISTER_KERNEL(_eye, DeviceType::kGpu, kAnyDType, EyeKernel<GpuDevice>);
COOPER_REGISTER_KERNEL(shape_array, DeviceType::kGpu, kAnyDType, ShapeArrayGpu);
COOPER_REGISTER_KERNEL(size_array, DeviceType::kGpu, kAnyDType, SizeArrayKernel<GpuDevice>);

}  // namespace
}  // namespace cooper
