#include "benchmarks/pass_limit.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "executor/compile/program_flops.h"
#include "ndarray/array/array_map.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/shape.h"
#include "ndarray/products/gemm_rate.h"
#include "ndarray/threads/parallel.h"

namespace cooper {
namespace {

int64_t BytesOf(const ArrayMap& arrays) {
  int64_t bytes = 0;
  for (const auto& [name, array] : arrays) bytes += array.size_bytes();
  return bytes;
}

int64_t BytesOfPass(const Executor& executor) {
  int64_t outputs = 0;
  for (const Shape& shape : executor.output_shapes()) {
    outputs += shape.num_elements() * static_cast<int64_t>(sizeof(float));
  }
  const int64_t gradients = BytesOf(executor.grad_dict());
  return BytesOf(executor.arg_dict()) + outputs + (gradients > 0 ? gradients + outputs : 0);
}

// Returns the seconds of the fastest of several copies that read and write `bytes` in all.
double CopySeconds(int64_t bytes) {
  constexpr int64_t kGrain = 16384;
  constexpr double kTotalSeconds = 0.02;
  const std::vector<char> from(bytes / 2, 1);
  std::vector<char> to(from.size());
  double best = std::numeric_limits<double>::infinity(), total = 0;
  while (total < kTotalSeconds) {
    const auto begin = std::chrono::steady_clock::now();
    ParallelFor(static_cast<int64_t>(from.size()), kGrain, [&](int64_t first, int64_t last) {
      std::memcpy(to.data() + first, from.data() + first, last - first);
    });
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    best = std::min(best, elapsed.count());
    total += elapsed.count();
  }
  return best;
}

}  // namespace

PassLimit MeasurePassLimit(const Executor& executor) {
  static const double rate = GemmRate();
  return {.copy_s = CopySeconds(BytesOfPass(executor)),
          .products_s = CountFlops(*executor.compiled()).products / rate};
}

}  // namespace cooper
