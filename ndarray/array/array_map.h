#ifndef COOPER_NDARRAY_ARRAY_ARRAY_MAP_H_
#define COOPER_NDARRAY_ARRAY_ARRAY_MAP_H_

// Defines the map in which checkpoints, cells, modules and predictors pass named arrays to each
// other: parameters, arguments or auxiliary states.

#include <map>
#include <string>

#include "absl/strings/string_view.h"
#include "ndarray/array/ndarray.h"

namespace cooper {

// Maps a name to its array. Copying a map copies handles: the arrays share their elements.
using ArrayMap = std::map<std::string, NDArray>;

// Returns the array called `name`, or a null array if the map has none. The result shares its
// elements with the map's array.
inline NDArray FindArray(const ArrayMap& arrays, absl::string_view name) {
  const auto it = arrays.find(std::string(name.data(), name.size()));
  return it == arrays.end() ? NDArray() : it->second;
}

}  // namespace cooper

#endif  // COOPER_NDARRAY_ARRAY_ARRAY_MAP_H_
