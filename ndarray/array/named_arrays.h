#ifndef COOPER_NDARRAY_ARRAY_NAMED_ARRAYS_H_
#define COOPER_NDARRAY_ARRAY_NAMED_ARRAYS_H_

// Defines the list in which files of arrays (.params, .npz) are read and written.

#include <string>
#include <utility>
#include <vector>

#include "ndarray/array/ndarray.h"

namespace cooper {

// Arrays with their names, in the order of the file.
using NamedArrays = std::vector<std::pair<std::string, NDArray>>;

}  // namespace cooper

#endif  // COOPER_NDARRAY_ARRAY_NAMED_ARRAYS_H_
