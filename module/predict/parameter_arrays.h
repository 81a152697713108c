#ifndef COOPER_MODULE_PREDICT_PARAMETER_ARRAYS_H_
#define COOPER_MODULE_PREDICT_PARAMETER_ARRAYS_H_

// Which of a file's parameters a network needs, and where.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ndarray/array_map.h"
#include "ndarray/context.h"

namespace cooper {

// The arrays, without null ones: copied if they are on another context, shared otherwise.
absl::StatusOr<ArrayMap> OnContext(const ArrayMap& arrays, const Context& context);

// Those of the names that are there.
ArrayMap Among(const ArrayMap& arrays, const std::vector<std::string>& names);

}  // namespace cooper

#endif  // COOPER_MODULE_PREDICT_PARAMETER_ARRAYS_H_
