// Kernels of NumPy comparisons for CPUs.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "executor/kernels/loops/broadcast_as.h"
#include "executor/kernels/loops/elemwise_loop.h"
#include "executor/kernels/loops/elemwise_operand.h"
#include "executor/kernels/numpy/comparison_kernels.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"

namespace cooper {
namespace {

struct CpuDevice {
  using Extents = absl::Span<const int64_t>;

  template <typename F>
  static absl::Status Broadcast(const KernelContext& c, DType computed_as,
                                absl::Span<const ElemwiseOperand> operands,
                                absl::Span<const Extents> shapes, Extents full) {
    return RunBroadcastAs(computed_as, kElemwiseLoops<F>, operands, shapes, full, c.outputs[0],
                          c.reqs[0]);
  }
};

[[maybe_unused]] const bool kRegistered = ComparisonKernels<CpuDevice>::Register(DeviceType::kCpu);

}  // namespace
}  // namespace cooper
