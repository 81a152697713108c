#ifndef COOPER_EXECUTOR_CPU_DROPOUT_MASK_H_
#define COOPER_EXECUTOR_CPU_DROPOUT_MASK_H_

// What Dropout and RNN drop. out = in * mask * DropoutScale(p).

#include <algorithm>
#include <cstdint>

#include "executor/elements/dropout_bits.h"
#include "ndarray/parallel.h"
#include "ndarray/philox.h"

namespace cooper {

// mask[i] is 1 with probability 1 - p, else 0. Draws positions from `position` on, one for every
// four elements: element i depends on the stream and i alone, whatever the number of threads.
inline void DrawMask(const Philox& random, uint64_t position, double p, int64_t n, uint8_t* mask) {
  const uint32_t threshold = DropoutThreshold(p);
  ParallelFor((n + 3) / 4, 4096, [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block) {
      const auto bits = random.At(position + block);
      const int64_t count = std::min<int64_t>(4, n - block * 4);
      for (int64_t i = 0; i < count; ++i) mask[block * 4 + i] = KeepsElement(bits[i], threshold);
    }
  });
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_CPU_DROPOUT_MASK_H_
