// Kernels of arrays that are generated from parameters, or from the shape of an input.

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/elemwise/init_kernels.h"
#include "executor/kernels/loops/convert.h"
#include "executor/kernels/loops/element_block.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/rules/one_input.h"

namespace cooper {
namespace {

struct CpuDevice {
  static absl::Status Fill(const KernelContext& c, double value) {
    FillArray(value, c.outputs[0], c.reqs[0]);
    return absl::OkStatus();
  }

  template <typename Fn>
  static absl::Status Generate(const KernelContext& c, Fn fn) {
    if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
    const ArrayView& output = c.outputs[0];
    ParallelForPlain(output.size(), 16384, [&](int64_t begin, int64_t end) {
      decltype(fn(begin)) block[kElementBlock];
      for (; begin < end; begin += kElementBlock) {
        const int64_t n = std::min(kElementBlock, end - begin);
        for (int64_t i = 0; i < n; ++i) block[i] = fn(begin + i);
        StoreBlock(block, n, c.reqs[0], ElementAt(output.data, output.dtype, begin), output.dtype);
      }
    });
    return absl::OkStatus();
  }
};

absl::Status ShapeArrayCpu(const KernelContext& c) {
  return CpuDevice::Generate(c, [&](int64_t i) {
    return static_cast<double>(c.inputs[OneInputArrays::kData].shape[static_cast<int>(i)]);
  });
}

COOPER_REGISTER_KERNEL(_zeros, DeviceType::kCpu, kAnyDType, ConstantKernel<CpuDevice, 0>);
COOPER_REGISTER_KERNEL(zeros_like, DeviceType::kCpu, kAnyDType, ConstantKernel<CpuDevice, 0>);
COOPER_REGISTER_KERNEL(_ones, DeviceType::kCpu, kAnyDType, ConstantKernel<CpuDevice, 1>);
COOPER_REGISTER_KERNEL(ones_like, DeviceType::kCpu, kAnyDType, ConstantKernel<CpuDevice, 1>);
COOPER_REGISTER_KERNEL(_full, DeviceType::kCpu, kAnyDType, FullKernel<CpuDevice>);
COOPER_REGISTER_KERNEL(_arange, DeviceType::kCpu, kAnyDType, ArangeKernel<CpuDevice>);
COOPER_REGISTER_KERNEL(_contrib_arange_like, DeviceType::kCpu, kAnyDType,
                       ArangeLikeKernel<CpuDevice>);
COOPER_REGISTER_KERNEL(_linspace, DeviceType::kCpu, kAnyDType, LinspaceKernel<CpuDevice>);
COOPER_REGISTER_KERNEL(_eye, DeviceType::kCpu, kAnyDType, EyeKernel<CpuDevice>);
COOPER_REGISTER_KERNEL(shape_array, DeviceType::kCpu, kAnyDType, ShapeArrayCpu);
COOPER_REGISTER_KERNEL(size_array, DeviceType::kCpu, kAnyDType, SizeArrayKernel<CpuDevice>);

}  // namespace
}  // namespace cooper
