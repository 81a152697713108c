// Kernels of operators on an array and a scalar.

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "executor/kernels/elemwise/binary_scalar_kernels.h"
#include "executor/kernels/loops/elemwise_kernel.h"
#include "executor/program/kernel.h"

namespace cooper {
namespace {

struct CpuDevice {
  template <typename F>
  static absl::Status Run(const KernelContext& c, absl::Span<const ElemwiseOperand> operands) {
    return RunElemwise(kElemwiseLoops<F>, operands, c.outputs[0], c.reqs[0]);
  }
};

[[maybe_unused]] const bool kRegistered =
    BinaryScalarKernels<CpuDevice>::Register(DeviceType::kCpu);

}  // namespace
}  // namespace cooper
