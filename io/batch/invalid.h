#ifndef COOPER_IO_BATCH_INVALID_H_
#define COOPER_IO_BATCH_INVALID_H_

// Makes the errors of wrong options and data.

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace cooper {

// Returns kInvalidArgument with the parts as its message, concatenated as by absl::StrCat.
template <typename... Parts>
absl::Status Invalid(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

}  // namespace cooper

#endif  // COOPER_IO_BATCH_INVALID_H_
