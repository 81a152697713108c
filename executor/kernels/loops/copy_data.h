#ifndef COOPER_EXECUTOR_KERNELS_LOOPS_COPY_DATA_H_
#define COOPER_EXECUTOR_KERNELS_LOOPS_COPY_DATA_H_

// The forward kernel of losses whose output is their data.

#include <cstring>

#include "absl/status/status.h"
#include "executor/kernels/launch/dispatch_float.h"
#include "executor/program/kernel.h"
#include "ndarray/threads/parallel.h"

namespace cooper {

// Computes output 0 = or += input 0, which may share its data.
inline absl::Status CopyData(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull || c.inputs[0].size() == 0) return absl::OkStatus();
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
