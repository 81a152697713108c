#ifndef COOPER_NDARRAY_RANDOM_FILL_RANDOM_H_
#define COOPER_NDARRAY_RANDOM_FILL_RANDOM_H_

// Fills a whole array with random numbers on the device that holds it.

#include "absl/status/status.h"
#include "ndarray/array/fill.h"
#include "ndarray/base/philox.h"

namespace cooper {

// Sets element i to UniformValue (of `scale`) or NormalValue (of standard deviation `scale`) i of
// `random` (random_values.h), converted to the dtype: the same bits on every device and for every
// number of threads. Queued on a GPU. kUnimplemented if no device of the target's kind is linked.
absl::Status FillWithRandom(const FillTarget& target, RandomType type, double scale,
                            const Philox& random);

}  // namespace cooper

#endif  // COOPER_NDARRAY_RANDOM_FILL_RANDOM_H_
