#ifndef COOPER_NDARRAY_ARRAY_ARRAY_MAP_H_
#define COOPER_NDARRAY_ARRAY_ARRAY_MAP_H_

// Maps the name of a parameter, an argument or an auxiliary state to its array.

#include <map>
#include <string>

#include "absl/strings/string_view.h"
#include "ndarray/array/ndarray.h"

namespace cooper {

using ArrayMap = std::map<std::string, NDArray>;

// Returns the array called `name`, or a null array if the map has none.
inline NDArray FindArray(const ArrayMap& arrays, absl::string_view name) {
  const auto it = arrays.find(std::string(name.data(), name.size()));
  return it == arrays.end() ? NDArray() : it->second;
}

}  // namespace cooper

#endif  // COOPER_NDARRAY_ARRAY_ARRAY_MAP_H_
