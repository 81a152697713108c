#ifndef COOPER_MODULE_PARAMETERS_DEVICE_REDUCTION_H_
#define COOPER_MODULE_PARAMETERS_DEVICE_REDUCTION_H_

// Numbers that an operator makes of whole arrays where they are, so that only the numbers leave the
// device.

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "ndarray/array/ndarray.h"
#include "symbol/schema/op.h"

namespace cooper {

// The one output, `size` floats, of an operator on arrays of one context; waits for it. Empty where
// the program has no such operator or no kernel of it for the context and the dtypes: the arrays
// then have to be copied.
absl::StatusOr<std::vector<float>> ReduceOnDevice(absl::string_view op, const AttrMap& attrs,
                                                  absl::Span<const NDArray> arrays, int64_t size);

}  // namespace cooper

#endif  // COOPER_MODULE_PARAMETERS_DEVICE_REDUCTION_H_
