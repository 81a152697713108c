#ifndef COOPER_IO_IMAGES_IMAGE_SOURCE_H_
#define COOPER_IO_IMAGES_IMAGE_SOURCE_H_

// The images of an ImageIter or ImageDetIter: records, or files in a list, each with a number.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "io/images/image_list.h"
#include "io/records/record_reader.h"

namespace cooper {

// The names and defaults are MXNet's. There are records, or a list of files.
struct ImageSourceOptions {
  std::string path_imgrec;  // records as PackImg makes them
  // The file's index, whose order the images have. Without one they have the order of the file,
  // whose frames are read first.
  std::string path_imgidx;
  // A list of files (image_list.h). With path_imgrec it lists labels, which replace the labels of
  // the records with these ids.
  std::string path_imglist;
  std::vector<ListedImage> imglist;  // a list of files in memory
  std::string path_root;             // the folder of the files
  // Each part has as many images; those that are left over are in none.
  int64_t num_parts = 1;
  int64_t part_index = 0;
};

struct EncodedImage {
  int64_t id = 0;
  std::string bytes;
  std::vector<float> labels;
};

// Not thread-safe.
class ImageSource {
 public:
  // Opens the file or list. Each image has `label_width` labels; nullopt: any number of them.
  // kInvalidArgument, naming option, file and line, for options that are not as above, and if the
  // part has no images; also the errors of RecordReader::Open, ReadRecordIndex and ReadTextFile.
  static absl::StatusOr<ImageSource> Open(const ImageSourceOptions& options,
                                          std::optional<int64_t> label_width);

  int64_t size() const { return static_cast<int64_t>(places_.size()); }

  // Reads an image. `number` is in [0, size()). Errors, with file and offset, are those of ReadFile
  // and RecordReader::Read, and kInvalidArgument if labels are missing.
  absl::StatusOr<EncodedImage> Read(int64_t number);

  // Returns the labels of an image; errors are those of Read. Reads its record, but no file.
  absl::StatusOr<std::vector<float>> ReadLabels(int64_t number);

  // Returns the place of an image for messages: its file, and the offset in it.
  std::string Where(int64_t number) const;

 private:
  ImageSource() = default;
  absl::Status FindRecords(const std::string& path_imgidx);
  absl::StatusOr<EncodedImage> ReadRecord(int64_t offset);

  std::unique_ptr<RecordReader> reader_;  // null for files
  ImageLabels labels_;                    // of records
  std::vector<ListedImage> files_;
  std::vector<int64_t> places_;  // of the part: offsets of records, or positions in files_
};

}  // namespace cooper

#endif  // COOPER_IO_IMAGES_IMAGE_SOURCE_H_
