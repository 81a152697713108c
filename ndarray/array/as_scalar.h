#ifndef COOPER_NDARRAY_ARRAY_AS_SCALAR_H_
#define COOPER_NDARRAY_ARRAY_AS_SCALAR_H_

// Reads an array of one element as a number, as MXNet's NDArray.asscalar does. NDArray::ToVector
// reads arrays of several elements.

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "ndarray/array/ndarray.h"

namespace cooper {

// Returns the element, converted to `T` and copied to the host from any device. Errors:
// kInvalidArgument, with the array's shape, if it does not have exactly one element;
// kFailedPrecondition for a null array; the errors of NDArray::ToVector.
//
//   COOPER_ASSIGN_OR_RETURN(const float loss, AsScalar<float>(outputs[0]));
template <typename T>
absl::StatusOr<T> AsScalar(const NDArray& array) {
  if (!array.is_null() && array.size() != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("AsScalar: ", array.ToString(), " has ", array.size(),
                     " elements, expected one; read them with ToVector"));
  }
  absl::StatusOr<std::vector<T>> values = array.ToVector<T>();
  if (!values.ok()) return values.status();
  if (values->empty()) return absl::FailedPreconditionError("AsScalar: the array is null");
  return values->front();
}

}  // namespace cooper

#endif  // COOPER_NDARRAY_ARRAY_AS_SCALAR_H_
