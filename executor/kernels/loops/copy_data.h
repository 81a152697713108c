#ifndef COOPER_EXECUTOR_KERNELS_LOOPS_COPY_DATA_H_
#define COOPER_EXECUTOR_KERNELS_LOOPS_COPY_DATA_H_

// The forward kernel of operators whose output is their data: SVMOutput, which differs from the
// identity only in its gradient, and Dropout in inference. convert.h copies between dtypes.

#include <cstring>

#include "absl/status/status.h"
#include "executor/kernels/launch/dispatch_float.h"
#include "executor/program/kernel.h"
#include "ndarray/threads/parallel.h"

namespace cooper {

// Computes output 0 = or += input 0, which may share its data, on the CPU. Both have the same shape
// and dtype. Sums are in the compute type, so 16-bit floats round once. Other inputs are not read
// and other outputs are not written. Returns OK always. kWrite is a memcpy on the calling thread;
// kAdd uses several threads.
inline absl::Status CopyData(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull || c.inputs[0].size() == 0) return absl::OkStatus();
  // An output in place of its input needs no copy.
  if (c.reqs[0] == WriteReq::kWrite) {
    if (c.inputs[0].data != c.outputs[0].data) {
      std::memcpy(c.outputs[0].data, c.inputs[0].data, c.inputs[0].size_bytes());
    }
    return absl::OkStatus();
  }
  DispatchDType(c.outputs[0].dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    const T* in = c.inputs[0].as<T>();
    T* out = c.outputs[0].as<T>();
    ParallelFor(c.inputs[0].size(), 16384, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) Store(out + i, Load(in[i]), true);
    });
  });
  return absl::OkStatus();
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LOOPS_COPY_DATA_H_
