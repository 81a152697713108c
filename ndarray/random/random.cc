#include "ndarray/random/random.h"

#include <cmath>
#include <numbers>
#include <numeric>

namespace cooper {

uint32_t RandomGenerator::NextUint32() {
  const uint64_t i = state_.position++;
  return Philox(state_.seed, state_.stream).At(i / 4)[i % 4];
}

uint64_t RandomGenerator::NextUint64() {
  const uint64_t high = NextUint32();
  return high << 32 | NextUint32();
}

uint64_t RandomGenerator::NextBelow(uint64_t bound) {
  // Numbers above the largest multiple of `bound` would favour small results; they are drawn again.
  const uint64_t rejected = (0 - bound) % bound;
  uint64_t value = NextUint64();
  while (value < rejected) value = NextUint64();
  return value % bound;
}

double RandomGenerator::NextUniform() { return static_cast<double>(NextUint64() >> 11) * 0x1p-53; }

double RandomGenerator::NextNormal() {
  const double radius = std::sqrt(-2 * std::log1p(-NextUniform()));
  return radius * std::cos(2 * std::numbers::pi * NextUniform());
}

std::vector<int64_t> RandomGenerator::Permutation(int64_t n) {
  std::vector<int64_t> values(static_cast<size_t>(n));
  std::iota(values.begin(), values.end(), int64_t{0});
  Shuffle(values);
  return values;
}

}  // namespace cooper
