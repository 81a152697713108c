#include "io/batch/data_iter.h"

#include "absl/strings/str_cat.h"

namespace cooper {

absl::StatusOr<BucketShapes> DataIter::bucket_shapes(const BucketKey& key) const {
  if (key == default_bucket_key()) {
    return BucketShapes{.key = key, .data_shapes = provide_data(), .label_shapes = provide_label()};
  }
  return absl::NotFoundError(
      absl::StrCat("the iterator has no shapes of a bucket ", key.ToString()));
}

absl::StatusOr<std::string> DataIter::SaveState() const {
  return absl::UnimplementedError("this kind of iterator cannot save its position");
}

absl::Status DataIter::LoadState(absl::string_view) {
  return absl::UnimplementedError("this kind of iterator cannot restore a position");
}

}  // namespace cooper
