#ifndef COOPER_IO_IMAGES_IMAGE_LIST_H_
#define COOPER_IO_IMAGES_IMAGE_LIST_H_

// Lists of images (.lst), as im2rec writes them: the labels and the file of each image.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "io/records/ir_header.h"

namespace cooper {

// A line of a list: id, labels and path, separated by tabs.
struct ListedImage {
  int64_t id = 0;
  std::vector<float> labels;
  std::string path;  // relative to a root
};

// Reads a list. If `label_width` is given, each image has that number of labels: further columns
// are left out. kInvalidArgument, with path and line, for a line with fewer columns, or whose
// numbers are none; also the errors of ReadTextFile (ndarray/base/atomic_file.h).
absl::StatusOr<std::vector<ListedImage>> ReadImageList(
    const std::string& path, std::optional<int64_t> label_width = std::nullopt);

// Finds the labels of images in records: those of the records, or those of a list in their place.
class ImageLabels {
 public:
  // Reads path_imglist, unless it is empty. Each image has `label_width` labels; nullopt: any
  // number of them. Errors are those of ReadImageList.
  static absl::StatusOr<ImageLabels> Create(const std::string& path_imglist,
                                            std::optional<int64_t> label_width);

  // Returns the labels of a record, a view of this object or of `header`. kInvalidArgument if the
  // list has no such id, or the record has another number of labels.
  absl::StatusOr<absl::Span<const float>> Find(const IRHeader& header) const;

  bool has_list() const { return !path_imglist_.empty(); }
  // Returns the largest number of labels of an image in the list.
  int64_t MaxListed() const;

 private:
  std::string path_imglist_;
  std::optional<int64_t> label_width_;
  absl::flat_hash_map<uint64_t, std::vector<float>> listed_;  // by id
};

}  // namespace cooper

#endif  // COOPER_IO_IMAGES_IMAGE_LIST_H_
