#ifndef COOPER_EXECUTOR_KERNELS_ELEMWISE_CPU_INIT_H_
#define COOPER_EXECUTOR_KERNELS_ELEMWISE_CPU_INIT_H_

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/loops/convert.h"
#include "executor/kernels/loops/element_block.h"
#include "executor/program/kernel.h"
#include "ndarray/threads/parallel.h"

namespace cooper {

// Implements Device of init_kernels.h on the CPU.
struct CpuInit {
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

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_ELEMWISE_CPU_INIT_H_
