#ifndef COOPER_IO_BATCH_RESERVE_IDS_H_
#define COOPER_IO_BATCH_RESERVE_IDS_H_

// Reserves memory for the sample ids of a batch. A caller may choose a batch size for which memory
// is short.

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace cooper {

// Reserves memory for `rows` ids. kResourceExhausted, with `kind` in front, if memory is short.
// `rows` is at least 0. Ids keep their contents.
absl::Status ReserveIds(absl::string_view kind, int64_t rows, std::vector<int64_t>* ids);

}  // namespace cooper

#endif  // COOPER_IO_BATCH_RESERVE_IDS_H_
