#include "io/images/decode_rows.h"

#include <cstddef>
#include <vector>

#include "ndarray/base/status_macros.h"
#include "ndarray/threads/parallel.h"

namespace cooper {

absl::Status DecodeRows(int64_t rows, absl::FunctionRef<absl::Status(int64_t row)> decode) {
  std::vector<absl::Status> statuses(static_cast<size_t>(rows));
  ParallelForRanges(rows, 1, 1, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) statuses[static_cast<size_t>(row)] = decode(row);
  });
  for (const absl::Status& status : statuses) COOPER_RETURN_IF_ERROR(status);
  return absl::OkStatus();
}

}  // namespace cooper
