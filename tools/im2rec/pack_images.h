#ifndef COOPER_TOOLS_IM2REC_PACK_IMAGES_H_
#define COOPER_TOOLS_IM2REC_PACK_IMAGES_H_

// Lists the images of a folder and packs listed images into records, as MXNet's im2rec.py does.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "io/images/codec/image_codec.h"
#include "io/images/image_list.h"

namespace cooper {

struct ListOptions {
  std::vector<std::string> exts = {".jpeg", ".jpg", ".png"};  // in any case
  // Whether folders are searched to any depth, each with a label of its own: 0, 1, ... in the order
  // in which images are found, with files before folders and both sorted by name. If false, images
  // are those of the root, with label 0.
  bool recursive = false;
  bool shuffle = true;  // in another order than MXNet's
  uint64_t seed = 100;
};

// Returns the images of a folder. kNotFound, with the path, if it cannot be read.
absl::StatusOr<std::vector<ListedImage>> ListImages(const std::string& root,
                                                    const ListOptions& options = {});

struct SplitOptions {
  int64_t chunks = 1;
  double train_ratio = 1;
  double test_ratio = 0;
};

// Writes PREFIX.lst, or one for each of several chunks (PREFIX_0.lst), or for each part of the
// ratios (PREFIX_train.lst, PREFIX_val.lst, PREFIX_test.lst). kInvalidArgument for options out of
// range; also the errors of WriteFileAtomically.
absl::Status WriteLists(const std::string& prefix, const std::vector<ListedImage>& images,
                        const SplitOptions& options = {});

struct PackOptions {
  bool pass_through = false;  // the bytes of the files are packed as they are
  bool center_crop = false;   // to a square
  int64_t resize = 0;         // of the shorter edge; 0: none
  int quality = 95;           // of JPEG, or PNG's compression, at most 9
  ImageColor color = ImageColor::kColor;
  std::string encoding = ".jpg";
  bool pack_label = false;  // all labels, not only the first
};

// The images that a record file lacks.
struct PackedImages {
  int64_t packed = 0;
  std::vector<std::string> failures;  // path and reason of each
};

// Packs the images of a list into PATH.rec, with the index PATH.idx, in the order of the list.
// Images are made on the threads of the caller (NumThreads). Those that cannot be read are left
// out. kInvalidArgument, before a file is written, for an encoding other than .jpg, .jpeg and .png,
// a quality outside of [1, 100] (PNG: [0, 100]) or a resize outside of [0, 2^20]; else the errors
// of IndexedRecordWriter. `labels` of an image must not be empty.
absl::StatusOr<PackedImages> PackImages(const std::vector<ListedImage>& images,
                                        const std::string& root, const std::string& path,
                                        const PackOptions& options = {});

}  // namespace cooper

#endif  // COOPER_TOOLS_IM2REC_PACK_IMAGES_H_
