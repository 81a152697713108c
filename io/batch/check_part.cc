#include "io/batch/check_part.h"

#include "absl/strings/str_cat.h"

namespace cooper {

absl::Status CheckPart(int64_t part_index, int64_t num_parts) {
  if (part_index >= 0 && part_index < num_parts) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("part_index is ", part_index, ", num_parts ",
                                                 num_parts,
                                                 ", expected 0 <= part_index < num_parts"));
}

}  // namespace cooper
