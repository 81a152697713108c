// GPU kernels of operators on an array and a scalar.

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "executor/kernels/elemwise/binary_scalar_kernels.h"
#include "executor/kernels/loops/element_map.h"
#include "executor/program/kernel.h"

namespace cooper {
namespace {

struct GpuDevice {
  template <typename F>
  static absl::Status Run(const KernelContext& c, absl::Span<const ElemwiseOperand> operands) {
    return RunElementMap(c, ElementMapOf<F>(), operands, c.outputs[0], c.reqs[0]);
  }
};

[[maybe_unused]] const bool kRegistered =
    BinaryScalarKernels<GpuDevice>::Register(DeviceType::kGpu);

}  // namespace
}  // namespace cooper
