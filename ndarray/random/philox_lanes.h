#ifndef COOPER_NDARRAY_RANDOM_PHILOX_LANES_H_
#define COOPER_NDARRAY_RANDOM_PHILOX_LANES_H_

// Philox (ndarray/base/philox.h) for many positions at once: the same numbers as Philox::At,
// computed so that compilers vectorise the loops.

#include <cstdint>

#include "ndarray/base/philox.h"

namespace cooper {

// The words of kLanes consecutive positions of a stream: words[k][i] is random.At(position + i)[k].
// Inside functions that RunAtCpuLevel runs, the lanes become vectors. `position` may be anywhere;
// positions beyond 2^64 wrap around. 1 KB, for the stack. The constants and rounds are those of
// Philox::At.
struct PhiloxLanes {
  static constexpr int kLanes = 64;  // enough independent vectors to hide latency

  uint32_t words[4][kLanes];

  PhiloxLanes(const Philox& random, uint64_t position) {
    const auto stream_low = static_cast<uint32_t>(random.stream());
    const auto stream_high = static_cast<uint32_t>(random.stream() >> 32);
    for (int i = 0; i < kLanes; ++i) {
      words[0][i] = static_cast<uint32_t>(position + i);
      words[1][i] = static_cast<uint32_t>((position + i) >> 32);
      words[2][i] = stream_low;
      words[3][i] = stream_high;
    }
    auto k0 = static_cast<uint32_t>(random.seed());
    auto k1 = static_cast<uint32_t>(random.seed() >> 32);
    for (int round = 0; round < 10; ++round) {
      for (int i = 0; i < kLanes; ++i) {
        // The lower halves come from 32-bit products, which vector instructions have.
        constexpr uint32_t kMultiplier0 = 0xD2511F53u, kMultiplier1 = 0xCD9E8D57u;
        const uint32_t x0 = words[0][i], x2 = words[2][i];
        const auto upper0 = static_cast<uint32_t>(uint64_t{kMultiplier0} * x0 >> 32);
        const auto upper1 = static_cast<uint32_t>(uint64_t{kMultiplier1} * x2 >> 32);
        words[0][i] = upper1 ^ words[1][i] ^ k0;
        words[1][i] = kMultiplier1 * x2;
        words[2][i] = upper0 ^ words[3][i] ^ k1;
        words[3][i] = kMultiplier0 * x0;
      }
      k0 += 0x9E3779B9u;
      k1 += 0xBB67AE85u;
    }
  }
};

}  // namespace cooper

#endif  // COOPER_NDARRAY_RANDOM_PHILOX_LANES_H_
