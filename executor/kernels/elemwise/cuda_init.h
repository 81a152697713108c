#ifndef COOPER_EXECUTOR_KERNELS_ELEMWISE_CUDA_INIT_H_
#define COOPER_EXECUTOR_KERNELS_ELEMWISE_CUDA_INIT_H_

#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"
#include "executor/kernels/loops/convert_cuda.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"

namespace cooper {

template <typename Fn>
__global__ void WriteValues(int64_t n, const Fn value, void* out, DType dtype, bool add) {
  for (int64_t i = FirstElement(); i < n; i += ElementStep()) {
    StoreElement(out, dtype, i, value(i), add);
  }
}

// Implements Device of init_kernels.h on a GPU. For .cu files.
struct CudaInit {
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

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_ELEMWISE_CUDA_INIT_H_
