#ifndef COOPER_EXECUTOR_KERNELS_RANDOM_DROPOUT_MASK_H_
#define COOPER_EXECUTOR_KERNELS_RANDOM_DROPOUT_MASK_H_

// Draws the masks of Dropout and RNN on the CPU: out = in * mask * DropoutScale(p).
//
// dropout.cc and rnn_forward.cc store a mask where a backward pass reads it. A mask has one byte
// for each element.

#include <algorithm>
#include <cstdint>

#include "executor/kernels/random/dropout_bits.h"
#include "ndarray/base/philox.h"
#include "ndarray/random/philox_lanes.h"
#include "ndarray/threads/parallel.h"

namespace cooper {

// Sets each mask[i] to 1 with probability 1 - p, else to 0. Uses one position of the stream, from
// `position` on, for every four elements: element i depends on the stream and i alone, whatever the
// number of threads. Uses several threads. Consumes (n + 3) / 4 positions. The masks equal those
// that a GPU draws from the same bits. p is in [0, 1]; with p 1 one element in 2^32 is kept.
inline void DrawMask(const Philox& random, uint64_t position, double p, int64_t n, uint8_t* mask) {
  const uint32_t threshold = DropoutThreshold(p);
  constexpr int kLanes = PhiloxLanes::kLanes;
  ParallelFor((n + 3) / 4, 4096, [&](int64_t begin, int64_t end) {
    int64_t four = begin;
    for (; four + kLanes <= end && (four + kLanes) * 4 <= n; four += kLanes) {
      const PhiloxLanes lanes(random, position + four);
      for (int lane = 0; lane < kLanes; ++lane) {
        for (int i = 0; i < 4; ++i) {
          mask[(four + lane) * 4 + i] = KeepsElement(lanes.words[i][lane], threshold);
        }
      }
    }
    for (; four < end; ++four) {
      const auto bits = random.At(position + four);
      const int64_t count = std::min<int64_t>(4, n - four * 4);
      for (int64_t i = 0; i < count; ++i) mask[four * 4 + i] = KeepsElement(bits[i], threshold);
    }
  });
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_RANDOM_DROPOUT_MASK_H_
