#include "io/batch/data_iter.h"

namespace cooper {

absl::StatusOr<std::string> DataIter::SaveState() const {
  return absl::UnimplementedError("this kind of iterator cannot save its position");
}

absl::Status DataIter::LoadState(absl::string_view) {
  return absl::UnimplementedError("this kind of iterator cannot restore a position");
}

}  // namespace cooper
