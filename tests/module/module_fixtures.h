#ifndef COOPER_TESTS_MODULE_MODULE_FIXTURES_H_
#define COOPER_TESTS_MODULE_MODULE_FIXTURES_H_

// Small networks and data for the tests of modules, in addition to executor_fixtures.h.

#include <cstdint>

#include "executor/executor_fixtures.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/shape.h"
#include "symbol/graph/symbol.h"

namespace cooper {

// Returns data (batch_size, n) -> fc1 (5) -> tanh -> fc2 (3) -> softmax; label "softmax_label".
Symbol TwoLayers();

// Returns a mean over the time steps of data (batch_size, length), then fc (2) -> softmax: the
// parameters do not depend on the length. With `swapped` the arguments are listed in another order.
Symbol MeanOverTime(bool swapped = false);

// Returns random numbers uniform in [-1, 1).
NDArray RandomArray(const Shape& shape, uint64_t seed);
// Returns random classes (rows,) in 0 .. num_classes - 1.
NDArray Classes(int64_t rows, int num_classes, uint64_t seed);

}  // namespace cooper

#endif  // COOPER_TESTS_MODULE_MODULE_FIXTURES_H_
