#include "io/batch/reserve_ids.h"

#include <cstddef>
#include <new>
#include <stdexcept>

#include "absl/strings/str_cat.h"

namespace cooper {

absl::Status ReserveIds(absl::string_view kind, int64_t rows, std::vector<int64_t>* ids) {
  try {
    ids->reserve(static_cast<size_t>(rows));
    return absl::OkStatus();
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {
  }
  return absl::ResourceExhaustedError(
      absl::StrCat(kind, ": cannot allocate a batch of ", rows, " rows"));
}

}  // namespace cooper
