#ifndef COOPER_NDARRAY_ARRAY_AS_SCALAR_H_
#define COOPER_NDARRAY_ARRAY_AS_SCALAR_H_

// Reads an array of one element as a number. MXNet: NDArray.asscalar. Arrays of several elements
// are read by NDArray::ToVector.

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "ndarray/array/ndarray.h"

namespace cooper {

// The element as a `T`, converted and copied from wherever it is. kInvalidArgument, naming the
// array, if there are more or none; kFailedPrecondition for a null array.
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
