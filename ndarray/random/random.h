#ifndef COOPER_NDARRAY_RANDOM_RANDOM_H_
#define COOPER_NDARRAY_RANDOM_RANDOM_H_

// A sequential random generator over a Philox stream, whose state is three numbers that can be
// saved and restored. Equal states give equal numbers on every machine.
//
// For sequential code such as shuffling. Kernels draw by position instead (philox.h,
// random_values.h), so that threads share no state.

#include <cstdint>
#include <utility>
#include <vector>

#include "ndarray/base/philox.h"

namespace cooper {

// Not thread-safe. A copy continues from the same state, independently. A value of 24 bytes. Each
// 32-bit number computes a block of Philox, ten rounds.
class RandomGenerator {
 public:
  // The whole state. A generator that is constructed from it continues with the same numbers.
  struct State {
    uint64_t seed = 0;
    uint64_t stream = 0;
    uint64_t position = 0;  // 32-bit numbers drawn so far

    friend bool operator==(const State&, const State&) = default;
  };

  explicit RandomGenerator(uint64_t seed = 0, uint64_t stream = 0)
      : state_{.seed = seed, .stream = stream} {}
  explicit RandomGenerator(State state) : state_(state) {}

  State state() const { return state_; }

  // Return 32 and 64 random bits. NextUint64 takes two positions of the stream.
  uint32_t NextUint32();
  uint64_t NextUint64();
  // Returns a number uniform in [0, bound), without bias. `bound` > 0.
  uint64_t NextBelow(uint64_t bound);
  // Returns a number uniform in [0, 1) with 53 random bits.
  double NextUniform();
  // Returns a standard normal number (Box-Muller; draws two numbers each time).
  double NextNormal();

  // Returns a permutation of 0 ... n-1 (Fisher-Yates).
  std::vector<int64_t> Permutation(int64_t n);
  // Shuffles `values` (Fisher-Yates).
  template <typename T>
  void Shuffle(std::vector<T>& values) {
    for (uint64_t i = values.size(); i > 1; --i) {
      using std::swap;
      swap(values[i - 1], values[NextBelow(i)]);
    }
  }

 private:
  State state_;
};

}  // namespace cooper

#endif  // COOPER_NDARRAY_RANDOM_RANDOM_H_
