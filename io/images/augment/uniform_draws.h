#ifndef COOPER_IO_IMAGES_AUGMENT_UNIFORM_DRAWS_H_
#define COOPER_IO_IMAGES_AUGMENT_UNIFORM_DRAWS_H_

// Numbers in a range, for random changes of images.

#include <cstdint>

#include "ndarray/random/random.h"

namespace cooper {

// Returns a whole number uniform in [least, most]. Requires least <= most.
inline int64_t UniformInteger(int64_t least, int64_t most, RandomGenerator& random) {
  return least + static_cast<int64_t>(random.NextBelow(static_cast<uint64_t>(most - least) + 1));
}

// Returns a number uniform in [least, most).
inline double UniformReal(double least, double most, RandomGenerator& random) {
  return least + random.NextUniform() * (most - least);
}

}  // namespace cooper

#endif  // COOPER_IO_IMAGES_AUGMENT_UNIFORM_DRAWS_H_
