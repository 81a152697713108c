#ifndef COOPER_IO_BATCH_CHECK_PART_H_
#define COOPER_IO_BATCH_CHECK_PART_H_

// Checks the options by which iterators over files share them among processes.

#include <cstdint>

#include "absl/status/status.h"

namespace cooper {

// Fails with kInvalidArgument, with both numbers, unless 0 <= part_index < num_parts. Iterators
// call it before they open a file, since a wrong part would silently read the samples of another
// process.
absl::Status CheckPart(int64_t part_index, int64_t num_parts);

}  // namespace cooper

#endif  // COOPER_IO_BATCH_CHECK_PART_H_
