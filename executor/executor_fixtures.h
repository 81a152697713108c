#ifndef COOPER_EXECUTOR_EXECUTOR_FIXTURES_H_
#define COOPER_EXECUTOR_EXECUTOR_FIXTURES_H_

// Helpers for tests of bound graphs: create symbols from valid arguments, fill and read arrays.

#include <cstdint>
#include <vector>

#include "ndarray/array/ndarray.h"
#include "ndarray/base/shape.h"
#include "symbol/graph/symbol.h"

namespace cooper {

// Symbol::Create for arguments that are known to be right.
Symbol Op(const char* op, const OpArgs& args);

// Overwrites a float32 array on the CPU with normal numbers of standard deviation 0.5.
void FillRandom(const NDArray& array, uint64_t seed);

// New arrays, filled so with this seed and the ones after it.
std::vector<NDArray> RandomArrays(const std::vector<Shape>& shapes, uint64_t seed);

std::vector<float> Floats(const NDArray& array);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_EXECUTOR_FIXTURES_H_
