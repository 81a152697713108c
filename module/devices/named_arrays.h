#ifndef COOPER_MODULE_DEVICES_NAMED_ARRAYS_H_
#define COOPER_MODULE_DEVICES_NAMED_ARRAYS_H_

// The arrays of a batch under their names, for metrics to select from.

#include <cstddef>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "io/batch/data_desc.h"
#include "module/metric/eval_metric.h"
#include "ndarray/array/ndarray.h"

namespace cooper {

// Return the name of an output, which is its own text, and of a description.
inline const std::string& NameOf(const std::string& name) { return name; }
inline const std::string& NameOf(const DataDesc& desc) { return desc.name; }

// Returns the arrays with the names at their positions. Arrays beyond the names have empty names,
// and names beyond the arrays are left out. Arrays share their memory with `arrays`.
template <typename Named>
NamedArrayList WithNames(const std::vector<Named>& names, absl::Span<const NDArray> arrays) {
  NamedArrayList named;
  named.reserve(arrays.size());
  for (size_t i = 0; i < arrays.size(); ++i) {
    named.emplace_back(i < names.size() ? NameOf(names[i]) : "", arrays[i]);
  }
  return named;
}

}  // namespace cooper

#endif  // COOPER_MODULE_DEVICES_NAMED_ARRAYS_H_
