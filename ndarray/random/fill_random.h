#ifndef COOPER_NDARRAY_RANDOM_FILL_RANDOM_H_
#define COOPER_NDARRAY_RANDOM_FILL_RANDOM_H_

// Random numbers for a whole array, made where it is.

#include "absl/status/status.h"
#include "ndarray/array/fill.h"
#include "ndarray/base/philox.h"

namespace cooper {

// Element i becomes UniformValue (of `scale`) or NormalValue (of deviation `scale`) i of `random`
// (random_values.h), converted to the dtype: the same bits on every device and for every number of
// threads. On a GPU that is queued. kUnimplemented if no such kind of device is linked.
absl::Status FillWithRandom(const FillTarget& target, RandomType type, double scale,
                            const Philox& random);

}  // namespace cooper

#endif  // COOPER_NDARRAY_RANDOM_FILL_RANDOM_H_
