#ifndef COOPER_MODULE_PARAMETERS_FINITE_H_
#define COOPER_MODULE_PARAMETERS_FINITE_H_

// Checks arrays for NaN and infinity, to detect a training run that has diverged.

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "executor/run/invoke.h"
#include "module/parameters/parameters.h"
#include "ndarray/array/device.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/context.h"

namespace cooper {

// Returns whether no element is NaN or infinite; true for integers and for a null array. Makes one
// pass over the array with all threads, at memory speed, and allocates nothing for arrays on the
// CPU. A GPU array is checked on the GPU if the kernel of all_finite is linked, else copied to the
// CPU first.
absl::StatusOr<bool> IsFinite(const NDArray& array);

// The number of elements that are NaN or infinite, and the position of the first in row-major
// order.
struct NonFiniteElements {
  int64_t count = 0;
  int64_t first = -1;
};
// Counts such elements in a copy of the array as doubles; none for integers and a null array.
absl::StatusOr<NonFiniteElements> CountNonFinite(const NDArray& array);

// Returns the first of `names` whose gradient has, on any context, an element that is NaN or
// infinite; empty if there is none. Makes one pass over the gradients.
absl::StatusOr<std::string> FindNonFiniteGrad(const Parameters& parameters,
                                              absl::Span<const std::string> names);

// Checks all parameters that have gradients, and all auxiliary states, in the same way:
// kOutOfRange, naming the first with such an element. A fixed parameter may be infinite on purpose,
// as a mask is.
absl::Status CheckValuesFinite(const Parameters& parameters);

// Returns the kOutOfRange for such an array: `what` is "the parameter", for example.
absl::Status NotFiniteError(absl::string_view what, absl::string_view name);

// IsFinite of several arrays of one device, as work in a queue behind what makes the arrays. Not
// thread-safe.
class FiniteCheck {
 public:
  // Allocates on the device all that the check ever needs. kNotFound or kUnimplemented if the
  // program has no kernel of multi_all_finite for it.
  static absl::StatusOr<FiniteCheck> Create(const Context& context);

  // Puts the check of the arrays that have a floating dtype into `queue`, as Invocation::Run does.
  // A recording of that may be run again as long as the arrays and this check are there.
  absl::Status EnqueueFn(absl::Span<const NDArray> arrays, DeviceQueue* queue);
  // Returns whether the check that ran last found no NaN or infinity. Waits for the device.
  absl::StatusOr<bool> AllFinite() const;

 private:
  FiniteCheck(Invocation invocation, NDArray finite)
      : invocation_(std::move(invocation)), finite_(std::move(finite)) {}

  Invocation invocation_;
  NDArray finite_;  // (1,): 1 or 0
};

}  // namespace cooper

#endif  // COOPER_MODULE_PARAMETERS_FINITE_H_
