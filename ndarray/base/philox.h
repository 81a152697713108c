#ifndef COOPER_NDARRAY_BASE_PHILOX_H_
#define COOPER_NDARRAY_BASE_PHILOX_H_

// A counter-based random generator: number i of a stream is a pure function of (key, i), so that a
// generator's state is its counter, streams never overlap, and a parallel loop may draw element i
// directly. Philox4x32-10 of Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3" (SC11).

#include <array>
#include <cstdint>

#include "ndarray/base/host_device.h"

namespace cooper {

// One stream of numbers. Immutable and small: kernels take it by value. Not cryptographically
// secure.
class Philox {
 public:
  // Selects the stream of numbers that belongs to (seed, stream). Streams of one seed never
  // overlap.
  COOPER_HOST_DEVICE Philox() : Philox(0, 0) {}
  COOPER_HOST_DEVICE explicit Philox(uint64_t seed, uint64_t stream = 0)
      : seed_(seed), stream_(stream) {}

  // Returns the four 32-bit numbers at `position`; calls may come in any order. A stream has 2^64
  // positions. Costs some 40 multiplications of 32 bits; philox_lanes.h computes many positions at
  // once.
  COOPER_HOST_DEVICE std::array<uint32_t, 4> At(uint64_t position) const {
    std::array<uint32_t, 4> x = {
        static_cast<uint32_t>(position), static_cast<uint32_t>(position >> 32),
        static_cast<uint32_t>(stream_), static_cast<uint32_t>(stream_ >> 32)};
    uint32_t k0 = static_cast<uint32_t>(seed_);
    uint32_t k1 = static_cast<uint32_t>(seed_ >> 32);
    for (int round = 0; round < 10; ++round) {
      const uint64_t p0 = uint64_t{0xD2511F53u} * x[0];
      const uint64_t p1 = uint64_t{0xCD9E8D57u} * x[2];
      x = {static_cast<uint32_t>(p1 >> 32) ^ x[1] ^ k0, static_cast<uint32_t>(p1),
           static_cast<uint32_t>(p0 >> 32) ^ x[3] ^ k1, static_cast<uint32_t>(p0)};
      k0 += 0x9E3779B9u;
      k1 += 0xBB67AE85u;
    }
    return x;
  }

  // Returns element i of a stream of floats uniform in [0, 1), each a multiple of 2^-24.
  COOPER_HOST_DEVICE float UniformAt(uint64_t i) const {
    return static_cast<float>(At(i / 4)[i % 4] >> 8) * 0x1p-24f;
  }

  COOPER_HOST_DEVICE uint64_t seed() const { return seed_; }
  COOPER_HOST_DEVICE uint64_t stream() const { return stream_; }

 private:
  uint64_t seed_;
  uint64_t stream_;
};

}  // namespace cooper

#endif  // COOPER_NDARRAY_BASE_PHILOX_H_
