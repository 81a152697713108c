#ifndef COOPER_MODULE_PARAMETERS_DEVICE_REDUCTION_H_
#define COOPER_MODULE_PARAMETERS_DEVICE_REDUCTION_H_

// Reduces whole arrays to a few numbers on their device, so that only the numbers are copied to the
// host.

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "ndarray/array/ndarray.h"
#include "symbol/schema/op.h"

namespace cooper {

// Runs an operator on `arrays`, which are not empty and all on one context, and returns its only
// output, `size` float32. Waits for the device. Returns an empty vector if the program does not
// link the operator or its kernel for the context and dtypes: the caller then has to copy the
// arrays.
absl::StatusOr<std::vector<float>> ReduceOnDevice(absl::string_view op, const AttrMap& attrs,
                                                  absl::Span<const NDArray> arrays, int64_t size);

}  // namespace cooper

#endif  // COOPER_MODULE_PARAMETERS_DEVICE_REDUCTION_H_
