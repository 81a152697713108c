#ifndef COOPER_MODULE_PARAMETERS_GIVEN_PARAMETER_H_
#define COOPER_MODULE_PARAMETERS_GIVEN_PARAMETER_H_

// Checks of the values that a caller gives for parameters.
//
#include <string>

#include "absl/status/status.h"
#include "ndarray/array/array_map.h"
#include "ndarray/array/ndarray.h"

namespace cooper {

// Returns whether the parameter `name`, whose array is `own`, can take its value from `given`.
// kInvalidArgument, naming it, if its array in `given` is null or has another shape, or if it is
// missing and `allow_missing` is false.
absl::Status CheckGivenParameter(const std::string& name, const NDArray& own, const ArrayMap& given,
                                 bool allow_missing);

// Returns the kInvalidArgument for a parameter that is missing in the given map.
absl::Status NotGivenError(const std::string& name);

}  // namespace cooper

#endif  // COOPER_MODULE_PARAMETERS_GIVEN_PARAMETER_H_
