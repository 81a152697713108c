// Kernels of operators that draw arrays of random numbers, in blocks of double or int64_t.

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/loops/element_block.h"
#include "executor/kernels/random/draw_block.h"
#include "executor/kernels/random/random_draws.h"
#include "executor/kernels/random/random_kernels.h"
#include "executor/program/kernel.h"
#include "ndarray/threads/cpu_level.h"
#include "ndarray/threads/parallel.h"

namespace cooper {
namespace {

// Calls fill(first element, n, C* block) for blocks of the output, and stores them. Blocks begin at
// multiples of kDrawGroup and have room for n rounded up to such a multiple.
template <typename C, typename Fill>
absl::Status FillBlocks(const KernelContext& c, Fill&& fill) {
  const ArrayView& output = c.outputs[0];
  static_assert(kElementBlock % kDrawGroup == 0);
  const int64_t groups = (output.size() + kDrawGroup - 1) / kDrawGroup;
  ParallelForPlain(groups, 256, [&](int64_t first, int64_t last) {
    C block[kElementBlock];
    const int64_t end = std::min(last * kDrawGroup, output.size());
    for (int64_t begin = first * kDrawGroup; begin < end; begin += kElementBlock) {
      const int64_t n = std::min(kElementBlock, end - begin);
      RunAtCpuLevel([&] { fill(begin, n, block); });
      StoreBlock(block, n, c.reqs[0], ElementAt(output.data, output.dtype, begin), output.dtype);
    }
  });
  return absl::OkStatus();
}

// Sets values[i] to element (begin + i) / draws of a parameter array, for i < n.
void LoadParameters(const ArrayView& array, int64_t draws, int64_t begin, int64_t n,
                    double* values) {
  const int64_t first = begin / draws;
  if (draws == 1) {
    return LoadBlock(ElementAt(array.data, array.dtype, first), array.dtype, n, values);
  }
  int64_t done = 0;
  for (int64_t k = first; done < n; ++k) {
    const int64_t stop = std::min(n, (k + 1) * draws - begin);
    double value;
    LoadBlock(ElementAt(array.data, array.dtype, k), array.dtype, 1, &value);
    std::fill(values + done, values + stop, value);
    done = stop;
  }
}

struct Cpu {
  template <typename Distribution>
  static absl::Status DrawAll(const KernelContext& c, const Distribution& distribution) {
    const int digits = FloatDigits(c.outputs[0].dtype);
    return FillBlocks<double>(c, [&](int64_t begin, int64_t n, double* block) {
      DrawBlock(distribution, digits, c.random, begin, n, block);
    });
  }

  template <typename Distribution>
  static absl::Status DrawEach(const KernelContext& c, int64_t draws, const ArrayView& first,
                               const ArrayView& last) {
    const int digits = FloatDigits(c.outputs[0].dtype);
    return FillBlocks<double>(c, [&](int64_t begin, int64_t n, double* block) {
      double a[kElementBlock], b[kElementBlock];
      LoadParameters(first, draws, begin, n, a);
      LoadParameters(last, draws, begin, n, b);
      DrawBlockOfEach<Distribution>(a, b, digits, c.random, begin, n, block);
    });
  }

  static absl::Status DrawIntegers(const KernelContext& c, int64_t low, uint64_t range) {
    return FillBlocks<int64_t>(c, [&](int64_t begin, int64_t n, int64_t* block) {
      for (int64_t i = 0; i < n; ++i) {
        ElementRandom random(c.random, begin + i);
        block[i] = DrawInteger(low, range, random);
      }
    });
  }
};

COOPER_REGISTER_RANDOM_KERNELS(DeviceType::kCpu, Cpu);

}  // namespace
}  // namespace cooper
