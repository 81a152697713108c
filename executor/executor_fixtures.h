#ifndef COOPER_EXECUTOR_EXECUTOR_FIXTURES_H_
#define COOPER_EXECUTOR_EXECUTOR_FIXTURES_H_

// Helpers for tests of bound graphs: create symbols from valid arguments, fill and read arrays.

#include <cstdint>
#include <vector>

#include "ndarray/array/ndarray.h"
#include "ndarray/base/shape.h"
#include "symbol/graph/symbol.h"

namespace cooper {

// Returns Symbol::Create's result. Ends the program if the arguments are invalid.
Symbol Op(const char* op, const OpArgs& args);

// Overwrites a float32 array on the CPU with normal numbers of standard deviation 0.5.
void FillRandom(const NDArray& array, uint64_t seed);

// Returns new float32 arrays on the CPU, filled by FillRandom with `seed`, `seed` + 1 and so on.
std::vector<NDArray> RandomArrays(const std::vector<Shape>& shapes, uint64_t seed);

// Returns the elements of a float32 array in row-major order.
std::vector<float> Floats(const NDArray& array);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_EXECUTOR_FIXTURES_H_
