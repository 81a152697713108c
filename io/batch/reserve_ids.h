#ifndef COOPER_IO_BATCH_RESERVE_IDS_H_
#define COOPER_IO_BATCH_RESERVE_IDS_H_

// Room for the numbers of a batch's samples, however large a batch the caller has asked for.

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace cooper {

// Makes room for so many ids. kResourceExhausted, with `kind` in front, if there is none.
absl::Status ReserveIds(absl::string_view kind, int64_t rows, std::vector<int64_t>* ids);

}  // namespace cooper

#endif  // COOPER_IO_BATCH_RESERVE_IDS_H_
