#ifndef COOPER_MODULE_PARAMETERS_GIVEN_PARAMETER_H_
#define COOPER_MODULE_PARAMETERS_GIVEN_PARAMETER_H_

#include <string>

#include "absl/status/status.h"
#include "ndarray/array/array_map.h"
#include "ndarray/array/ndarray.h"

namespace cooper {

// Whether the parameter `name`, whose array is `own`, can take its value from `given`.
// kInvalidArgument, with the name, if the array there is null or has another shape, or there is
// none and `allow_missing` is false.
absl::Status CheckGivenParameter(const std::string& name, const NDArray& own, const ArrayMap& given,
                                 bool allow_missing);

// The kInvalidArgument for a parameter that is not there.
absl::Status NotGivenError(const std::string& name);

}  // namespace cooper

#endif  // COOPER_MODULE_PARAMETERS_GIVEN_PARAMETER_H_
