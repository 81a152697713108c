#ifndef COOPER_SYMBOL_OPS_NUMPY_DIFFERENT_AXES_H_
#define COOPER_SYMBOL_OPS_NUMPY_DIFFERENT_AXES_H_

// A check that NumPy's functions make of lists of axes.

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_macros.h"

namespace cooper {

// Fails with kInvalidArgument, naming the attribute `name`, unless `axes`, which may be negative,
// are different axes of an array of this rank. -1 and rank - 1 are one axis. The message has the
// axis as it was given. O(rank + axes) time.
inline absl::Status CheckDifferent(absl::Span<const int64_t> axes, int rank, const char* name) {
  std::vector<bool> seen(rank);
  for (const int64_t given : axes) {
    COOPER_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(given, rank, name));
    if (seen[axis]) {
      return absl::InvalidArgumentError(absl::StrCat(name, " has axis ", given, " twice"));
    }
    seen[axis] = true;
  }
  return absl::OkStatus();
}

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_NUMPY_DIFFERENT_AXES_H_
